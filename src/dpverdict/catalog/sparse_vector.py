"""The sparse vector technique: which queries lie above a threshold.  Right and wrong variants.

SVT1 to SVT6 are algorithms 1 to 6 of Lyu, Su and Li (2017), for queries of sensitivity 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from dpverdict import discretise
from dpverdict.catalog.citations import CHEN_ET_AL, DWORK_ROTH, LEE_CLIFTON, LYU_SU_LI, ROTH, WANG_ET_AL
from dpverdict.catalog.citations import STODDARD_CHEN_MACHANAVAJJHALA as STODDARD_ET_AL
from dpverdict.catalog.entry import Counterexample, Entry, Kind, Truth
from dpverdict.mechanism import mechanism
from dpverdict.mechanism.noise import Noise


@mechanism
def svt1(noise: Noise, queries: Any, epsilon: Any, threshold: Any = 0, stop_after: int = 1) -> list[Any]:
    """Lyu, Su and Li's own algorithm: one noisy threshold, query noise that grows with the number of hits."""
    limit = noise.laplace(threshold, scale=2 / epsilon)
    return compared_until(noise, queries, limit, 4 * stop_after / epsilon, stop_after)


def compared_until(noise: Noise, queries: Any, limit: Any, scale: Any, stop_after: int) -> list[Any]:
    """Whether each noisy query is at least the limit, up to the last hit."""
    hits, answers = 0, []
    for query in queries:
        above = noise.laplace(query, scale=scale) >= limit
        answers.append(above)
        hits += above
        if hits >= stop_after:
            break
    return answers


@mechanism
def svt2(noise: Noise, queries: Any, epsilon: Any, threshold: Any = 0, stop_after: int = 1) -> list[Any]:
    """Dwork and Roth's algorithm: a fresh noisy threshold after every hit."""
    return _with_fresh_thresholds(noise, queries, epsilon / stop_after, threshold, stop_after)


@mechanism
def sparse(noise: Noise, queries: Any, epsilon: Any, threshold: Any = 0, stop_after: int = 1) -> list[Any]:
    """Dwork and Roth's algorithm with noise for one hit only, however many there may be."""
    return _with_fresh_thresholds(noise, queries, epsilon, threshold, stop_after)


def _with_fresh_thresholds(noise: Noise, queries: Any, budget: Any, threshold: Any, stop_after: int) -> list[Any]:
    """The sparse vector technique where every hit has this budget to itself."""
    limit = noise.laplace(threshold, scale=2 / budget)
    hits, answers = 0, []
    for query in queries:
        above = noise.laplace(query, scale=4 / budget) >= limit
        answers.append(above)
        if above:
            hits += 1
            if hits >= stop_after:
                break
            limit = noise.laplace(threshold, scale=2 / budget)
    return answers


@mechanism
def svt3(noise: Noise, queries: Any, epsilon: Any, threshold: Any = 0, stop_after: int = 1) -> list[Any]:
    """Roth's lecture notes: a hit releases the very noisy answer that was compared.  Not private."""
    limit = noise.laplace(threshold, scale=2 / epsilon)
    found = compared_answers(noise, queries, limit, 2 * stop_after / epsilon, stop_after)
    return [False if answer is None else answer for answer in found]


@mechanism
def svt3_number(noise: Noise, queries: Any, epsilon: Any, below: float = -10) -> list[Any]:
    """SVT3 for one hit above 0, with a number for an answer below."""
    found = compared_answers(noise, queries, noise.laplace(0, scale=2 / epsilon), 2 / epsilon)
    return [below if answer is None else answer for answer in found]


@mechanism
def svt3_discretised(
    noise: Noise, queries: Any, epsilon: Any, query_noise: float = 4, edges: Sequence[float] = (-1, 0, 1)
) -> list[Any]:
    """SVT3 for one hit above 0, of which only the place among the edges is released."""
    found = compared_answers(noise, queries, noise.laplace(0, scale=2 / epsilon), query_noise / epsilon)
    return [False if answer is None else discretise(answer, edges) for answer in found]


