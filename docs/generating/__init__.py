"""What makes the pages of docs/reference from the code, and the texts that the code cannot hold."""
