"""Who rates what, and where the answers are kept."""