def compared_answers(noise: Noise, queries: Any, limit: Any, scale: Any, stop_after: int = 1) -> list[Any]:
    """The noisy answers that are not below the limit, None for the others, up to the last hit."""
    hits, answers = 0, []
    for query in queries:
        noisy = noise.laplace(query, scale=scale)
        if noisy >= limit:
            answers.append(noisy)
            hits += 1
            if hits >= stop_after:
                break
        else:
            answers.append(None)
    return answers


@mechanism
def svt4(noise: Noise, queries: Any, epsilon: Any, threshold: Any = 0, stop_after: int = 1) -> list[Any]:
    """Lee and Clifton's algorithm: query noise that is too small.  Less private than claimed."""
    limit = noise.laplace(threshold, scale=4 / epsilon)
    return compared_until(noise, queries, limit, 4 / (3 * epsilon), stop_after)


@mechanism
def svt5(noise: Noise, queries: Any, epsilon: Any, threshold: Any = 0, threshold_noise: float = 2) -> list[Any]:
    """Stoddard, Chen and Machanavajjhala's algorithm: no query noise, no stop.  Not private."""
    limit = noise.laplace(threshold, scale=threshold_noise / epsilon)
    return [query >= limit for query in queries]


@mechanism
def svt6(noise: Noise, queries: Any, epsilon: Any, threshold: Any = 0) -> list[Any]:
    """Chen, Xiao, Zhang and Xu's algorithm: no stop.  Not private."""
    limit = noise.laplace(threshold, scale=2 / epsilon)
    return [noise.laplace(query, scale=2 / epsilon) >= limit for query in queries]


@mechanism
def svt_countdown(noise: Noise, queries: Any, epsilon: Any, threshold: Any = 0, stop_after: int = 2) -> list[Any]:
    """SVT1 with a bug: the noise is computed from the number of hits that remain instead of those allowed."""
    limit = noise.laplace(threshold, scale=2 / epsilon)
    remaining, answers = stop_after, []
    for query in queries:
        scale = 4 * remaining / epsilon
        above = noise.laplace(query, scale=scale) >= limit
        answers.append(above)
        remaining -= above
        if remaining <= 0:
            break
    return answers


@mechanism
def numerical_svt(noise: Noise, queries: Any, epsilon: Any, threshold: Any = 0, stop_after: int = 1) -> list[Any]:
    """Wang et al.'s algorithm: a hit releases the query with fresh noise, everything else is 0."""
    limit = noise.laplace(threshold, scale=3 / epsilon)
    hits, answers = 0, []
    for query in queries:
        if noise.laplace(query, scale=6 * stop_after / epsilon) >= limit:
            answers.append(noise.laplace(query, scale=3 * stop_after / epsilon))
            hits += 1
            if hits >= stop_after:
                break
        else:
            answers.append(0)
    return answers


@mechanism
def svt34_parallel(noise: Noise, queries: Any, epsilon: Any, threshold: Any = 1, stop_after: int = 1) -> list[Any]:
    """SVT3 and SVT4, one after the other on the same queries."""
    return [
        svt3(noise, queries, epsilon, threshold, stop_after),
        svt4(noise, queries, epsilon, threshold, stop_after),
    ]


_RISING = (0, 0, 0, 1, 1)
_FALLING = (1, 1, 1, 0, 0)
_HOLDS = Truth(Kind.HOLDS, "holds", LYU_SU_LI)
_SMALL = "threshold 0, stop_after 1, queries in {-1, 0, 1}: "


def _exact(length: int, factor: str, about: str = _SMALL) -> Truth:
    loss = "epsilon" if factor == "1" else f"{factor}*epsilon"
    return Truth(Kind.EXACT, f"the exact loss is {loss}", None, f"{about}{length} queries", Fraction(factor))


