"""The options of an audit, with their defaults; they go into every signature that they concern."""

from __future__ import annotations

from dataclasses import dataclass

from voirdire.errors import UsageError

MOST_RATER_DRAWS = 500


@dataclass(frozen=True)
class AuditOptions:
    """How an audit computes.

    pairs : ordered pairs of pools; empty: every pair, in the order of the pools
    slices, selects : item columns to slice by and selections (``origin=us``, ``persona=us&design=base``) beside
        the ones computed without being asked
    consensus : mean or median of a pool's ratings of an item; min_raters : ratings it needs
    min_gap : smallest gap of the consensuses for T
    draws, level, resample, interval : the bootstrap (items | items+raters; percentile | bca)
    permutations : of the gap test; seed : of everything random
    gate_reliability : reliability of the consensus from which a pool passes
    all_pairs : judges against every pair, also with more than three pools
    decomposition_draws : draws of items for the split of T and delta, which fits every cell anew; at most ``draws``
    factor_roles : (role, column) of factors whose names do not say it: persona, language, detail, demonstrations
    personas : (level, pool): the pool that a persona speaks for, where it is not called as its pool; ``none`` for a
        level without a persona
    regime : the item column whose two levels are image regimes of the same items (photographs, generated)
    compared : whether what was compared item by item is kept beside the profile (texts of items may be private)
    """

    pairs: tuple[tuple[str, str], ...] = ()
    slices: tuple[str, ...] = ()
    selects: tuple[str, ...] = ()
    consensus: str = "mean"
    min_raters: int = 1
    min_gap: float = 0.0
    draws: int = 2000
    level: float = 0.95
    resample: str = "items"
    interval: str = "percentile"
    permutations: int = 2000
    seed: int = 0
    gate_reliability: float = 0.80
    all_pairs: bool = False
    decomposition_draws: int = 500
    factor_roles: tuple[tuple[str, str], ...] = ()
    personas: tuple[tuple[str, str], ...] = ()
    regime: str | None = None
    compared: bool = True

    @property
    def rater_draws(self) -> int:
        """Draws of raters, which give a standard error only: as many as of items, at most 500."""
        return min(self.draws, MOST_RATER_DRAWS)

    def __post_init__(self) -> None:
        allowed = {
            "consensus": ("mean", "median"),
            "resample": ("items", "items+raters"),
            "interval": ("percentile", "bca"),
        }
        for name, values in allowed.items():
            if getattr(self, name) not in values:
                raise UsageError("audit.option_value", option=name, value=getattr(self, name), known=" | ".join(values))
        at_least = {"min_raters": 1, "min_gap": 0, "draws": 0, "decomposition_draws": 0, "permutations": 1, "seed": 0}
        for name, least in at_least.items():
            if getattr(self, name) < least:
                raise UsageError("audit.option_least", option=name, value=getattr(self, name), least=least)
        if not 0.5 <= self.level < 1:
            raise UsageError("audit.option_least", option="level", value=self.level, least=0.5)
