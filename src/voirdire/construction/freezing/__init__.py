"""From a corpus that is being built to a frozen one: the checks, the versions, the folder."""
