"""``voirdire check``: does a profile meet a policy?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from voirdire.analysis.policy import Policy
from voirdire.analysis.policy_rules import PolicyResult


def check(profile: Any, policy: Any) -> PolicyResult:
    """Check a profile against a policy.

    Parameters
    ----------
    profile : Profile, or the path of an audit's folder or of its profile.json
    policy : Policy, or the path of a policy file

    Raises InputError when the profile and PolicyError when the policy cannot be read.

    The result's ``outcome`` is ``pass``, ``fail`` or ``not_enough``, its ``exit_code`` 0, 1 or 2.
    """
    from voirdire.analysis.profile import Profile

    rules = policy if isinstance(policy, Policy) else Policy.load(Path(policy))
    found = profile if isinstance(profile, Profile) else Profile.load(Path(profile))
    return rules.check(found.estimates, found.meta)
