"""Whether the runs of a mechanism are independent: an assumption of every statistical statement, so it is checked.

Each check compares what was seen with what independent runs of one law would show, by Chernoff's bounds,
which hold for every law; disjoint pairs of runs are independent.  All checks together raise a false alarm with a
probability of at most `ALPHA`.  That nothing is found proves nothing.

    fixed inner seed        blocks with different seeds agree position by position
    periodic noise          outcomes repeat at some distance more often than two runs agree by chance
    memoised answers        outcomes of one worker hardly vary, those of a fresh worker do otherwise
    state between calls     later runs follow another law, or a run depends on the one before it
    own entropy             a block does not repeat from its own seed (no fault, but it cannot be replayed)
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpverdict.execute import seeds

ALPHA = 1e-9
"""The probability that independent runs raise an alarm, over all checks of one examination."""

_CHECKS = 5
_GROUPS = 8
"""Outcomes are counted in this many groups where their laws are compared."""

Codes: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault that was found: its kind, and what was seen."""

    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class Independence:
    """What the checks found; `replayable` says whether a block repeats from its seed.

    `constant` says that every run gave one outcome.  That is no fault by itself, as constants are independent, but
    noise that is seeded anew in each call looks like it.
    """

    findings: tuple[Finding, ...]
    replayable: bool
    runs: int
    constant: bool


@dataclass(frozen=True, slots=True)
class Evidence:
    """Runs on one input: blocks of one worker in order, the first block again, and blocks of a fresh worker."""

    blocks: tuple[Sequence[Hashable], ...]
    again: Sequence[Hashable]
    elsewhere: tuple[Sequence[Hashable], ...] = ()


def examine(evidence: Evidence, alpha: float = ALPHA) -> Independence:
    """Every check on the evidence."""
    numbers: dict[Hashable, int] = {}
    blocks = [_coded(block, numbers) for block in evidence.blocks]
    elsewhere = [_coded(block, numbers) for block in evidence.elsewhere]
    again = _coded(evidence.again, numbers)
    group = _grouping(evidence.blocks[0] if evidence.blocks else ())
    here = [group(block) for block in evidence.blocks[1:]]
    half = len(here) // 2
    share = alpha / _CHECKS
    found = (
        _same_in_blocks([*blocks, *elsewhere], share),
        _repeats_at_a_distance(_together(blocks), share),
        _differs(_together(here), _together([group(block) for block in evidence.elsewhere]), share, _MEMOISED),
        _differs(_together(here[:half]), _together(here[half:]), share, _DRIFT),
        _depends_on_the_last(_together(here), share),
    )
    return Independence(
        findings=tuple(finding for finding in found if finding is not None),
        replayable=bool(blocks) and np.array_equal(blocks[0], again),
        runs=sum(map(len, [*blocks, *elsewhere])) + len(again),
        constant=len(numbers) == 1,
    )


def _together(parts: list[Codes]) -> Codes:
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts])


def _coded(block: Sequence[Hashable], numbers: dict[Hashable, int]) -> Codes:
    return np.asarray([numbers.setdefault(outcome, len(numbers)) for outcome in block], dtype=np.int64)


# --- bounds that hold for every law --------------------------------------------------------------------------


def _divergence(share: float, probability: float) -> float:
    """The Kullback-Leibler divergence of two coins."""
    if probability <= 0:
        return 0.0 if share <= 0 else math.inf
    if probability >= 1:
        return 0.0 if share >= 1 else math.inf
    yes = share * math.log(share / probability) if share > 0 else 0.0
    no = (1 - share) * math.log((1 - share) / (1 - probability)) if share < 1 else 0.0
    return yes + no


def tail(hits: int, trials: int, probability: float) -> float:
    """A bound on the chance of at least so many hits in independent trials (Chernoff)."""
    if trials == 0 or hits <= trials * probability:
        return 1.0
    return math.exp(-trials * _divergence(hits / trials, probability))


def largest_probability(hits: int, trials: int, alpha: float) -> float:
    """An upper confidence bound for the probability of a hit (Chernoff, solved by bisection, rounded up)."""
    if trials == 0:
        return 1.0
    low, high = hits / trials, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if math.exp(-trials * _divergence(hits / trials, middle)) > alpha:
            low = middle
        else:
            high = middle
    return high


def _agreement(blocks: Iterable[Codes], alpha: float) -> float:
    """An upper bound for the chance that two independent runs agree, from disjoint pairs far apart."""
    hits = trials = 0
    for block in blocks:
        half = len(block) // 2
        hits += int(np.count_nonzero(block[:half] == block[half : 2 * half]))
        trials += half
    return largest_probability(hits, trials, alpha)


# --- the checks ----------------------------------------------------------------------------------------------


