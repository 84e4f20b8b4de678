"""The steps, one a file; a step is never changed after a release."""
