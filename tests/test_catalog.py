"""The catalogue: complete entries, right hashes, and the traced form of every entry against its plain form.

False alarms: each agreement case fails by chance with a probability of at most `ALPHA`; there are fewer than 700, so
the whole file fails by chance for less than one seed in 10^6.  Power: a share of 0.5 is told apart from 0.55 in the
small cases (8,000 plain runs) and from 0.52 in the large ones; noise that is 10 % too small is found in the large
cases (`test_ten_percent_less_noise_is_told_apart`).  The papers' entries, whose functions have cases of their own
among what is in use, are compared on their own example and parameters only (5,000 plain runs).
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpverdict.catalog import Entry, entries, find
from dpverdict.catalog.entry import Kind
from dpverdict.catalog.rappor import bloom_filter, murmur3_32
from dpverdict.claim import Proportional, Pure, ZeroConcentrated, from_arguments
from dpverdict.errors import InputError, TargetError, UntraceableError
from dpverdict.mechanism import Mechanism
from dpverdict.mechanism.black_box import FunctionBox
from dpverdict.target import load
from plain_runs import (
    Observed,
    Setting,
    kolmogorov_bound,
    p_value,
    plain_runs,
    tail_bound,
    traced_runs,
)

ALPHA = 1e-9
NAMES = [entry.name for entry in entries()]
BIBLIOGRAPHY = Path(__file__).parents[1] / "docs" / "references.bib"

# --- the entries -----------------------------------------------------------------------------------------------


EVERY = pytest.mark.parametrize("entry", entries(), ids=NAMES)


@EVERY
def test_entries_are_complete(entry: Entry) -> None:
    assert all(text.strip() for text in (entry.name, entry.title, entry.paper.readable, entry.promise.text))
    assert entry.truths
    assert all(truth.sentence.strip() for truth in entry.truths)
    assert bool(entry.algorithm) or not entry.group
    assert bool(entry.why_black_box) == isinstance(entry.mechanism, FunctionBox)
    json.dumps([entry.example, entry.neighbour])


@EVERY
def test_claims_build_and_are_about_the_example(entry: Entry) -> None:
    claim = entry.claim()
    assert claim.why_not_about(entry.example, entry.neighbour) is None
    assert entry.example != entry.neighbour
    assert claim.epsilon_range.only == entry.at
    assert entry.vector == isinstance(entry.example, tuple)
    assert entry.mechanism.epsilon_name is not None or entry.promise.power == 0
    # Later commands are given the claim in words.
    assert from_arguments(**claim.arguments()) == claim


@pytest.mark.parametrize(
    ("name", "text", "guarantee"),
    [
        ("laplace", "pure:epsilon", Proportional()),
        ("gaussian", "approximate:epsilon,1e-5", Proportional(Fraction(1), Fraction(1, 100_000))),
        ("rappor", "pure:0.4", Pure(Fraction(2, 5))),
        ("discrete-gaussian", "zcdp:1/2*epsilon^2", ZeroConcentrated(Fraction(1, 2))),
        ("dipc-sparse", "approximate:1/2*epsilon,exp(-1/32)", Proportional(Fraction(1, 2), Fraction("0.96924"))),
        ("sniper-svt1", "pure:epsilon", Proportional()),
    ],
)
def test_promises(name: str, text: str, guarantee: object) -> None:
    entry = find(name)
    assert (entry.promise.text, entry.claim().guarantee) == (text, guarantee)


def test_a_delta_is_rounded_upwards() -> None:
    for name, exponent in (("dipc-sparse", -1 / 32), ("dipc-sparse-twice", -2)):
        assert math.exp(exponent) < find(name).promise.delta < math.exp(exponent) + 1e-5


@EVERY
def test_truths_fit_each_other(entry: Entry) -> None:
    """What is said about the claim itself agrees with `holds`, and a number comes with the kinds that need one."""
    for truth in entry.truths:
        number = truth.at(entry.at or 1)
        assert number is not None or truth.loss or truth.kind in (Kind.HOLDS, Kind.FAILS), truth
        assert (number == math.inf) == (truth.kind is Kind.NOT_PRIVATE)
        if not truth.about:
            assert entry.holds != {Kind.HOLDS: False, Kind.FAILS: True, Kind.NOT_PRIVATE: True}.get(truth.kind)
            if truth.kind is Kind.EXACT and number is not None and entry.promise.kind == "pure":
                promised = entry.promise.coefficient * (entry.at or 1) ** entry.promise.power
                assert entry.holds == (Fraction(number).limit_denominator(10**9) <= promised)
            if truth.kind is Kind.UPPER and number is not None:
                assert entry.holds or number > (entry.at or 1)


@EVERY
def test_counterexamples_are_neighbours(entry: Entry) -> None:
    """Of a length of their own: a shorter counterexample is a smaller one."""
    for found in entry.counterexamples:
        length = {"length": str(len(found.input))} if isinstance(found.input, tuple) else {}
        claim = from_arguments(factor=1, domain=entry.domain, adjacency=entry.adjacency, **length)
        assert claim.why_not_about(found.input, found.neighbour) is None
        assert Fraction(found.epsilon) > 0


MISSES = {"sniper-rappor": {0.3008}, "sniper-noisy-hist2": {10.002}, "sniper-svt4": {0.1719}}
"""Certified at 90 % confidence, and above the exact loss all the same."""


@EVERY
def test_published_bounds_do_not_exceed_the_truth(entry: Entry) -> None:
    """But for the known misses they are below the exact loss over the pairs that were tried."""
    exact = [truth.at(entry.at) for truth in entry.truths if truth.kind in (Kind.EXACT, Kind.UPPER)]
    bounds = [result.lower_bound for result in entry.published if result.lower_bound is not None]
    above = {bound for bound in bounds for most in exact if most is not None and bound > most}
    assert above == MISSES.get(entry.name, set())
    assert all(result.verdict or result.lower_bound is not None or result.note for result in entry.published)


def test_names_are_unique_and_look_alike() -> None:
    assert len(set(NAMES)) == len(NAMES)
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) for name in NAMES)
    own = [entry for entry in entries() if not entry.group]
    assert all(entry.mechanism.name.replace("_", "-") == entry.name for entry in own)


def test_what_has_to_be_there() -> None:
    wanted = {"laplace", "gaussian", "randomised-response", "noisy-maximum", "noisy-maximum-value", "histogram"}
    wanted |= {"rappor", "numerical-svt", "svt-countdown"} | {f"svt{number}" for number in range(1, 7)}
    assert wanted <= set(NAMES)
    groups = Counter(entry.group for entry in entries())
    assert len(NAMES) >= 64
    algorithms = {(entry.group, entry.algorithm) for entry in entries() if entry.group}
    assert Counter(group for group, _ in algorithms) == {"StatDP": 11, "DP-Sniper": 20, "DP-Finder": 9, "DiPC": 15}
    assert all(groups[group] >= count for group, count in Counter(group for group, _ in algorithms).items())


@EVERY
def test_citations_are_in_the_bibliography(entry: Entry) -> None:
    bibliography = BIBLIOGRAPHY.read_text(encoding="utf-8")
    sources = [entry.paper, *(truth.source for truth in entry.truths), *(result.source for result in entry.published)]
    for paper in (*sources, *(found.source for found in entry.counterexamples)):
        if paper is not None:
            assert f"{{{paper.key}," in bibliography
            assert paper.key.lstrip("abcdefghijklmnopqrstuvwxyz")[:4] in paper.readable
            assert f"[{paper.key}]" in str(paper)


def test_the_papers_arguments_are_defaults() -> None:
    entry = find("sniper-svt1")
    assert isinstance(entry.mechanism, Mechanism)
    assert entry.arguments == {"threshold": 0.5}
    assert entry.mechanism.arguments({}) == {"threshold": 0.5, "stop_after": 1}
    assert entry.mechanism.arguments({"threshold": 2}) == {"threshold": 2, "stop_after": 1}
    plain = find("svt1").mechanism
    assert isinstance(plain, Mechanism)
    assert entry.mechanism.program_for([0, 1]) == plain.program_for([0, 1], {"threshold": 0.5})
    assert plain.arguments({})["threshold"] == 0
    far = entry.mechanism.with_arguments({"threshold": 1e9})
    assert far(np.random.default_rng(1), [0, 1], 1.0) == [False, False]
    assert far(np.random.default_rng(1), [0, 1], 1.0, -1e9) == [True]
    assert far(np.random.default_rng(1), [0, 1], epsilon=1.0, threshold=-1e9) == [True]
    assert far.black_box(epsilon=1.0).given == {"epsilon": 1.0, "threshold": 1e9, "stop_after": 1}
    with pytest.raises(InputError, match="treshold"):
        plain.with_arguments({"treshold": 1})


@pytest.mark.parametrize("name", ["noisy-maximum", "noisy_maximum", "Noisy_Maximum", " noisy-maximum "])
def test_find_takes_hyphens_and_underscores(name: str) -> None:
    assert find(name).name == "noisy-maximum"


def test_find_suggests() -> None:
    with pytest.raises(TargetError, match="'noisy_maximun'") as caught:
        find("noisy_maximun")
    assert caught.value.fix.startswith("catalog:noisy-maximum")
    with pytest.raises(TargetError) as caught:
        find("zzzzzz")
    assert caught.value.fix == "dpverdict catalog"


# --- RAPPOR's hash ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "seed", "unsigned"),
    [
        (b"", 0, 0),
        (b"", 1, 0x514E28B7),
        (b"", 0xFFFFFFFF, 0x81F16F39),
        (b"\xff\xff\xff\xff", 0, 0x76293B50),
        (b"test", 0, 0xBA6BD213),
        (b"Hello, world!", 0, 0xC0363E43),
        (b"foo", 0, -156908512 % 2**32),
        (b"foo", 42, -1322301282 % 2**32),
    ],
)
def test_murmur3(data: bytes, seed: int, unsigned: int) -> None:
    hashed = murmur3_32(data, seed)
    assert hashed % 2**32 == unsigned
    assert -(2**31) <= hashed < 2**31


@pytest.mark.parametrize(
    ("value", "bits"), [(0, {0, 11, 18}), (1, {3, 10, 13}), (3, {0, 3, 14, 19}), (4, {7, 8, 9, 18})]
)
def test_rappor_hashes_to_the_published_bits(value: int, bits: set[int]) -> None:
    assert {position for position, bit in enumerate(bloom_filter(value, 20, 4)) if bit} == bits


# --- traced against plain --------------------------------------------------------------------------------------

SMALL, LARGE = 8_000, 40_000
EPSILONS = (0.3, 1.0, 3.0)
VECTORS = [(0, 0, 0), (1, 1, 1, 1), (2, -1, 0.5, 1)]
BITS = [(0, 0), (1, 1, 1), (0, 1, 1, 0)]
TWICE: dict[str, object] = {"threshold": 1, "stop_after": 2}
STOP_TWICE: dict[str, object] = {"stop_after": 2}


def _settings(entry: Entry) -> list[tuple[Any, dict[str, object]]]:
    """Inputs and arguments to compare on."""
    match entry.name:
        case "laplace" | "gaussian" | "analytic-gaussian" | "staircase" | "uniform":
            return [(0, {}), (1, {}), (-2.25, {})]
        case "geometric" | "discrete-gaussian":
            return [(0, {}), (1, {}), (-3, {})]
        case "truncated-geometric":
            return [(0, {}), (2, {}), (5, {})]
        case "rappor" | "one-time-rappor":
            return [(0, {}), (1, {})]
        case "k-randomised-response" | "symmetric-unary-encoding" | "optimised-unary-encoding":
            return [(0, {}), (1, {"options": 2}), (4, {})]
        case "above-threshold-discrete":
            return [((0, 0, 0), {}), ((1, 1, 1, 1), {"threshold": 1}), ((2, -1, 1), {})]
        case "histogram" | "noisy-maximum-value" | "noisy-maximum-exponential-value":
            return [(VECTORS[0], {}), (VECTORS[1], {"edges": (-1, 0, 1)}), (VECTORS[2], {})]
        case "randomised-response" | "linear-response":
            return [(bits, {}) for bits in BITS]
        case "permute-and-flip":
            return [((0, 0), {}), ((1, 0, -1), {})]
        case "svt1" | "svt2" | "svt3" | "svt4" | "numerical-svt":
            return [(VECTORS[0], {}), (VECTORS[1], TWICE), (VECTORS[2], {"threshold": 0.5}), (VECTORS[2], STOP_TWICE)]
        case "svt-countdown":
            return [(VECTORS[0], {}), (VECTORS[1], {"threshold": 1, "stop_after": 3}), (VECTORS[2], {})]
        case "svt5" | "svt6":
            return [(VECTORS[0], {}), (VECTORS[1], {"threshold": 1}), (VECTORS[2], {"threshold": 0.5})]
        case _:
            return [(vector, {}) for vector in VECTORS]


def _sizes(entry: Entry, large: bool) -> tuple[int, int]:
    """How many plain runs, and how many times more traced ones: twenty bits rarely come out alike twice."""
    if "rappor" in entry.name:
        return (20_000, 3) if large else (5_000, 3)
    return (LARGE, 10) if large else (SMALL, 10)


TRACED = [entry for entry in entries() if isinstance(entry.mechanism, Mechanism)]
OWN = [entry for entry in TRACED if not entry.group]
PAPERS = [entry for entry in TRACED if entry.group]


def _agree(entry: Entry, setting: Setting, sizes: tuple[int, int], seed: int) -> None:
    assert isinstance(entry.mechanism, Mechanism)
    runs, times = sizes
    plain = plain_runs(entry.mechanism, setting, runs, seed=seed)
    traced = traced_runs(entry.mechanism, setting, times * runs, seed=seed)
    assert (plain.runs, traced.runs) == (runs, times * runs)
    assert p_value(plain, traced) > ALPHA, (entry.name, setting)


@pytest.mark.parametrize("entry", OWN, ids=lambda entry: entry.name)
def test_traced_and_plain_forms_agree(entry: Entry) -> None:
    """One test at `ALPHA` for each input and ε; the last input at ε = 1 with `LARGE` runs."""
    settings = _settings(entry)
    epsilons: tuple[float | None, ...] = EPSILONS if entry.mechanism.epsilon_name else (None,)
    if entry.epsilon == "0,1":  # above 1 linear-response is none
        epsilons = (0.3, 1.0)
    for number, (given, arguments) in enumerate(settings):
        for epsilon in epsilons:
            large = number == len(settings) - 1 and epsilon in (1.0, None)
            _agree(entry, Setting(given, epsilon, arguments), _sizes(entry, large), number)


@pytest.mark.parametrize("entry", PAPERS, ids=lambda entry: entry.name)
def test_the_papers_entries_agree_as_well(entry: Entry) -> None:
    """At the paper's ε, or 0.8 where it has none."""
    epsilon = float(entry.at or 0.8) if entry.mechanism.epsilon_name else None
    for number, given in enumerate((entry.example, entry.neighbour)):
        _agree(entry, Setting(given, epsilon), (5_000, 4), number)


