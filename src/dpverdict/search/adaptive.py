"""The adaptive search: learn on some runs which pair and which events show most, and confirm that on fresh ones.

Learning decides nothing: whatever it hands over is judged on runs of another phase, which it has not seen.  Pairs
compete on small numbers of runs first; the better half goes on with twice as many each (successive halving).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add

from dpverdict.claim.guarantee import Approximate, Guarantee, Pure
from dpverdict.evidence.counts import CoinCounts
from dpverdict.evidence.events import Sides
from dpverdict.execute.executor import Executor
from dpverdict.execute.job import Job
from dpverdict.execute.run import Oversight, run
from dpverdict.search.cuts import Aim, Cut, best_cuts
from dpverdict.search.learning import rankings
from dpverdict.search.rankings import Ranking, View
from dpverdict.search.sampling import NOTHING_SEEN, Count, Pair, Seen, Show

FINALISTS = 3
TRAINING_SHARE = 0.2
MOST_TRAINING = 400_000
"""More runs hardly improve an order of outcomes."""

_RARER = 8.0
"""Each further finalist is hit at most an eighth as often as the one before: it stands for what hides in a tail."""

_PLACES = (1e-4, 1e-3, 1e-2, 0.05, 0.1, 0.2, 0.3, 0.5)
_FEWEST = 200


@dataclass(frozen=True, slots=True)
class Bench:
    """What every run of an audit has in common."""

    name: str
    """Everything that results depend on besides the pair and the phase."""

    seed: int
    executor: Executor
    oversight: Oversight = field(default_factory=Oversight)


@dataclass(frozen=True, slots=True)
class Finalist:
    """What was learned: two events, and the promise that they are held against."""

    sides: Sides
    promise: Approximate


@dataclass(frozen=True, slots=True)
class Learned:
    """A pair, and the events that are to be confirmed on it."""

    pair: Pair
    finalists: tuple[Finalist, ...]
    runs: int
    """How many runs it took."""


def promises_of(guarantee: Guarantee) -> tuple[Approximate, ...]:
    """The (ε, δ) promises that a guarantee implies, and that can be tested; one is all of it for pure and (ε, δ)."""
    if isinstance(guarantee, Pure | Approximate):
        return (guarantee.tangent(0.5),)
    return tuple(dict.fromkeys(guarantee.tangent(place) for place in _PLACES))


def learn(bench: Bench, pairs: Sequence[Pair], aim: Aim, runs: int, phase: str) -> Learned:
    """The pair and the events that promise most, from so many training runs, or up to half as many again.

    Where these are few, only the first pairs compete.
    """
    pairs = pairs[: max(1, runs // (4 * _FEWEST))]
    seen = dict.fromkeys(range(len(pairs)), NOTHING_SEEN)
    best, spent = dict[int, list[tuple[Ranking, Cut]]](), 0
    remaining, levels = list(range(len(pairs))), math.ceil(math.log2(len(pairs))) + 1 if len(pairs) > 1 else 1
    for level in range(levels):
        each = max(runs // levels // len(remaining), _FEWEST) // 4 * 4
        for at in remaining:
            seen[at] += shown(bench, pairs[at], each, f"{phase}, learning {level}")
            spent += each
            best[at] = _chosen(seen[at], aim)
        remaining.sort(key=lambda at: -max((cut.gain for _, cut in best[at]), default=-math.inf))
        remaining = remaining[: max(1, (len(remaining) + 1) // 2)]
    (winner, *_) = remaining
    finalists = tuple(
        Finalist(ranking.sides(cut.above, cut.below, two_sided=aim.two_sided), cut.promise)
        for ranking, cut in best[winner]
    )
    return Learned(pairs[winner], tuple(dict.fromkeys(finalists)), spent)


def confirm(bench: Bench, learned: Learned, runs: int, phase: str) -> tuple[CoinCounts, ...]:
    """The counts of each finalist on so many fresh runs, each of which tosses a coin for its input."""
    pair, sides = learned.pair, tuple(finalist.sides for finalist in learned.finalists)
    job = Job(_name(bench, pair), Count(pair, sides), bench.seed, pair.block_size(runs), runs, f"{phase}, confirming")
    blocks = [finished.result for finished in run(bench.executor, job, None, bench.oversight)]
    return tuple(reduce(add, some) for some in zip(*blocks, strict=True))


def shown(bench: Bench, pair: Pair, runs: int, phase: str) -> Seen:
    """The outcomes of so many training runs, a multiple of four."""
    size = max(pair.block_size(runs) // 4, 1) * 4
    job = Job(_name(bench, pair), Show(pair), bench.seed, size, runs, phase)
    return reduce(add, [finished.result for finished in run(bench.executor, job, None, bench.oversight)])


def _name(bench: Bench, pair: Pair) -> str:
    return f"{bench.name} on {pair.input!r} and {pair.neighbour!r}"


def _chosen(seen: Seen, aim: Aim) -> list[tuple[Ranking, Cut]]:
    """The best cut of all rankings, and the best of those that are hit more rarely."""
    found = list[tuple[Ranking, Cut]]()
    known = list(rankings(*map(View.of, seen.fit)))
    views = [View.of(groups) for groups in seen.choose]
    levels = [tuple(ranking.levels(view) for view in views) for ranking in known]
    rate = 1.0
    for _ in range(FINALISTS):
        cuts = [
            (ranking, cut)
            for ranking, (some, others) in zip(known, levels, strict=True)
            for cut in best_cuts(some, others, aim, rate)
        ]
        if not cuts:
            break
        found.append(max(cuts, key=lambda chosen: chosen[1].gain))
        rate = found[-1][1].hit_rate / _RARER
    return found