SVT5_TRUTHS = (
    Truth(
        Kind.NOT_PRIVATE,
        "fails for every epsilon: equal queries never get different answers, and others may. With threshold 0 and "
        "noise of scale 2/epsilon, (-1, 0) gives below, above with probability 1/2 - exp(-epsilon/2)/2, and (-1, -1) "
        "never",
        LYU_SU_LI,
        value=math.inf,
    ),
)
SVT4_TRUTHS = (
    Truth(
        Kind.UPPER,
        "it is (1 + 6·stop_after)/4·epsilon private",
        LYU_SU_LI,
        "stop_after 1",
        Fraction(7, 4),
    ),
    Truth(
        Kind.LOWER,
        "fails: (0, 0, 0) against (1, 1, -1) shows more than 3/2·epsilon at epsilon = 1/2 in the output below, below, "
        "above (probability 0.0446 against 0.0209)",
        about="epsilon = 1/2, threshold 0",
        factor=Fraction(3, 2),
    ),
)
_ANY_LENGTH = Truth(
    Kind.FAILS, "fails for every epsilon when the number of queries is free", LYU_SU_LI, "any number of queries"
)
SVT1_TRUTHS = (
    _HOLDS,
    Truth(
        Kind.EXACT,
        "epsilon is the supremum from four queries on: three far above the threshold and put out as below, one far "
        "below and put out as above",
        about="stop_after 1, any real queries, at least four",
        factor=Fraction(1),
    ),
)
SVT1_SMALL = (_exact(1, "1/4"), _exact(3, "3/4"), _exact(4, "1"))


def svt3_truths(length: int, query_noise: int = 2) -> tuple[Truth, ...]:
    """What is true of SVT3 with one hit, this many queries, and query noise of this many times 1/ε."""
    known = Truth(
        Kind.EXACT,
        f"the exact loss with n queries is n·epsilon/{query_noise}: all below but the last, whose value is below all "
        "queries, so that every noisy query has to be off by as much as the inputs differ",
        about=f"{length} queries, one hit",
        factor=Fraction(length, query_noise),
    )
    return (known, _ANY_LENGTH)


def svt6_truths(length: int) -> tuple[Truth, ...]:
    """What is true of SVT6 with this many queries."""
    known = Truth(
        Kind.EXACT,
        "the supremum with n queries is n·epsilon/2 and not attained: half of them far below the threshold and put out "
        "as above, the other half far above and put out as below",
        about=f"{length} queries, any real numbers",
        factor=Fraction(length, 2),
    )
    return (known, _ANY_LENGTH)


BELOW, ABOVE = False, True

