"""A small package that adds a format and a judge to voirdire."""
