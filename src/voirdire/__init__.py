"""voirdire: audit automatic judges against every human pool they will speak for.

Two tables in, a profile out::

    import voirdire

    profile = voirdire.audit(ratings="ratings.csv", judgments="judgments.csv", pairs=[("us", "cn")])
    profile.to_html("report.html")
    profile.estimates

Importing the package is cheap: every public name is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from voirdire import texts as texts  # errors find their sentences here
from voirdire.version import VERSION as __version__  # noqa: N811

if TYPE_CHECKING:
    from voirdire.analysis.evaluate import evaluate as evaluate
    from voirdire.analysis.options import AuditOptions as AuditOptions
    from voirdire.analysis.policy import Policy as Policy
    from voirdire.analysis.policy_rules import PolicyResult as PolicyResult
    from voirdire.analysis.profile import Profile as Profile
    from voirdire.app.audit import audit as audit
    from voirdire.app.check import check as check
    from voirdire.app.price import price as price
    from voirdire.app.run import run as run
    from voirdire.app.validate import validate as validate
    from voirdire.corpus.corpus import Corpus as Corpus
    from voirdire.corpus.corpus import Judgments as Judgments
    from voirdire.corpus.corpus import Question as Question
    from voirdire.corpus.options import CorpusOptions as CorpusOptions
    from voirdire.corpus.options import JudgmentOptions as JudgmentOptions
    from voirdire.corpus.reading import read_corpus as read_corpus
    from voirdire.corpus.reading import read_judgments as read_judgments
    from voirdire.errors import InputError as InputError
    from voirdire.errors import PolicyError as PolicyError
    from voirdire.errors import SignatureError as SignatureError
    from voirdire.errors import UsageError as UsageError
    from voirdire.errors import VoirdireError as VoirdireError
    from voirdire.estimate import Estimate as Estimate
    from voirdire.estimate import Interval as Interval
    from voirdire.judging.nouns import JudgeSpec as JudgeSpec
    from voirdire.judging.nouns import RunStopped as RunStopped
    from voirdire.scales import Scale as Scale
    from voirdire.signature import Signature as Signature

_HOMES = {
    "AuditOptions": "voirdire.analysis.options",
    "Corpus": "voirdire.corpus.corpus",
    "CorpusOptions": "voirdire.corpus.options",
    "Estimate": "voirdire.estimate",
    "InputError": "voirdire.errors",
    "Interval": "voirdire.estimate",
    "JudgeSpec": "voirdire.judging.nouns",
    "JudgmentOptions": "voirdire.corpus.options",
    "Judgments": "voirdire.corpus.corpus",
    "Policy": "voirdire.analysis.policy",
    "PolicyError": "voirdire.errors",
    "PolicyResult": "voirdire.analysis.policy_rules",
    "Profile": "voirdire.analysis.profile",
    "Question": "voirdire.corpus.corpus",
    "RunStopped": "voirdire.judging.nouns",
    "Scale": "voirdire.scales",
    "Signature": "voirdire.signature",
    "SignatureError": "voirdire.errors",
    "UsageError": "voirdire.errors",
    "VoirdireError": "voirdire.errors",
    "audit": "voirdire.app.audit",
    "check": "voirdire.app.check",
    "evaluate": "voirdire.analysis.evaluate",
    "price": "voirdire.app.price",
    "read_corpus": "voirdire.corpus.reading",
    "read_judgments": "voirdire.corpus.reading",
    "run": "voirdire.app.run",
    "validate": "voirdire.app.validate",
}

__all__ = [
    "AuditOptions",
    "Corpus",
    "CorpusOptions",
    "Estimate",
    "InputError",
    "Interval",
    "JudgeSpec",
    "JudgmentOptions",
    "Judgments",
    "Policy",
    "PolicyError",
    "PolicyResult",
    "Profile",
    "Question",
    "RunStopped",
    "Scale",
    "Signature",
    "SignatureError",
    "UsageError",
    "VoirdireError",
    "__version__",
    "audit",
    "check",
    "evaluate",
    "price",
    "read_corpus",
    "read_judgments",
    "run",
    "validate",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(name)
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*__all__, *globals()})
