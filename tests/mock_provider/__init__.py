"""A server that speaks as the providers' documents say: three wire formats, their errors, their batch APIs.

In a test::

    async with MockProvider(Behaviour(malformed=0.02)) as mock:
        ...  # mock.url, mock.state.seen

For a process of its own: ``python -m tests.mock_provider --port 0`` prints its address, or ``spawn(Behaviour(...))``.
Base URLs: ``<url>/<provider>/v1`` for chat completions (the provider chooses the form of errors), ``<url>`` for
messages and for generateContent.
"""

from tests.mock_provider.plan import Behaviour
from tests.mock_provider.process import Spawned, spawn
from tests.mock_provider.server import MockProvider

__all__ = ["Behaviour", "MockProvider", "Spawned", "spawn"]
