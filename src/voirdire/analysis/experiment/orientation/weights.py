"""Orientation over three pools or more: what share of a judge's slope each pool has."""

from __future__ import annotations

import numpy as np

from voirdire.analysis.experiment.design import Experiment
from voirdire.analysis.experiment.orientation.fits import reason_of
from voirdire.analysis.experiment.orientation.selected import (
    clustered_definition,
    fits_of,
    left_out,
    ratings_behind,
    ratio,
)
from voirdire.stats.cumulative import RIDGE
from voirdire.stats.decomposition import slope_covariance
from voirdire.stats.features import Array

LEAST_POOLS = 3


def add_weights(experiment: Experiment) -> None:
    """``orientation.weight`` of every pool, and ``orientation.pi`` over all pools, for every selection.

    Weights are b_k / sum(b) of one fit with all pools; they add up to 1 and may leave 0 to 1. Permissiveness is the
    slope of the highest pool less their mean over sum(b).
    """
    context, judged = experiment.context, experiment.judged
    pools = tuple(range(len(context.pools)))
    if len(pools) < LEAST_POOLS:
        return
    fits = fits_of(experiment, "all", context.slices["all"], pools)
    selections = judged.selections
    matrix = selections.matrix
    n = np.rint(ratings_behind(fits, matrix)).astype(int)
    covariance = None if fits.reason is not None else slope_covariance(fits.fits, matrix, fits.n_repeats)
    under = fits.direction(**{f"p{k}": 1.0 for k in pools})
    told = {"model": "cumulative_probit", "ridge": RIDGE, "pools": len(pools), "cells": "mean_of_slopes_by_ratings"}
    told["noise"] = "empirical_bayes"
    parts: list[tuple[str, Array, tuple[int, ...], str]] = [
        ("orientation.weight", fits.direction(**{f"p{k}": 1.0}), (k,), "") for k in pools
    ]
    parts.append(("orientation.pi", fits.direction(lead=1.0), (), "pools=all"))
    for statistic, over, target, params in parts:
        found = ratio(fits, matrix, over, under, covariance)
        context.table.add(
            statistic,
            found.values,
            params=params,
            reasons=[reason or reason_of(fits) for reason in found.reasons],
            low=found.low,
            high=found.high,
            n=n,
            excluded=left_out(fits, matrix),
            definition=clustered_definition(context, "fieller", **told),
            question=context.panel.question.id,
            judge=list(selections.judges),
            condition=list(selections.conditions),
            **context.names(target),
        )