BOXES = [entry for entry in entries() if not isinstance(entry.mechanism, Mechanism)]


@pytest.mark.parametrize("entry", BOXES, ids=lambda entry: entry.name)
def test_black_boxes_run(entry: Entry) -> None:
    """They cannot be looked into, run as arrays, and show the same noise around each input."""
    box = entry.mechanism
    assert isinstance(box, FunctionBox)
    assert box.vectorised
    with pytest.raises(UntraceableError, match=entry.name):
        load(f"catalog:{entry.name}")
    for given in (entry.example, entry.neighbour):
        outcomes = box.with_arguments(None, epsilon=0.1).run(given, 20_000, np.random.default_rng(3))
        values = np.array(outcomes)
        assert values.shape == (20_000,)
        assert values.dtype == np.float64
        # Laplace noise of scale 10 within ±8, which snapping rounds to 0; Hoeffding: 0.03 aside, a chance below 1e-15.
        near = np.abs(values) < 8
        probability = 1 - (math.exp(-(8 - given) / 10) + math.exp(-(8 + given) / 10)) / 2
        assert abs(float(np.mean(near)) - probability) < 0.03
        assert abs(float(np.mean(near)) - (1 - math.exp(-1))) > 0.03  # scale 8


def test_snapping_returns_what_its_input_does_not_show() -> None:
    box = find("snapping").mechanism
    assert isinstance(box, FunctionBox)
    outputs = [
        np.array(box.with_arguments({"epsilon": 0.1}).run(given, 20_000, np.random.default_rng(3)))
        for given in (0.1, 0.7)
    ]
    assert all(np.all(values % 16 == 0) for values in outputs)
    assert not any(np.any(np.signbit(values) & (values == 0)) for values in outputs)
    clamped = np.array(box.with_arguments({"epsilon": 0.1, "bound": 8}).run(1e9, 1_000, np.random.default_rng(3)))
    assert np.all(np.abs(clamped) <= 8)
    # The floating-point Laplace mechanism, on the other hand, has outputs that only one input can give.
    leaking = find("laplace-floating-point").mechanism
    assert isinstance(leaking, FunctionBox)
    noisy = np.array(leaking.with_arguments({"epsilon": 0.1}).run(0.7, 20_000, np.random.default_rng(3)))
    assert np.all((noisy - 0.7) + 0.7 == noisy)
    assert not np.all((noisy - 0.1) + 0.1 == noisy)


