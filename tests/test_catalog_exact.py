"""The sampling reading of catalogue entries against exact output probabilities, worked out by hand.

False alarms: each of the fewer than 50 values fails by chance with a probability of at most `ALPHA`.
Power: 1 % beside a probability of 0.3 is found (`test_a_wrong_probability_is_told_apart`).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from dpverdict.catalog import find
from plain_runs import Setting, tail_bound, traced_runs

ALPHA = 1e-9
RUNS = 2_000_000
STOP_TWICE: dict[str, object] = {"stop_after": 2}
BELOW, ABOVE = False, True


def _e(power: float) -> float:
    """exp(power · ε) at ε = 1."""
    return math.exp(power)


SVT1_RISING = (
    13 / 120 * _e(-1 / 2)
    - 17 / 192 * _e(-3 / 4)
    + (_e(-1) + _e(-5 / 4)) / 120
    - _e(-3 / 2) / 560
    + _e(-7 / 4) / 960
    - _e(-2) / 3360
)
SVT2_MIDDLE = 1 / 3 * _e(-1 / 8) - 3 / 8 * _e(-1 / 4) + 53 / 288 * _e(-3 / 8) - _e(-1 / 2) / 24 + _e(-5 / 8) / 288
MAXIMUM_OF_FIVE = (
    5 / 12 * _e(-1 / 2)
    - 1 / 6 * _e(-1)
    - 7 / 192 * _e(-3 / 2)
    - 7 / 480 * _e(-2)
    + 1 / 960 * _e(-3)
    - 1 / 32 * (_e(-1) + _e(-3 / 2))
)

SVT3_LOW = (
    _e(-1 / 4) / 4
    + 767 / 672 * _e(-1 / 2)
    - 61 / 48 * _e(-3 / 4)
    - _e(-1) / 8
    + _e(-5 / 4) / 192
    - _e(-1 / 2) / 4
    - 3 / 16 * _e(-3 / 4)
)


def _polynomial(terms: dict[int, int]) -> float:
    """The sum of count · exp(-quarters · ε/4) at ε = 1."""
    return sum(count * _e(-quarters / 4) for quarters, count in terms.items())


DISCRETE = _polynomial({2: 1, 3: 1, 4: 3, 5: 3, 6: 5, 7: 5, 8: 4, 9: 2, 10: 1}) / _polynomial(
    dict(enumerate((1, 4, 10, 19, 29, 37, 40, 37, 29, 19, 10, 4, 1)))
)

EXACT: list[tuple[str, Any, dict[str, object], tuple[Any, ...], float, float]] = [
    # name, input, arguments, output, its probability at ε = 1 as an expression, and as digits
    ("svt1", (1, 1, 1), {}, (BELOW,) * 3, 23 / 80 * _e(-1 / 2) - _e(-3 / 4) / 10, 0.127140909393280638572287711216),
    (
        "svt1",
        (-1, 1, 0),
        {},
        (BELOW, ABOVE),
        1 - 4 / 3 * _e(-1 / 4) + 7 / 12 * _e(-1 / 2) - _e(-1) / 24,
        0.300080197355019576042175882350,
    ),
    ("svt1", (0,), {}, (ABOVE,), 1 / 2, 0.5),
    ("svt1", (0, 1, -1, 1, 0), {}, (*(BELOW,) * 4, ABOVE), SVT1_RISING, 0.0290788577136255252707959724487),
    (
        "svt1",
        (-1, 0, 1),
        STOP_TWICE,
        (BELOW, ABOVE, BELOW),
        29 / 120 * _e(-1 / 8) - _e(-1 / 4) / 8 - _e(-5 / 8) / 120 + _e(-3 / 4) / 120,
        0.115395862942535151038214518266,
    ),
    (
        "svt1",
        (0, 1, 0),
        {"threshold": 1},
        (BELOW, BELOW, ABOVE),
        11 / 48 * _e(-1 / 4) - 13 / 80 * _e(-1 / 2) + 3 / 80 * _e(-3 / 4),
        0.0976276929783487358215775074068,
    ),
    (
        "svt2",
        (0, 1, 0),
        STOP_TWICE,
        (ABOVE, BELOW, ABOVE),
        11 / 96 * _e(-1 / 8) - _e(-3 / 8) / 96,
        0.0939601734337455961767563670456,
    ),
    ("svt2", (-1, 0, 1), STOP_TWICE, (BELOW, ABOVE, BELOW), SVT2_MIDDLE, 0.105182095014924821479715308956),
    (
        "svt2",
        (1, -1, 1, 0),
        STOP_TWICE,
        (BELOW, ABOVE, BELOW, ABOVE),
        11 / 192 * _e(-3 / 8) - 17 / 1152 * _e(-5 / 8) + _e(-7 / 8) / 1152,
        0.0318389844922394439178004070570,
    ),
    (
        "svt4",
        (-1, 0),
        {},
        (BELOW, ABOVE),
        1 / 2 - 9 / 16 * _e(-1 / 4) + 13 / 56 * _e(-3 / 4) - 9 / 112 * _e(-1),
        0.142019339885936560640926514049,
    ),
    ("svt5", (-1, -1), {}, (BELOW, ABOVE), 0.0, 0.0),
    ("svt5", (1, -1, 0), {}, (ABOVE, BELOW, BELOW), 1 / 2 - _e(-1 / 2) / 2, 0.196734670143683288198100232504),
    (
        "svt6",
        (0, 0, -1),
        {},
        (BELOW, BELOW, ABOVE),
        17 / 192 * _e(-1 / 2) - _e(-3 / 2) / 192,
        0.0525410992446163456892255813754,
    ),
    ("noisy-maximum", (0, 1), {}, (0,), 5 / 8 * _e(-1 / 2), 0.379081662320395889752374709369),
    (
        "noisy-maximum",
        (-1, 0, 1),
        {},
        (1,),
        5 / 8 * _e(-1 / 2) - _e(-1) / 4 + _e(-3 / 2) / 12,
        0.305705982039904461764600472726,
    ),
    (
        "noisy-maximum",
        (0, 0, 0, 1),
        {},
        (3,),
        1 - 57 / 64 * _e(-1 / 2) - _e(-1) / 4 + _e(-3 / 2) / 64,
        0.371325179652894492781067603964,
    ),
    ("noisy-maximum", (1, -1, 0, 1, 0), {}, (2,), MAXIMUM_OF_FIVE, 0.162882086204048620535594183909),
    (
        "noisy-maximum-exponential",
        (-1, 0, 1),
        {},
        (1,),
        _e(-1 / 2) / 2 - _e(-3 / 2) / 6,
        0.266076969831578406979686355702,
    ),
    (
        "noisy-maximum-exponential",
        (1, -1, 0, 1, 0),
        {},
        (2,),
        _e(-1 / 2) / 3 - (_e(-1) + _e(-3 / 2)) / 12 + _e(-2) / 30,
        0.157437262568775551720332808086,
    ),
    ("randomised-response", (0, 1), {}, (False, False), _e(-1) / (1 + _e(-1)) ** 2, 0.196611933241481852537424733586),
    ("randomised-response", (1, 0, 1), {}, (True,) * 3, _e(-1) / (1 + _e(-1)) ** 3, 0.143734840457215130989952173892),
    # Discretised outputs: a released value is the first of the edges that it does not exceed, or the last.
    (
        "dipc-svt3",
        (1, 0, -1),
        {},
        (BELOW, BELOW, 1),
        11 / 96 * _e(-1 / 2) - _e(-1) / 48 + _e(-5 / 4) / 240,
        0.0630279197212516568393823074504,
    ),
    ("dipc-svt3", (0, 0, 0), {}, (BELOW,) * 3, 3 / 16, 0.1875),
    ("dipc-svt3-five", (1, 1, 1, 1, 0), {}, (*(BELOW,) * 4, 0), _e(-1) / 1344, 0.000273719822300180298806193281370),
    ("dipc-svt3-five", (-1,) * 5, {}, (*(BELOW,) * 4, 0), SVT3_LOW, 0.00198224519089067849061310816574),
    (
        "dipc-svt3-five",
        (-1, 0),
        {},
        (BELOW, 1),
        5 / 12 - 5 / 16 * _e(-1 / 4) + _e(-1 / 2) / 12,
        0.223835643599572097307034252819,
    ),
    ("dipc-svt3-as-printed", (-1,) * 3, {}, (BELOW, BELOW, -1), _e(-1 / 2) / 192, 0.00315901385266996574793645591141),
    ("dipc-svt3-as-printed", (0,) * 3, {}, (BELOW, BELOW, -1), _e(-2) / 192, 0.000704871266862567),
    ("dipc-nmax3", (-1,), {}, (0,), 1 / 2 - _e(-1 / 2) / 2, 0.196734670143683288198100232504),
    ("dipc-nmax4", (-1,), {}, (0,), 1 - _e(-1 / 2), 0.393469340287366576396200465009),
    ("dipc-nmax4", (0,), {}, (0,), 0.0, 0.0),
    (
        "dipc-hist1",
        (0, 1),
        {},
        (0, 1),
        1 / 2 - 3 / 4 * _e(-1) + _e(-2) / 4,
        0.257924239930571431776857046122,
    ),
    ("dipc-hist2", (-1,), {}, (-1,), 1 / 2, 0.5),
    (
        "dipc-sparse-twice",
        (0, 0, 1),
        {},
        (BELOW, BELOW, ABOVE),
        7 / 24 - 19 / 60 * _e(-1 / 4) + _e(-1 / 2) / 6 - _e(-3 / 4) / 24 + _e(-1) / 240,
        0.127985753286832759198892080708,
    ),
    (
        "permute-and-flip",
        (-1, 0, 1),
        {},
        (1,),
        _e(-1 / 2) / 2 - _e(-3 / 2) / 6,
        0.266076969831578406979686355702,
    ),
    ("above-threshold-discrete", (1, -1, 0), {}, (BELOW, BELOW, ABOVE), DISCRETE, 0.0932755174179125985183897042276),
    ("k-randomised-response", 2, {}, (2,), 1 / (1 + 4 * _e(-1)), 0.404609675191690),
    ("optimised-unary-encoding", 1, {"options": 2}, (BELOW, ABOVE), 1 / (1 + _e(-1)) / 2, 0.365529289315002),
    ("symmetric-unary-encoding", 1, {"options": 2}, (BELOW, ABOVE), 1 / (1 + _e(-1 / 2)) ** 2, 0.387455619000260),
]

# Real outputs: the event is a label and an interval (low, high] for every real slot.
EXACT_EVENTS: list[tuple[str, Any, tuple[Any, ...], tuple[tuple[float, float], ...], float, float]] = [
    (
        "svt3",
        (-1, -1, -1),
        (BELOW, BELOW, None),
        ((-math.inf, -1),),
        _e(-1 / 2) / 192,
        0.003159013852669965748,
    ),
    ("noisy-maximum-value", (-1,), (None,), ((-1, 0),), 1 / 2 - _e(-1 / 2) / 2, 0.196734670143683288198100232504),
    (
        "histogram",
        (0, 1),
        (None, None),
        ((-1, 0), (0, math.inf)),
        1 / 2 - 3 / 4 * _e(-1) + _e(-2) / 4,
        0.257924239930571431776857046122,
    ),
    ("laplace", 0, (None,), ((1, math.inf),), _e(-1) / 2, 0.183939720585721160797761885080),
]


def _within(hits: int, runs: int, probability: float) -> bool:
    """Whether a count fits its exact probability, at `ALPHA` (two-sided, by Hoeffding's bound)."""
    if probability == 0:
        return hits == 0
    return 2 * float(tail_bound(np.array(float(hits)), runs, probability)) > ALPHA


@pytest.mark.parametrize(("name", "given", "arguments", "output", "expression", "digits"), EXACT)
def test_sampler_meets_exact_probabilities(
    name: str, given: Any, arguments: Any, output: tuple[Any, ...], expression: float, digits: float
) -> None:
    assert expression == pytest.approx(digits, abs=1e-14)
    observed = traced_runs(find(name).mechanism, Setting(given, 1.0, arguments), RUNS, seed=7)
    hits = observed.counts.get((tuple(map(type, output)), output), 0)
    assert _within(hits, RUNS, digits), (hits / RUNS, digits)


@pytest.mark.parametrize(("name", "given", "values", "intervals", "expression", "digits"), EXACT_EVENTS)
def test_sampler_meets_exact_probabilities_of_intervals(
    name: str, given: Any, values: Any, intervals: Any, expression: float, digits: float
) -> None:
    assert expression == pytest.approx(digits, abs=1e-14)
    observed = traced_runs(find(name).mechanism, Setting(given, 1.0), RUNS, seed=7)
    label = (tuple(float if value is None else type(value) for value in values), values)
    parts = zip(*observed.reals[label], strict=True)
    hits = sum(
        int(np.all([(low < x) & (x <= high) for x, (low, high) in zip(columns, intervals, strict=True)], axis=0).sum())
        for columns in parts
    )
    assert _within(hits, RUNS, digits), (hits / RUNS, digits)


def test_a_wrong_probability_is_told_apart() -> None:
    """Negative control: 1 % beside the truth is found in 2 million runs."""
    observed = traced_runs(find("svt1").mechanism, Setting((-1, 1, 0), 1.0), RUNS, seed=7)
    hits = observed.counts[((bool, bool), (BELOW, ABOVE))]
    assert not _within(hits, RUNS, 0.300080197355019576 * 1.01)
