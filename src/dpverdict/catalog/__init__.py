"""Published mechanisms with their claims, the known truth and citations: a file per family, and per paper."""

from __future__ import annotations

import difflib

from dpverdict.catalog import (
    above_threshold,
    additive_noise,
    dipc,
    dp_finder,
    dp_sniper,
    floating_point,
    histogram,
    randomised_response,
    rappor,
    selection,
    sparse_vector,
    statdp,
)
from dpverdict.catalog.entry import Counterexample, Entry, Paper, Published, Truth
from dpverdict.errors import TargetError

__all__ = ["Counterexample", "Entry", "Paper", "Published", "Truth", "entries", "find"]


def entries() -> tuple[Entry, ...]:
    """Every entry: what is in use, family by family, then the papers' own."""
    return (
        *additive_noise.ENTRIES,
        *randomised_response.ENTRIES,
        *histogram.ENTRIES,
        *selection.ENTRIES,
        *sparse_vector.ENTRIES,
        *above_threshold.ENTRIES,
        *rappor.ENTRIES,
        *floating_point.ENTRIES,
        *statdp.ENTRIES,
        *dp_sniper.ENTRIES,
        *dp_finder.ENTRIES,
        *dipc.ENTRIES,
    )


def find(name: str) -> Entry:
    """The entry with this name, where '_' and '-' are the same; TargetError if there is none."""
    known = {entry.name: entry for entry in entries()}
    wanted = name.strip().lower().replace("_", "-")
    if wanted in known:
        return known[wanted]
    close = difflib.get_close_matches(wanted, known, n=3, cutoff=0.5)
    fix = " or ".join(f"catalog:{candidate}" for candidate in close) if close else "dpverdict catalog"
    raise TargetError(
        "TARGET-010",
        f"no mechanism called {name!r} in the catalogue",
        why="catalog: takes one of the names that `dpverdict catalog` lists",
        fix=fix,
    )
