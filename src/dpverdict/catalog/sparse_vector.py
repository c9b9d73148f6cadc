"""The sparse vector technique: which queries lie above a threshold.  Right and wrong variants.

SVT1 to SVT6 are algorithms 1 to 6 of Lyu, Su and Li (2017), for queries of sensitivity 1.
"""

from __future__ import annotations

from typing import Any

from dpverdict.catalog.citations import LYU_SU_LI, WANG_ET_AL
from dpverdict.catalog.entry import Entry
from dpverdict.mechanism import mechanism
from dpverdict.mechanism.noise import Noise


@mechanism
def svt1(noise: Noise, queries: Any, epsilon: Any, threshold: Any = 0, stop_after: int = 1) -> list[Any]:
    """Lyu, Su and Li's own algorithm: one noisy threshold, query noise that grows with the number of hits."""
    limit = noise.laplace(threshold, scale=2 / epsilon)
    scale, hits, answers = 4 * stop_after / epsilon, 0, []
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
    limit = noise.laplace(threshold, scale=2 * stop_after / epsilon)
    scale, hits, answers = 4 * stop_after / epsilon, 0, []
    for query in queries:
        above = noise.laplace(query, scale=scale) >= limit
        answers.append(above)
        if above:
            hits += 1
            if hits >= stop_after:
                break
            limit = noise.laplace(threshold, scale=2 * stop_after / epsilon)
    return answers


@mechanism
def svt3(noise: Noise, queries: Any, epsilon: Any, threshold: Any = 0, stop_after: int = 1) -> list[Any]:
    """Roth's lecture notes: a hit releases the very noisy answer that was compared.  Not private."""
    limit = noise.laplace(threshold, scale=2 / epsilon)
    scale, hits, answers = 2 * stop_after / epsilon, 0, []
    for query in queries:
        noisy = noise.laplace(query, scale=scale)
        if noisy >= limit:
            answers.append(noisy)
            hits += 1
            if hits >= stop_after:
                break
        else:
            answers.append(False)
    return answers


@mechanism
def svt4(noise: Noise, queries: Any, epsilon: Any, threshold: Any = 0, stop_after: int = 1) -> list[Any]:
    """Lee and Clifton's algorithm: query noise that is too small.  Less private than claimed."""
    limit = noise.laplace(threshold, scale=4 / epsilon)
    scale, hits, answers = 4 / (3 * epsilon), 0, []
    for query in queries:
        above = noise.laplace(query, scale=scale) >= limit
        answers.append(above)
        hits += above
        if hits >= stop_after:
            break
    return answers


@mechanism
def svt5(noise: Noise, queries: Any, epsilon: Any, threshold: Any = 0) -> list[Any]:
    """Stoddard, Chen and Machanavajjhala's algorithm: no query noise, no stop.  Not private."""
    limit = noise.laplace(threshold, scale=2 / epsilon)
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


_RISING = (0, 0, 0, 1, 1)
_FALLING = (1, 1, 1, 0, 0)

