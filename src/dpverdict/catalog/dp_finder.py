"""DP-Finder's nine: arrays of four numbers in [-10, 10], one hit, threshold 0, ε = 0.1.

The printed scales are those of the algorithms at ε = 0.1: 20 = 2/ε, 40 = 4/ε, 13.3 = 4/(3ε), 10 = 1/ε.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from dpverdict.catalog import histogram, selection, sparse_vector
from dpverdict.catalog.citations import BICHSEL_FINDER
from dpverdict.catalog.entry import Entry, Kind, Promise, Published, Truth

_FOUR: dict[str, Any] = {"paper": BICHSEL_FINDER, "epsilon": "0.1", "domain": "real:-10,10", "length": 4}
_RISING, _FALLING = (0, 0, 1, 1), (1, 1, 0, 0)
_HOLDS = Truth(Kind.HOLDS, "holds", BICHSEL_FINDER)


def _within(bound: float) -> Truth:
    return Truth(Kind.UPPER, f"the loss is known to be at most {bound:g}", BICHSEL_FINDER, value=bound)


def _found(bound: float, note: str = "") -> tuple[Published, ...]:
    return (Published("DP-Finder", "section 1", BICHSEL_FINDER, bound, note=note),)


def _selected_at_the_edge(epsilon: float) -> float:
    """The exponential mechanism's largest loss for four scores in [-10, 10]: the lowest is selected, rises, and all
    others fall; the loss is ε/2 less the logarithm of how much the weights grow, which is larger the rarer it is."""
    rare, often = math.exp(-10 * epsilon / 2), 3 * math.exp(10 * epsilon / 2)
    grown = (rare * math.exp(epsilon / 2) + often * math.exp(-epsilon / 2)) / (rare + often)
    return epsilon / 2 - math.log(grown)


ENTRIES = (
    Entry(
        name="finder-at",
        title="AboveThreshold without a stop, answers for all four queries",
        algorithm="AT",
        mechanism=sparse_vector.svt6,
        promise=Promise("pure", Fraction(9, 20), 0),
        example=(-9, -9, 9, 9),
        neighbour=(-10, -10, 10, 10),
        holds=True,
        truths=(
            _within(0.45),
            Truth(
                Kind.EXACT,
                "computed exactly: 0.17955, by the example in the output above, above, below, below",
                value=0.17955,
            ),
            Truth(
                Kind.EXACT,
                "0.20 = 4/20, not attained (0.1998 for queries of size 99)",
                about="any real queries",
                value=0.2,
            ),
            Truth(
                Kind.EXACT,
                "0.1767 where the numerator, and 0.1749 where both probabilities have to be at least 0.01, as "
                "DP-Finder asks of its events",
                about="events of probability 0.01 or more",
                value=0.1767,
            ),
        ),
        published=_found(0.173),
        notes="the claim is the bound that the paper knows; scales 20 and 20",
        **_FOUR,
    ),
    Entry(
        name="finder-at1",
        title="AboveThreshold, algorithm 1 of Lyu, Su and Li (correct)",
        algorithm="AT1",
        mechanism=sparse_vector.svt1,
        example=_RISING,
        neighbour=_FALLING,
        holds=True,
        truths=(_HOLDS,),
        notes="scales 20 and 40",
        **_FOUR,
    ),
    Entry(
        name="finder-at2",
        title="AboveThreshold, algorithm 2 of Lyu, Su and Li (correct, fresh thresholds)",
        algorithm="AT2",
        mechanism=sparse_vector.svt2,
        example=_RISING,
        neighbour=_FALLING,
        holds=True,
        truths=(_HOLDS,),
        notes="scales 20 (drawn again after a hit) and 40; with one hit it is the same as finder-at1",
        **_FOUR,
    ),
    Entry(
        name="finder-at3",
        title="AboveThreshold that releases the compared answer, or -10 for below",
        algorithm="AT3",
        mechanism=sparse_vector.svt3_number,
        promise=Promise("pure", Fraction(1, 5), 0),
        example=(-1, -1, -1, -1),
        neighbour=(0, 0, 0, 0),
        holds=True,
        truths=(_within(0.2), *sparse_vector.svt3_truths(4)),
        notes="the claim is the bound that the paper knows, which is exact for four queries; scales 20 and 20",
        **_FOUR,
    ),
    Entry(
        name="finder-at4",
        title="AboveThreshold with too little query noise",
        algorithm="AT4",
        mechanism=sparse_vector.svt4,
        promise=Promise("pure", Fraction(7, 40), 0),
        example=(0, 0, 0, 0),
        neighbour=(1, 1, 1, -1),
        holds=True,
        truths=(_within(0.175),),
        notes="the claim is the bound that the paper knows, (1 + 6)/4·epsilon; scales 40 and 1/0.075 = 13.3",
        **_FOUR,
    ),
    Entry(
        name="finder-at5",
        title="AboveThreshold without query noise (not private)",
        algorithm="AT5",
        mechanism=sparse_vector.svt5,
        example=(-1, 0, 0, 0),
        neighbour=(-1, -1, -1, -1),
        holds=False,
        truths=sparse_vector.SVT5_TRUTHS,
        notes="scale 20 for the threshold, none for the queries; the claim is the one that the algorithm's authors "
        "made",
        **_FOUR,
    ),
    Entry(
        name="finder-noisy-max",
        title="The index of the noisy maximum",
        algorithm="noisyMax",
        mechanism=selection.noisy_maximum,
        example=(0, 0, 0, 0),
        neighbour=(1, -1, -1, -1),
        holds=True,
        truths=(_HOLDS,),
        published=_found(0.099, "more than that"),
        notes="scale 20",
        **_FOUR,
    ),
    Entry(
        name="finder-exp-mech",
        title="The exponential mechanism",
        algorithm="expMech",
        mechanism=selection.exponential_mechanism,
        example=(-10, 10, 10, 10),
        neighbour=(-9, 9, 9, 9),
        holds=True,
        truths=(
            _HOLDS,
            Truth(
                Kind.EXACT,
                "the example has the largest loss there is in [-10, 10], in the event that the first is selected",
                value=_selected_at_the_edge(0.1),
                loss="epsilon/2 - log((exp(-9/2*epsilon) + 3*exp(9/2*epsilon))/(exp(-5*epsilon) + 3*exp(5*epsilon)))",
            ),
        ),
        **_FOUR,
    ),
    Entry(
        name="finder-sum",
        title="The sum of an array, to which an element may be added",
        algorithm="sum",
        mechanism=histogram.noisy_sum,
        adjacency="add-remove:1",
        example=(0, 0, 0, 0),
        neighbour=(0, 0, 0, 0, 1),
        holds=True,
        truths=(Truth(Kind.EXACT, "holds, and epsilon is the exact loss", BICHSEL_FINDER, factor=Fraction(1)),),
        notes="scale 10",
        **{**_FOUR, "domain": "real:-1,1", "length": "4..5"},
    ),
)
