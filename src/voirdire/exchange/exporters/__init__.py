"""A corpus in what other tools read: tasks to collect ratings with, and summaries."""
