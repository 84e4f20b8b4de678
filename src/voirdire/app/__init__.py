"""One function per command, for the command line and for Python."""
