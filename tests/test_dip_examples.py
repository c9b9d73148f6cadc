"""DiPC's fifteen algorithms as `.dip` files: against the script that writes them, Python forms, and exact values.

False alarms: each comparison of samples fails by chance with a probability of at most `ALPHA`; there are fewer than 60.
Power: `test_another_program_is_told_apart` must find a difference in noise by a factor of two.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dpverdict import argmax, discretise, maximum
from dpverdict.catalog import find
from dpverdict.mechanism import Mechanism
from dpverdict.mechanism.dip_language.program_file import mechanism_from_file
from plain_runs import Setting, p_value, plain_runs, traced_runs

ALPHA = 1e-9
FOLDER = Path(__file__).parents[1] / "examples" / "dipc"
RUNS = 400_000


def _script() -> Any:
    spec = importlib.util.spec_from_file_location("dipc_generate", FOLDER / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SCRIPT = _script()
FILES: dict[str, str] = dict(SCRIPT.files())


def load(name: str) -> Mechanism:
    return mechanism_from_file(FOLDER / f"{name}.dip")


def test_the_files_are_what_the_script_writes() -> None:
    assert {file.name for file in FOLDER.glob("*.dip")} == set(FILES)
    for name, content in FILES.items():
        assert (FOLDER / name).read_bytes() == content.encode(), name
    assert {name.rpartition("-")[0] for name in FILES if not name.endswith("c2.dip")} == set(SCRIPT.FAMILIES)
    assert len(SCRIPT.FAMILIES) == 15


@pytest.mark.parametrize("name", sorted(FILES))
def test_every_file_is_a_program_for_all_inputs(name: str) -> None:
    mechanism = load(name.removesuffix(".dip"))
    file: Any = mechanism.function
    queries = int(name.split("-")[1].removesuffix(".dip"))
    boolean = name.startswith("rand")
    assert mechanism.program_for(file.example).concrete is None
    assert file.claimed == {"domain": "boolean" if boolean else "integer:-1,1", "length": str(queries)}


# --- Python forms ----------------------------------------------------------------------------------------------

Scale = Callable[[Any], Any]


def svt(threshold: Scale, query: Scale, hits: int = 1, fresh: bool = False) -> Callable[..., Any]:
    def form(noise: Any, queries: Any, epsilon: Any) -> Any:
        limit, count, answers = noise.laplace(0, scale=threshold(epsilon)), 0, [False] * len(queries)
        for at, value in enumerate(queries):
            answers[at] = noise.laplace(value, scale=query(epsilon)) >= limit
            if answers[at]:
                count += 1
                if count >= hits:
                    break
                if fresh and at < len(queries) - 1:
                    limit = noise.laplace(0, scale=threshold(epsilon))
        return answers

    return form


def svt3(noise: Any, queries: Any, epsilon: Any) -> Any:
    limit, answers = noise.laplace(0, scale=2 / epsilon), [2] * len(queries)
    for at, value in enumerate(queries):
        noisy = noise.laplace(value, scale=4 / epsilon)
        if noisy >= limit:
            answers[at] = -1 if noisy <= -1 else 0 if noisy <= 0 else 1
            break
    return answers


def svt5(noise: Any, queries: Any, epsilon: Any) -> Any:
    limit = noise.laplace(0, scale=2 / epsilon)
    return [value >= limit for value in queries]


def svt6(noise: Any, queries: Any, epsilon: Any) -> Any:
    limit = noise.laplace(0, scale=2 / epsilon)
    return [noise.laplace(value, scale=2 / epsilon) >= limit for value in queries]


def histogram(scale: Scale) -> Callable[..., Any]:
    def form(noise: Any, queries: Any, epsilon: Any) -> Any:
        answers = []
        for value in queries:
            noisy = noise.laplace(value, scale=scale(epsilon))
            answers.append(-1 if noisy <= -1 else 0 if noisy <= 0 else 1)
        return answers

    return form


def flipped(probability: Scale) -> Callable[..., Any]:
    def form(noise: Any, queries: Any, epsilon: Any) -> Any:
        answers = []
        for value in queries:
            answers.append(value ^ True if noise.bernoulli(probability(epsilon)) else value)
        return answers

    return form


def rand1(epsilon: Any) -> Any:
    from dpverdict import exp

    return 1 / (exp(epsilon) + 1)


def nmax(one_sided: bool, by_index: bool) -> Callable[..., Any]:
    def form(noise: Any, queries: Any, epsilon: Any) -> Any:
        if one_sided:
            noisy = [noise.exponential(2 / epsilon, loc=value) for value in queries]
        else:
            noisy = [noise.laplace(value, scale=2 / epsilon) for value in queries]
        return argmax(noisy) if by_index else discretise(maximum(noisy), [-1, 0, 1])

    return form


SAME: dict[str, Callable[..., Any]] = {
    "svt1": svt(lambda e: 2 / e, lambda e: 4 / e),
    "svt1-c2": svt(lambda e: 2 / e, lambda e: 8 / e, hits=2),
    "svt2": svt(lambda e: 2 / e, lambda e: 4 / e, fresh=True),
    "svt2-c2": svt(lambda e: 4 / e, lambda e: 8 / e, hits=2, fresh=True),
    "svt3": svt3,
    "svt4": svt(lambda e: 4 / e, lambda e: 4 / (3 * e)),
    "svt5": svt5,
    "svt6": svt6,
    "hist1": histogram(lambda e: 1 / e),
    "hist2": histogram(lambda e: e),
    "rand1": flipped(rand1),
    "rand2": flipped(lambda e: (1 - e) / 2),
    "sparse": svt(lambda e: 2 / e, lambda e: 4 / e, fresh=True),
    "sparse-c2": svt(lambda e: 2 / e, lambda e: 4 / e, hits=2, fresh=True),
}
"""Forms that make the same decisions in the same order."""

ALIKE = {
    "nmax1": nmax(one_sided=False, by_index=True),
    "nmax2": nmax(one_sided=True, by_index=True),
    "nmax3": nmax(one_sided=False, by_index=False),
    "nmax4": nmax(one_sided=True, by_index=False),
}
"""Forms with primitives that the language of the files has not."""


@pytest.mark.parametrize("queries", range(2, 6))
@pytest.mark.parametrize("name", SAME)
def test_the_program_is_that_of_the_python_form(name: str, queries: int) -> None:
    family, _, hits = name.partition("-")
    mine = load(f"{family}-{queries}{'-' + hits if hits else ''}")
    file: Any = mine.function
    assert mine.program_for(file.example).root == Mechanism(SAME[name]).program_for(file.example).root


@pytest.mark.parametrize("name", ["svt5", "svt6"])
def test_the_program_is_that_of_the_catalogue(name: str) -> None:
    entry = find(name).mechanism
    assert load(f"{name}-3").program_for([0, 0, 0]).root == entry.program_for([0, 0, 0]).root


def _both(name: str, queries: int, form: Callable[..., Any], input: list[Any], epsilon: float) -> float:
    setting = Setting(input, epsilon)
    one = traced_runs(load(f"{name}-{queries}"), setting, RUNS, 1)
    return p_value(one, traced_runs(Mechanism(form), setting, RUNS, 2))


@pytest.mark.parametrize("queries", [1, 2, 3, 5])
@pytest.mark.parametrize("name", ALIKE)
def test_the_distribution_is_that_of_the_python_form(name: str, queries: int) -> None:
    assert _both(name, queries, ALIKE[name], [1, -1, 0, 1, 0][:queries], 0.7) > ALPHA


def test_another_program_is_told_apart() -> None:
    assert _both("nmax1", 3, ALIKE["nmax1"], [1, -1, 0], 1.0) > ALPHA
    halved = Setting([1, -1, 0], 0.5)
    one = traced_runs(load("nmax1-3"), Setting([1, -1, 0], 1.0), RUNS, 3)
    assert p_value(one, traced_runs(Mechanism(ALIKE["nmax1"]), halved, RUNS, 4)) <= ALPHA


@pytest.mark.parametrize("name", ["svt2-3-c2", "svt3-2", "nmax2-2", "nmax4-2", "hist2-2", "rand1-2"])
def test_plain_runs_agree_with_the_program(name: str) -> None:
    mechanism = load(name)
    input = [True, False] if name.startswith("rand") else [1, 0, -1][: int(name.split("-")[1])]
    setting = Setting(input, 0.8)
    assert p_value(plain_runs(mechanism, setting, 20_000, 5), traced_runs(mechanism, setting, RUNS, 6)) > ALPHA


# Exact at ε = 1, from closed forms that were checked by an independent Monte Carlo run.
EXACT = [
    ("svt1-3", [1, 1, 1], [False] * 3, 0.127140909393280638573),
    ("svt1-2", [-1, 1], [False, True], 0.300080197355019576042),
    ("svt1-5", [0, 1, -1, 1, 0], [False] * 4 + [True], 0.029078857713625523),
    ("svt1-3-c2", [-1, 0, 1], [False, True, False], 0.115395862942535151038),
    ("svt2-3-c2", [0, 1, 0], [True, False, True], 0.0939601734337455961768),
    ("svt2-4-c2", [1, -1, 1, 0], [False, True, False, True], 0.0318389844922394439178),
    ("svt3-3", [1, 0, -1], [2, 2, 1], 0.0630279197212516568),
    ("svt3-3", [0, 0, 0], [2, 2, 2], 0.1875),
    ("svt4-2", [-1, 0], [False, True], 0.142019339885936560641),
    ("svt5-2", [-1, -1], [False, True], 0.0),
    ("svt5-3", [1, -1, 0], [True, False, False], 0.196734670143683288198),
    ("svt6-3", [0, 0, -1], [False, False, True], 0.052541099246216345689),
    ("nmax1-3", [-1, 0, 1], 1, 0.305705982039904461765),
    ("nmax1-5", [1, -1, 0, 1, 0], 2, 0.162882086204048620536),
    ("nmax2-3", [-1, 0, 1], 1, 0.266076969831578406980),
    ("nmax2-5", [1, -1, 0, 1, 0], 2, 0.157437262568775551720),
    ("nmax3-1", [-1], 0, 0.196734670143683288198),
    ("hist1-2", [0, 1], [0, 1], 0.257924239930571431777),
    ("sparse-3-c2", [0, 0, 1], [False, False, True], 0.127985753286832759199),
    ("rand1-2", [False, True], [False, False], 0.196611933241481852537),
    ("rand1-3", [True, False, True], [True, True, True], 0.143734840457215130990),
]


@pytest.mark.parametrize(("name", "input", "output", "chance"), EXACT)
def test_probabilities_are_the_exact_ones(name: str, input: list[Any], output: Any, chance: float) -> None:
    """Hoeffding: the share of n runs is off by more than sqrt(ln(2/ALPHA) / 2n) with probability ALPHA at most."""
    observed = traced_runs(load(name), Setting(input, 1.0), RUNS, 7)
    wanted = tuple(output) if isinstance(output, list) else (output,)
    share = sum(count for (_, values), count in observed.counts.items() if values == wanted) / RUNS
    assert abs(share - chance) <= math.sqrt(math.log(2 / ALPHA) / (2 * RUNS))
    if chance == 0:
        assert share == 0