ENTRIES = (
    Entry(
        name="svt1",
        title="Sparse vector technique, algorithm 1 (correct)",
        mechanism=svt1,
        paper=LYU_SU_LI,
        claim="pure:epsilon, linf:1",
        truth="holds (Lyu, Su, Li 2017). With threshold 0, stop_after 1 and queries in {-1, 0, 1} the exact "
        "loss is 1/4, 3/4 and 1 times epsilon for 1, 3 and 4 queries",
        vector=True,
        example=_RISING,
        neighbour=_FALLING,
        published="DP-Sniper, epsilon = 0.1, threshold 0.5, ten queries: at least 0.0858 (over its pairs exactly "
        "0.0878); StatDP-Fixed: 0.0298, with a claim of 0.216; DiPC proves it for up to 4 queries",
        notes="threshold noise 2/epsilon, query noise 4·stop_after/epsilon",
    ),
    Entry(
        name="svt2",
        title="Sparse vector technique, algorithm 2 (correct, fresh thresholds)",
        mechanism=svt2,
        paper=LYU_SU_LI,
        claim="pure:epsilon, linf:1",
        truth="holds (Dwork, Roth 2014, section 3.6). With threshold 0, stop_after 2 and 3 queries in {-1, 0, 1} the "
        "exact loss is 3/8 of epsilon",
        vector=True,
        example=_RISING,
        neighbour=_FALLING,
        published="DP-Sniper, epsilon = 0.1, threshold 1, ten queries: at least 0.0859; StatDP-Fixed: 0.0407; DiPC "
        "proves it for 3 queries",
        notes="threshold noise 2·stop_after/epsilon, drawn again after every hit; query noise 4·stop_after/epsilon",
    ),
    Entry(
        name="svt3",
        title="Sparse vector technique, algorithm 3 (releases the compared answer)",
        mechanism=svt3,
        paper=LYU_SU_LI,
        claim="pure:epsilon, linf:1",
        truth="fails for every epsilon when the number of queries is free (Lyu, Su, Li 2017). Three queries "
        "violate epsilon = 1/4: (-1, -1, -1) against (0, 0, 0), twice below and then a value of at most -1 "
        "(probability 0.0046 against 0.0032)",
        vector=True,
        example=(-1, -1, -1),
        neighbour=(0, 0, 0),
        published="DP-Sniper, epsilon = 0.1: at least 0.1822; StatDP-Fixed: 0.1793, with a claim of 1.21; DiPC refutes "
        "a variant with query noise 4·stop_after/epsilon from 5 queries on",
        notes="threshold noise 2/epsilon, query noise 2·stop_after/epsilon, as in the paper",
    ),
    Entry(
        name="svt4",
        title="Sparse vector technique, algorithm 4 (too little query noise)",
        mechanism=svt4,
        paper=LYU_SU_LI,
        claim="pure:epsilon, linf:1",
        truth="fails: it is (1 + 6·stop_after)/4·epsilon private (Lyu, Su, Li 2017), and (0, 0, 0) against (1, 1, -1) "
        "shows more than 3/2·epsilon at epsilon = 1/2 in the output below, below, above (probability 0.0446 "
        "against 0.0209)",
        vector=True,
        example=(0, 0, 0),
        neighbour=(1, 1, -1),
        published="DP-Sniper, epsilon = 0.1, threshold 1, ten queries: at least 0.1696 (exact over its pairs 0.1717); "
        "StatDP-Fixed: 0.1719, with a claim of 0.191; DiPC refutes it with 2 queries",
        notes="threshold noise 4/epsilon, query noise 4/(3·epsilon) whatever stop_after is",
    ),
    Entry(
        name="svt5",
        title="Sparse vector technique, algorithm 5 (no query noise)",
        mechanism=svt5,
        paper=LYU_SU_LI,
        claim="pure:epsilon, linf:1",
        truth="fails for every epsilon: (-1, 0) gives below, above with probability 1/2 - exp(-epsilon/2)/2, and "
        "(-1, -1) never (Lyu, Su, Li 2017)",
        vector=True,
        example=(-1, 0),
        neighbour=(-1, -1),
        published="DP-Sniper, epsilon = 0.1: at least 1.761; StatDP-Fixed: 14.31; DiPC refutes it with 2 queries",
        notes="threshold noise 2/epsilon; all answers follow from one draw",
    ),
    Entry(
        name="svt6",
        title="Sparse vector technique, algorithm 6 (no stop)",
        mechanism=svt6,
        paper=LYU_SU_LI,
        claim="pure:epsilon, linf:1",
        truth="fails for every epsilon when the number of queries is free (Lyu, Su, Li 2017). With threshold "
        "0 and queries in {-1, 0, 1} the exact loss is 1/2 and 1 times epsilon for 1 and 2 queries; 3 violate it",
        vector=True,
        example=(-1, -1, 0),
        neighbour=(0, 0, -1),
        published="DP-Sniper, epsilon = 0.1, ten queries: at least 0.272; StatDP-Fixed: 0.322, with a claim of 0.351; "
        "DiPC refutes it with 3 queries",
        notes="threshold noise and query noise 2/epsilon",
    ),
    Entry(
        name="svt-countdown",
        title="Sparse vector technique with noise from a counter that is counted down (a bug)",
        mechanism=svt_countdown,
        paper=LYU_SU_LI,
        claim="pure:epsilon, linf:1",
        truth="fails: the loss is up to (1 + 1 + 1/2 + ... + 1/stop_after)/2 times epsilon, which is 5/4·epsilon at "
        "stop_after 2",
        vector=True,
        example=_RISING,
        neighbour=_FALLING,
        published="",
        notes="algorithm 1 of the paper with the scale 4·remaining/epsilon computed inside the loop; a planted "
        "violation, right with stop_after 1",
    ),
    Entry(
        name="numerical-svt",
        title="Numerical sparse vector technique",
        mechanism=numerical_svt,
        paper=WANG_ET_AL,
        claim="pure:epsilon, linf:1",
        truth="holds (Wang, Ding, Wang, Kifer, Zhang 2019, figure 10)",
        vector=True,
        example=_RISING,
        neighbour=_FALLING,
        published="DP-Sniper, epsilon = 0.1, stop_after 2: at least 0.0345; StatDP-Fixed fails on its mixed outputs",
        notes="threshold noise 3/epsilon, test noise 6·stop_after/epsilon, answer noise 3·stop_after/epsilon",
    ),
)