def _same_in_blocks(blocks: list[Codes], alpha: float) -> Finding | None:
    """Blocks with different seeds that agree position by position."""
    pairs = list(combinations(range(len(blocks)), 2))
    if not pairs:
        return None
    chance = _agreement(blocks, alpha / 2)
    for one, other in pairs:
        length = min(len(blocks[one]), len(blocks[other]))
        hits = int(np.count_nonzero(blocks[one][:length] == blocks[other][:length]))
        if tail(hits, length, chance) <= alpha / 2 / len(pairs):
            return Finding(
                "fixed seed",
                f"{hits:,} of {length:,} outcomes of blocks {one} and {other} are the same, run by run, although the "
                "blocks have different seeds: the mechanism seems to seed its noise itself",
            )
    return None


def _repeats_at_a_distance(runs: Codes, alpha: float) -> Finding | None:
    """Outcomes that repeat after a fixed number of runs.

    The pairs (i, i + lag) whose i lies in every other stretch of `lag` runs are disjoint, hence independent.
    """
    lags = range(1, len(runs) // 4 + 1)
    if not lags:
        return None
    shuffled = seeds.generator(0, "independence", 0).permutation(runs)  # an estimate that no distance biases
    chance = _agreement([shuffled], alpha / 2)
    for lag in lags:
        starts = np.arange(len(runs) - lag)
        same = runs[:-lag] == runs[lag:]
        for parity in (0, 1):
            chosen = same[(starts // lag) % 2 == parity]
            hits = int(np.count_nonzero(chosen))
            if tail(hits, len(chosen), chance) <= alpha / 4 / len(lags):
                return Finding(
                    "periodic",
                    f"{hits:,} of {len(chosen):,} outcomes repeat {lag:,} runs later, where chance explains at most "
                    f"{chance:.3g} of them: the noise is periodic, or answers are kept",
                )
    return None


_MEMOISED = (
    "memoised",
    "a fresh worker gives other outcomes than one that has been running: answers seem to be kept between calls",
)
_DRIFT = ("state", "later runs follow another law than earlier ones: state seems to be carried between calls")


def _differs(one: Codes, other: Codes, alpha: float, finding: tuple[str, str]) -> Finding | None:
    """Whether a group of outcomes is more frequent in one part of the runs than in the other.

    Given how many runs of both parts fall into a group, those of the first part are draws without replacement, to
    which Chernoff's bound applies as well.
    """
    if not len(one) or not len(other):
        return None
    share = len(one) / (len(one) + len(other))
    for group in range(_GROUPS):
        hits, misses = int(np.count_nonzero(one == group)), int(np.count_nonzero(other == group))
        if _both_tails(hits, hits + misses, share) <= alpha / _GROUPS:
            kind, message = finding
            return Finding(kind, f"{message} ({hits:,} of {len(one):,} runs against {misses:,} of {len(other):,})")
    return None


def _depends_on_the_last(groups: Codes, alpha: float) -> Finding | None:
    """Whether a run depends on the one before it, in disjoint pairs; the second runs as draws without replacement."""
    count = len(groups) // 2
    first, second = groups[0 : 2 * count : 2], groups[1 : 2 * count : 2]
    for group, after in product(range(_GROUPS), repeat=2):
        chosen = second[first == group]
        hits = int(np.count_nonzero(chosen == after))
        share = float(np.count_nonzero(second == after)) / max(1, count)
        if _both_tails(hits, len(chosen), share) <= alpha / _GROUPS**2:
            return Finding(
                "state",
                "a run depends on the one before it: state seems to be carried between calls "
                f"({hits:,} of {len(chosen):,} runs after one group fall into another, {share:.1%} of all do)",
            )
    return None


def _both_tails(hits: int, trials: int, probability: float) -> float:
    """A bound on the chance of a count that is so far off, in either direction."""
    return 2 * min(tail(hits, trials, probability), tail(trials - hits, trials, 1 - probability))


# --- groups of outcomes, fixed by the first block and counted in the others ----------------------------------


def _grouping(block: Sequence[Hashable]) -> Callable[[Sequence[Hashable]], Codes]:
    """Which of `_GROUPS` groups outcomes belong to: the most frequent ones by themselves, or else by size."""
    frequent = Counter(block).most_common(_GROUPS - 1)
    if 2 * sum(count for _, count in frequent) >= len(block):
        numbers = {outcome: at for at, (outcome, _) in enumerate(frequent)}
        return lambda runs: np.asarray([numbers.get(outcome, _GROUPS - 1) for outcome in runs], dtype=np.int64)
    cuts = np.quantile([_size(outcome) for outcome in block], np.arange(1, _GROUPS) / _GROUPS)
    return lambda runs: np.searchsorted(cuts, [_size(outcome) for outcome in runs]).astype(np.int64)


_LARGEST_SIZE = 10**300  # a float, and so is the sum of many


def _size(outcome: object) -> float:
    """A number that orders outcomes: a number itself, the sum of a sequence, the length of a text."""
    match outcome:
        case float() if not math.isfinite(outcome):
            return 0.0
        case int() | float():
            return float(min(max(outcome, -_LARGEST_SIZE), _LARGEST_SIZE))
        case tuple():
            return sum(map(_size, outcome))
        case str() | bytes():
            return float(len(outcome))
        case _:
            return 0.0
