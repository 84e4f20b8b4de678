"""The reading room: pages on which items, runs and profiles are looked at; nothing is written."""