@pytest.mark.parametrize(
    ("name", "given", "arguments", "epsilon"),
    [
        ("laplace", 0, {}, 1.0),
        ("geometric", 0, {}, 1.0),
        ("noisy-maximum-value", (2, -1, 0.5, 1), {}, 1.0),
        ("svt1", (2, -2, -2, -2), {}, 3.0),
        ("numerical-svt", (3, 0, 0), {"threshold": -20}, 1.0),
    ],
)
def test_ten_percent_less_noise_is_told_apart(name: str, given: Any, arguments: Any, epsilon: float) -> None:
    """Negative control of the agreement test: dividing ε by 0.9 makes every scale 10 % smaller."""
    mechanism = find(name).mechanism
    plain = plain_runs(mechanism, Setting(given, epsilon, arguments), LARGE, seed=1)
    less = traced_runs(mechanism, Setting(given, epsilon / 0.9, arguments), 10 * LARGE, seed=1)
    assert p_value(plain, less) <= ALPHA


def test_different_types_are_told_apart() -> None:
    """True and 1 are different outputs, however equal Python finds them."""
    booleans, numbers = Observed(), Observed()
    booleans.add(((bool,), (True,)), 1000, [])
    numbers.add(((int,), (1,)), 1000, [])
    assert p_value(booleans, numbers) < ALPHA
    assert p_value(booleans, booleans) == 1


def test_the_bounds_are_bounds() -> None:
    """Against exact tails of the binomial distribution, and against equal samples."""
    runs, share = 40, 0.3
    for hits in range(math.ceil(runs * share), runs + 1):
        tail = sum(math.comb(runs, k) * share**k * (1 - share) ** (runs - k) for k in range(hits, runs + 1))
        assert tail <= tail_bound(np.array(float(hits)), runs, share) * (1 + 1e-9)
    grid = np.linspace(0, 1, 1000)
    assert kolmogorov_bound(grid, grid) == 1
    assert kolmogorov_bound(grid, grid + 2) < ALPHA
