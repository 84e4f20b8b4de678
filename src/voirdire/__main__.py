"""``python -m voirdire``."""

from voirdire.cli.main import main

if __name__ == "__main__":
    main()
