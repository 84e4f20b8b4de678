"""Every part of the factorial experiment, in the order of the definitions (section 4)."""

from __future__ import annotations

from voirdire.analysis.experiment.design import Experiment


def add_experiment(experiment: Experiment) -> None:
    """Add the rows of every part to the table of the experiment's context."""
    if experiment.context.panel.question.scale.nominal:
        return
