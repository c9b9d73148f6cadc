"""Noisy histograms."""

from __future__ import annotations

from typing import Any

from dpverdict.catalog.citations import DWORK_MCSHERRY_NISSIM_SMITH
from dpverdict.catalog.entry import Entry
from dpverdict.mechanism import mechanism
from dpverdict.mechanism.noise import Noise


@mechanism
def histogram(noise: Noise, counts: Any, epsilon: Any) -> list[Any]:
    """Every cell with Laplace noise of its own."""
    return [noise.laplace(count, scale=1 / epsilon) for count in counts]


ENTRIES = (
    Entry(
        name="histogram",
        title="Noisy histogram",
        mechanism=histogram,
        paper=DWORK_MCSHERRY_NISSIM_SMITH,
        claim="pure:epsilon, l1:1",
        truth="holds, and epsilon is the exact loss (Dwork, McSherry, Nissim, Smith 2006). When every one of n cells "
        "may change by 1 (linf:1), the loss is n·epsilon",
        vector=True,
        example=(1, 1, 1, 1, 1),
        neighbour=(2, 1, 1, 1, 1),
        published="DP-Sniper (NoisyHist1), epsilon = 0.1: at least 0.0978; StatDP-Fixed: 0.0994; DiPC (Hist1) decides "
        "its discretised form",
        notes="StatDP's algorithm 9; its wrong variant (algorithm 10) uses the scale epsilon instead of 1/epsilon",
    ),
)
