"""StatDP's own test, for comparison and for search: never evidence of a verdict [ding2018detecting].

What it is worth: for an event that was fixed on other runs, each thinning gives a valid p-value, and twice their mean
is one.  The mean that StatDP uses is not exactly one, and choosing event or ε by it on the same runs makes it none
at all.  So its results have a type of their own, which no bound and no test takes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpverdict.evidence.counts import PairCounts


@dataclass(frozen=True, slots=True)
class ExploratoryPValue:
    """The mean of the p-values of so many thinnings."""

    mean: float
    thinnings: int

    @property
    def doubled(self) -> float:
        """Twice the mean, at most 1: a valid p-value if the event and ε were fixed on other runs."""
        return min(1.0, 2 * self.mean)


def thinned_fisher(
    counts: PairCounts, epsilon: Fraction, generator: np.random.Generator, thinnings: int = 10
) -> ExploratoryPValue:
    """The test of Pr[S | a] ≤ e^ε Pr[S | a′]: hits on a are kept with chance e^-ε, then Fisher's exact test.

    The tail includes the count that was seen, Pr[X ≥ kept], as in StatDP's code; the paper prints Pr[X > kept], which
    is 0 whenever nothing was hit on a′.
    """
    from scipy.stats import hypergeom

    kept = generator.binomial(counts.hits, math.exp(-epsilon), size=thinnings)
    runs = counts.runs + counts.neighbour_runs
    values = hypergeom.sf(kept - 1, runs, counts.runs, kept + counts.neighbour_hits)
    return ExploratoryPValue(float(np.mean(values)), thinnings)
