"""The web pages: rating, the lead's pages. FastAPI stands here alone."""
