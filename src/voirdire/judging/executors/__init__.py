"""Executors: the same grid asked from several machines. One asyncio process (``runner.run``) is the default."""
