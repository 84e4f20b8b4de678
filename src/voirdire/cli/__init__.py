"""The command line: arguments in, one function of ``voirdire.app`` called, the result shown."""
