"""Every part of the factorial experiment, in the order of the definitions (section 4)."""

from __future__ import annotations

from voirdire.analysis.experiment.design import Experiment
from voirdire.analysis.experiment.r2 import add_r2
from voirdire.analysis.experiment.regression import add_regression


def add_experiment(experiment: Experiment) -> None:
    """Add the rows of every part to the table of the experiment's context."""
    if experiment.context.panel.question.scale.nominal:
        return
    add_r2(experiment)
    add_regression(experiment)
