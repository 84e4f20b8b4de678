"""Every part of the factorial experiment, in the order of the definitions (section 4)."""

from __future__ import annotations

from voirdire.analysis.experiment.best import add_best
from voirdire.analysis.experiment.best_kappa import add_best_kappa
from voirdire.analysis.experiment.bins import add_bins
from voirdire.analysis.experiment.demonstrations import add_demonstrations
from voirdire.analysis.experiment.design import Experiment
from voirdire.analysis.experiment.factor_effects import add_factor_effects
from voirdire.analysis.experiment.gap_correlation import add_gap_correlation
from voirdire.analysis.experiment.honesty import add_honesty
from voirdire.analysis.experiment.orientation.rows import add_orientation
from voirdire.analysis.experiment.orientation.split import add_split
from voirdire.analysis.experiment.orientation.weights import add_weights
from voirdire.analysis.experiment.persona_match import add_floor_gap, add_persona_match
from voirdire.analysis.experiment.personas import add_personas
from voirdire.analysis.experiment.personas_w import add_w_pulls
from voirdire.analysis.experiment.r2 import add_r2
from voirdire.analysis.experiment.regimes import add_regimes
from voirdire.analysis.experiment.regression import add_regression


def add_experiment(experiment: Experiment) -> None:
    """Add the rows of every part to the table of the experiment's context."""
    add_orientation(experiment)
    if experiment.context.panel.question.scale.nominal:
        return
    add_weights(experiment)
    add_split(experiment)
    add_r2(experiment)
    add_regression(experiment)
    add_personas(experiment)
    add_w_pulls(experiment)
    add_persona_match(experiment)
    add_floor_gap(experiment)
    add_factor_effects(experiment)
    add_best(experiment)
    add_best_kappa(experiment)
    add_demonstrations(experiment)
    add_bins(experiment)
    add_regimes(experiment)
    add_gap_correlation(experiment)
    add_honesty(experiment)