ENTRIES = (
    Entry(
        name="svt1",
        title="Sparse vector technique, algorithm 1 (correct)",
        mechanism=svt1,
        paper=LYU_SU_LI,
        algorithm="Algorithm 1",
        length=5,
        example=_RISING,
        neighbour=_FALLING,
        holds=True,
        truths=(*SVT1_TRUTHS, *SVT1_SMALL),
        notes="threshold noise 2/epsilon, query noise 4·stop_after/epsilon",
    ),
    Entry(
        name="svt2",
        title="Sparse vector technique, algorithm 2 (correct, fresh thresholds)",
        mechanism=svt2,
        paper=LYU_SU_LI,
        algorithm="Algorithm 2",
        length=5,
        example=_RISING,
        neighbour=_FALLING,
        holds=True,
        truths=(
            Truth(Kind.HOLDS, "holds (section 3.6)", DWORK_ROTH),
            _exact(3, "3/8", "threshold 0, stop_after 2, queries in {-1, 0, 1}: "),
        ),
        notes="threshold noise 2·stop_after/epsilon, drawn again after every hit; query noise 4·stop_after/epsilon",
    ),
    Entry(
        name="svt3",
        title="Sparse vector technique, algorithm 3 (releases the compared answer)",
        mechanism=svt3,
        paper=ROTH,
        algorithm="Algorithm 3",
        length=3,
        example=(-1, -1, -1),
        neighbour=(0, 0, 0),
        holds=False,
        truths=svt3_truths(3),
        counterexamples=(
            Counterexample(
                (-1, -1, -1), (0, 0, 0), "below, below and then at most -1", "1/4", note="0.0046 against 0.0032"
            ),
        ),
        notes="threshold noise 2/epsilon, query noise 2·stop_after/epsilon, as in Lyu, Su and Li",
    ),
    Entry(
        name="svt4",
        title="Sparse vector technique, algorithm 4 (too little query noise)",
        mechanism=svt4,
        paper=LEE_CLIFTON,
        algorithm="Algorithm 4",
        length=3,
        example=(0, 0, 0),
        neighbour=(1, 1, -1),
        holds=False,
        truths=SVT4_TRUTHS,
        counterexamples=(Counterexample((0, 0, 0), (1, 1, -1), (BELOW, BELOW, ABOVE), "1/2"),),
        notes="threshold noise 4/epsilon, query noise 4/(3·epsilon) whatever stop_after is; algorithm 4 of Lyu, Su, Li",
    ),
    Entry(
        name="svt5",
        title="Sparse vector technique, algorithm 5 (no query noise)",
        mechanism=svt5,
        paper=STODDARD_ET_AL,
        algorithm="Algorithm 5",
        length=2,
        example=(-1, 0),
        neighbour=(-1, -1),
        holds=False,
        truths=SVT5_TRUTHS,
        counterexamples=(Counterexample((-1, 0), (-1, -1), (BELOW, ABOVE), "1", note="the second never gives it"),),
        notes="threshold noise 2/epsilon; all answers follow from one draw; algorithm 5 of Lyu, Su, Li",
    ),
    Entry(
        name="svt6",
        title="Sparse vector technique, algorithm 6 (no stop)",
        mechanism=svt6,
        paper=CHEN_ET_AL,
        algorithm="Algorithm 6",
        length=3,
        example=(-1, -1, 0),
        neighbour=(0, 0, -1),
        holds=False,
        truths=(
            *svt6_truths(3),
            _exact(1, "1/2", "threshold 0, queries in {-1, 0, 1}: "),
            _exact(2, "1", "threshold 0, queries in {-1, 0, 1}: "),
        ),
        counterexamples=(Counterexample((-1, -1, 0), (0, 0, -1), (BELOW, BELOW, ABOVE), "67/92"),),
        notes="threshold noise and query noise 2/epsilon; algorithm 6 of Lyu, Su, Li",
    ),
    Entry(
        name="svt-countdown",
        title="Sparse vector technique with noise from a counter that is counted down (a bug)",
        mechanism=svt_countdown,
        paper=LYU_SU_LI,
        length=10,
        example=(-1, 0, *(-1,) * 7, 0),
        neighbour=(0, -1, *(0,) * 7, -1),
        holds=False,
        truths=(
            Truth(
                Kind.UPPER,
                "fails: the loss is up to (1 + 1 + 1/2 + ... + 1/stop_after)/2 times epsilon, which is 5/4·epsilon at "
                "stop_after 2 (approached as the number of queries grows)",
                factor=Fraction(5, 4),
            ),
        ),
        notes="algorithm 1 of the paper with the scale 4·remaining/epsilon computed inside the loop; a planted "
        "violation, right with stop_after 1",
    ),
    Entry(
        name="numerical-svt",
        title="Numerical sparse vector technique",
        mechanism=numerical_svt,
        paper=WANG_ET_AL,
        length=5,
        example=_RISING,
        neighbour=_FALLING,
        holds=True,
        truths=(Truth(Kind.HOLDS, "holds (figure 10)", WANG_ET_AL),),
        notes="threshold noise 3/epsilon, test noise 6·stop_after/epsilon, answer noise 3·stop_after/epsilon",
    ),
)
