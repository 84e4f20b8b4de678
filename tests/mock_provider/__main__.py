"""``python -m tests.mock_provider --port 0``."""

from tests.mock_provider.process import main

if __name__ == "__main__":
    main()
