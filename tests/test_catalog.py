"""The catalogue: complete entries, right hashes, and the traced form of every entry against its plain form.

False alarms: each agreement case fails by chance with a probability of at most `ALPHA`; there are fewer than 500, so
the whole file fails by chance for less than one seed in 10^6.  Power: a share of 0.5 is told apart from 0.53 in the
small cases (20,000 plain runs) and from 0.52 in the large ones; noise that is 10 % too small is found in the large
cases (`test_ten_percent_less_noise_is_told_apart`).
"""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpverdict.catalog import Entry, entries, find
from dpverdict.catalog.rappor import bloom_filter, murmur3_32
from dpverdict.errors import TargetError
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


@pytest.mark.parametrize("entry", entries(), ids=NAMES)
def test_entries_are_complete(entry: Entry) -> None:
    texts = (entry.name, entry.title, entry.paper.readable, entry.claim, entry.truth)
    assert all(text.strip() for text in texts)
    assert re.fullmatch(r"(pure|approximate|zcdp):\S+, (linf:1|l1:1|substitute:1|any)", entry.claim)


@pytest.mark.parametrize("entry", entries(), ids=NAMES)
def test_neighbours_differ_and_fit_the_claim(entry: Entry) -> None:
    one, other = _vector(entry.example), _vector(entry.neighbour)
    assert entry.vector == isinstance(entry.example, tuple)
    distances = [abs(a - b) for a, b in zip(one, other, strict=True)]
    assert any(distances)
    neighbourhood = entry.claim.split(", ")[1]
    fits = {"linf:1": max(distances) <= 1, "l1:1": sum(distances) <= 1, "substitute:1": sum(map(bool, distances)) == 1}
    assert fits.get(neighbourhood, True)
    json.dumps([entry.example, entry.neighbour])


def _vector(example: Any) -> tuple[Any, ...]:
    return example if isinstance(example, tuple) else (example,)


def test_names_are_unique_and_look_alike() -> None:
    assert len(set(NAMES)) == len(NAMES)
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) for name in NAMES)
    assert all(find(name).mechanism.function.__name__.replace("_", "-") == name for name in NAMES)


def test_the_twelve_are_there() -> None:
    wanted = {"laplace", "gaussian", "randomised-response", "noisy-maximum", "noisy-maximum-value", "histogram"}
    wanted |= {"rappor", "numerical-svt", "svt-countdown"} | {f"svt{number}" for number in range(1, 7)}
    assert wanted <= set(NAMES)


@pytest.mark.parametrize("entry", entries(), ids=NAMES)
def test_citations_are_in_the_bibliography(entry: Entry) -> None:
    bibliography = BIBLIOGRAPHY.read_text(encoding="utf-8")
    assert f"{{{entry.paper.key}," in bibliography
    year = entry.paper.key.lstrip("abcdefghijklmnopqrstuvwxyz")[:4]
    assert year in entry.paper.readable
    assert f"[{entry.paper.key}]" in str(entry.paper)


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

SMALL, LARGE = 20_000, 60_000
EPSILONS = (0.3, 1.0, 3.0)
VECTORS = [(0, 0, 0), (1, 1, 1, 1), (2, -1, 0.5, 1)]
BITS = [(0, 0), (1, 1, 1), (0, 1, 1, 0)]
TWICE: dict[str, object] = {"threshold": 1, "stop_after": 2}
STOP_TWICE: dict[str, object] = {"stop_after": 2}


def _settings(entry: Entry) -> list[tuple[Any, dict[str, object]]]:
    """Inputs and arguments to compare on."""
    match entry.name:
        case "laplace" | "gaussian" | "uniform":
            return [(0, {}), (1, {}), (-2.25, {})]
        case "geometric" | "discrete-gaussian":
            return [(0, {}), (1, {}), (-3, {})]
        case "truncated-geometric":
            return [(0, {}), (2, {}), (5, {})]
        case "rappor" | "one-time-rappor":
            return [(0, {}), (1, {})]
        case "randomised-response":
            return [(bits, {}) for bits in BITS]
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
        return (40_000, 3) if large else (10_000, 3)
    return (LARGE, 10) if large else (SMALL, 10)


@pytest.mark.parametrize("entry", entries(), ids=NAMES)
def test_traced_and_plain_forms_agree(entry: Entry) -> None:
    """One test at `ALPHA` for each input and ε; the last input at ε = 1 with `LARGE` runs."""
    settings = _settings(entry)
    epsilons = EPSILONS if entry.mechanism.epsilon_name else (None,)
    for number, (given, arguments) in enumerate(settings):
        for epsilon in epsilons:
            setting = Setting(given, epsilon, arguments)
            large = number == len(settings) - 1 and epsilon in (1.0, None)
            runs, times = _sizes(entry, large)
            plain = plain_runs(entry.mechanism, setting, runs, seed=number)
            traced = traced_runs(entry.mechanism, setting, times * runs, seed=number)
            assert (plain.runs, traced.runs) == (runs, times * runs)
            assert p_value(plain, traced) > ALPHA, (entry.name, setting)


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
