"""DiPC's language: arithmetic, loops, the chain of states, targets, and random programs.

False alarms: comparisons of samples fail by chance with a probability of at most 1e-9 each; there are fewer than ten.
"""

from __future__ import annotations

import itertools
import json
import math
import random
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dip_programs import programs
from dpverdict.claim import from_arguments
from dpverdict.errors import ClaimError, DPVerdictError, ProgramFileError, TargetError, UntraceableError
from dpverdict.mechanism import Mechanism
from dpverdict.mechanism.dip_language.chain import Chain
from dpverdict.mechanism.dip_language.program_file import ProgramFile, mechanism_from_file, program_file_of
from dpverdict.mechanism.evaluate import Known, evaluate
from dpverdict.mechanism.graph import in_order
from dpverdict.mechanism.laws import FiniteChoice
from dpverdict.mechanism.path_record import Decision, Limits
from dpverdict.mechanism.structure import BranchNode, Draw, DrawNode, EmitNode, Node
from dpverdict.target import load, load_runnable
from plain_runs import Setting, p_value, plain_runs, traced_runs

ALPHA = 1e-9
EXAMPLES = Path(__file__).parents[1] / "examples" / "dipc"

Maker = Callable[[str], Mechanism]


@pytest.fixture
def made(tmp_path: Path) -> Maker:
    def make(content: str) -> Mechanism:
        file = tmp_path / "made.dip"
        file.write_text(content)
        return mechanism_from_file(file)

    return make


def file_of(mechanism: Mechanism) -> ProgramFile:
    found = program_file_of(mechanism)
    assert found is not None
    return found


# --- values ----------------------------------------------------------------------------------------------------

ARITHMETIC = "-100 100\ninput int a -7 7;\ninput int b -7 7;\nint x;\nint y;\nint z;\nbool c;\n"


def test_division_of_ints_is_that_of_c(made: Maker) -> None:
    mechanism = made(f"{ARITHMETIC}x = a / b;\ny = a % b;\nz = - a * b + 1 - b;\nreturn x y z;\n")
    for a, b in itertools.product(range(-7, 8), repeat=2):
        if b:
            wanted = [math.trunc(Fraction(a, b)), int(math.fmod(a, b)), -a * b + 1 - b]
            assert mechanism(np.random.default_rng(1), [a, b], epsilon=1.0) == wanted
    assert mechanism.program_for([7, -2]).concrete == [7, -2]


def test_precedence(made: Maker) -> None:
    mechanism = made(
        f"{ARITHMETIC}x = 1 + 2 * a - b % 3;\nc = ! a < b && a == 1 || b > 2 and not ( a >= 0 );\nreturn x c;\n"
    )
    for a, b in itertools.product(range(-7, 8), repeat=2):
        c = (not a < b and a == 1) or (b > 2 and not a >= 0)
        assert mechanism(np.random.default_rng(1), [a, b], epsilon=1.0) == [1 + 2 * a - int(math.fmod(b, 3)), c]
    assert mechanism.program_for([0, 0]).concrete == [0, 0]


def test_rates_and_constants_stay_exact(made: Maker) -> None:
    mechanism = made(
        '-5 5\ninput int q;\nreal r;\nreal s;\nr = Lap "3" q;\ns = Lap "2 * eps / 3 + 1/7" q;\n'
        "bool b;\nb = r / 3 + 0.1 < s;\nProb{1/(E^(1/2)+1)} b = ! b;\nreturn b;\n"
    )
    program = mechanism.program_for([0])
    text = program.root.text
    assert not program.decimals
    assert "Fraction" not in text
    assert "(Constant real 1/3)" in text
    assert "(Elementary 'exp' (Constant real 1/2))" in text
    assert "0.33" not in text


def test_one_returned_variable_is_a_scalar_and_several_are_a_list(made: Maker) -> None:
    generator = np.random.default_rng(1)
    assert made("-5 5\ninput int q;\nreturn q;\n")(generator, [3], epsilon=1.0) == 3
    assert made("-5 5\ninput int q;\nreturn q q;\n")(generator, [3], epsilon=1.0) == [3, 3]
    assert made("-5 5\ninput int q;\noutput bool b;\nb = q > 2;\nexit;\n")(generator, [3], epsilon=1.0) is True
    assert made("-5 5\ninput int q;\noutput bool b;\nb = q > 2;\n")(generator, [0], epsilon=1.0) is False


def test_truncated_noise_is_clamped(made: Maker) -> None:
    """At ε = 1: Pr[x ≤ -1] = e^-1/(1 + e^-1), which TDLap gives to its lower cutoff -1."""
    mechanism = made('-5 5\ninput int q;\nint x;\nx = TDLap "eps" q -1 2;\nreturn x;\n')
    runs = 200_000
    observed = traced_runs(mechanism, Setting([0], 1.0), runs, 1)
    share = sum(count for (_, values), count in observed.counts.items() if values == (-1,)) / runs
    assert abs(share - math.exp(-1) / (1 + math.exp(-1))) <= math.sqrt(math.log(2 / ALPHA) / (2 * runs))


# --- loops -----------------------------------------------------------------------------------------------------

COUNTING = """0 40
input int q 0 3;
input bool noisy;
output int heads;
int n;
bool coin;
heads = 0;
n = 0;
while n < ROUNDS do
  coin = choose { true : 1/3 , false : 2/3 };
  if coin && noisy then heads = heads + 1; fi;
  n = n + 1;
od;
exit;
"""


@pytest.mark.parametrize("rounds", [4, 30])
def test_bounded_loops_are_finite_graphs(made: Maker, rounds: int) -> None:
    """Thirty coins have 2^30 paths, and about 30² states."""
    mechanism = made(COUNTING.replace("ROUNDS", str(rounds)))
    program = mechanism.program_for([0, True])
    assert program.concrete is None
    assert len(in_order(program.root)) < 6 * rounds**2
    _check_draws(program.root)
    setting = Setting([0, True], 1.0)
    assert p_value(plain_runs(mechanism, setting, 3_000, 1), traced_runs(mechanism, setting, 200_000, 2)) > ALPHA
    counts = traced_runs(mechanism, setting, 200_000, 3).counts
    share = sum(count for (_, values), count in counts.items() if values == (rounds // 3,)) / 200_000
    exact = math.comb(rounds, rounds // 3) * (1 / 3) ** (rounds // 3) * (2 / 3) ** (rounds - rounds // 3)
    assert abs(share - exact) <= math.sqrt(math.log(2 / ALPHA) / 400_000)


def test_draws_of_a_loop_are_not_those_before_and_after_it(made: Maker) -> None:
    coin = "choose { true : 1/3 , false : 2/3 };\n"
    mechanism = made(
        f"0 9\ninput int q;\nint n;\nbool a;\nbool b;\nbool c;\nn = 0;\nb = true;\na = {coin}"
        f"while n < 2 && b do b = {coin}n = n + 1; od;\nc = {coin}return a b c n;\n"
    )
    _check_draws(mechanism.program_for([0]).root)
    setting = Setting([0], 1.0)
    assert p_value(plain_runs(mechanism, setting, 20_000, 1), traced_runs(mechanism, setting, 200_000, 2)) > ALPHA


def _check_draws(root: Node) -> None:
    """No path draws anything twice."""
    below: dict[int, frozenset[Draw]] = {}
    for node in reversed(in_order(root)):
        match node:
            case DrawNode(draw, then):
                assert draw not in below[id(then)]
                below[id(node)] = below[id(then)] | {draw}
            case EmitNode(_, then):
                below[id(node)] = below[id(then)]
            case BranchNode(_, yes, no):
                below[id(node)] = below[id(yes)] | below[id(no)]
            case _:
                below[id(node)] = frozenset()


def test_states_that_differ_in_settled_outputs_only_are_one(made: Maker) -> None:
    lines = ["-5 5", *(f"input bool q{at};" for at in range(40))]
    for at in range(40):
        lines += [f"bool out{at};", f"out{at} = q{at};", f"Prob{{1/(Exp[eps]+1)}} out{at} = ! q{at};"]
    mechanism = made("\n".join([*lines, "return " + " ".join(f"out{at}" for at in range(40)) + ";\n"]))
    program = mechanism.program_for([False] * 40)
    assert program.paths == 2**40
    assert len(in_order(program.root)) == 4 * 40 + 1


GEOMETRIC = """0 3
input int q 0 3;
int n;
bool again;
again = true;
n = q;
while again do
  again = choose { true : 1/(Exp[eps]+1) , false : Exp[eps]/(Exp[eps]+1) };
  n = ( n + 1 ) % 4;
od;
return n;
"""


def test_loops_without_a_bound_are_no_program_but_a_chain(made: Maker) -> None:
    mechanism = made(GEOMETRIC)
    error = mechanism.why_not([0])
    assert error is not None
    assert error.place == "made.dip, line 7"
    assert error.excerpt is not None
    assert error.excerpt.text == "while again do"
    assert "without a bound" in error.message
    chain = file_of(mechanism).chain([1], concrete=True)
    assert chain.cycle() is not None
    assert not chain.never_ends()
    chance = 1 / (math.e + 1)
    found = _solved(chain, 1.0)
    for n in range(4):  # n = (1 + K) % 4 with K geometric from 1 on
        rounds = (n - 2) % 4
        exact = (1 - chance) * chance**rounds / (1 - chance**4)
        assert found[n] == pytest.approx(exact, abs=1e-12)


def _solved(chain: Chain, epsilon: float) -> dict[Any, float]:
    """The distribution of a single output, from the linear system over states with what they have emitted."""
    known = Known([], epsilon, {})
    places: list[tuple[int, tuple[Any, ...]]] = [(0, ())]
    moves: list[tuple[int, int, float]] = []
    ends: list[tuple[int, Any, float]] = []
    for at, (state, emitted) in enumerate(places):  # it grows meanwhile
        for way in chain.states[state].ways:
            chance, outputs = _way(way.events, known)
            if not isinstance(way.to, int):
                ends.append((at, (*emitted, *outputs), chance))
                continue
            place = (way.to, (*emitted, *outputs))
            if place not in places:
                places.append(place)
            moves.append((at, places.index(place), chance))
    system = np.eye(len(places))
    for at, to, chance in moves:
        system[at, to] -= chance
    passes = np.linalg.solve(system.T, np.eye(len(places))[0])  # how often each place is passed
    found: dict[Any, float] = {}
    for at, outputs, chance in ends:
        found[outputs[0]] = found.get(outputs[0], 0.0) + chance * float(passes[at])
    return found


def _way(events: Any, known: Known) -> tuple[float, list[Any]]:
    """The probability of a way whose draws are choices, and what it emits."""
    draws = [event for event in events if isinstance(event, Draw)]
    listed: list[Any] = [draw.law for draw in draws]
    assert all(isinstance(law, FiniteChoice) for law in listed)
    total, outputs = 0.0, []
    for combination in itertools.product(*(zip(law.values, law.weights, strict=True) for law in listed)):
        known.draws = {draw: value.content for draw, (value, _) in zip(draws, combination, strict=True)}
        known.compared = {}
        if all(evaluate(e.condition, known) == e.answer for e in events if isinstance(e, Decision)):
            total += math.prod(evaluate(weight, known) for _, weight in combination)
    for event in events:
        if not isinstance(event, Draw | Decision):
            outputs.append(evaluate(event.term, known))
    return total, outputs


NEVER = [
    "while b do b = b || false; od;",
    "while true do b = ! b; od;",
    "while true do od;",
]


@pytest.mark.parametrize("loop", NEVER)
def test_what_never_returns_is_told(made: Maker, loop: str) -> None:
    mechanism = made(f"0 3\ninput int q;\nbool b;\nb = true;\n{loop}\nreturn q;\n")
    error = mechanism.why_not([0])
    assert error is not None
    assert "never returns" in error.message
    chain = file_of(mechanism).chain([0])
    assert len(chain.never_ends()) == len(chain.states)
    with pytest.raises(RuntimeError, match=r"made\.dip, line 5, column 1: this loop never ends"):
        mechanism(np.random.default_rng(1), [0], epsilon=1.0)


def test_some_runs_may_never_return(made: Maker) -> None:
    mechanism = made(
        "0 3\ninput int q;\nbool b;\nb = choose { true : 1/2 , false : 1/2 };\nwhile b do od;\nreturn q;\n"
    )
    chain = file_of(mechanism).chain([0])
    assert 0 < len(chain.never_ends()) < len(chain.states)
    assert "without a bound" in str(mechanism.why_not([0]))


def test_too_many_states_are_told(made: Maker) -> None:
    mechanism = Mechanism(file_of(made(COUNTING.replace("ROUNDS", "30"))), limits=Limits(paths=500))
    error = mechanism.why_not([0, True])
    assert error is not None
    assert "more than 500 states" in error.message
    assert (error.place or "").startswith("made.dip, line ")


@pytest.mark.parametrize("cutoffs", ["-100 100", "-1000000 1000000"])
def test_loops_do_not_split_by_thousands_of_values(made: Maker, cutoffs: str) -> None:
    content = "-1000000 1000000\ninput int q;\nint x;\nint n;\nn = 0;\nx = 0;\n"
    content += f'while n < 2 do x = TDLap "eps" x {cutoffs}; n = n + 1; od;\nreturn x;\n'
    error = made(content).why_not([0])
    assert error is not None
    assert "possible values" in error.message
    assert error.place == "made.dip, line 7"
    bounded = made(content.replace(cutoffs, "-3 3"))
    setting = Setting([0], 1.0)
    assert p_value(plain_runs(bounded, setting, 10_000, 1), traced_runs(bounded, setting, 200_000, 2)) > ALPHA


# --- targets ---------------------------------------------------------------------------------------------------


def test_a_target_is_a_file(made: Maker, tmp_path: Path) -> None:
    made(GEOMETRIC)
    target = str(tmp_path / "made.dip")
    for mechanism in (load(target), load_runnable(target)):
        assert isinstance(mechanism, Mechanism)
        assert mechanism.name == "made"
        assert mechanism.epsilon_name == "epsilon"
        assert mechanism.parameter_names == ()
    for loading in (load, load_runnable):
        with pytest.raises(TargetError, match="no names in it"):
            loading(f"{target}:name")


def test_domain_and_length_come_from_the_declarations(made: Maker) -> None:
    same = file_of(made("-5 5\ninput int a -1 1;\ninput int b -1 1;\nreturn a;\n"))
    claim = from_arguments(epsilon=1, **same.claimed)
    assert claim.why_not_about([1, -1], [0, 0]) is None
    assert claim.why_not_about([2, 0], [1, 0]) is not None
    assert file_of(made("-5 5\ninput int a;\nreturn a;\n")).claimed == {"domain": "integer:-5,5", "length": "1"}
    assert file_of(made("-5 5\ninput bool a;\nreturn a;\n")).claimed == {"domain": "boolean", "length": "1"}
    mixed = file_of(made("-5 5\ninput int a 1 2;\ninput bool b;\nreturn a;\n"))
    assert mixed.claimed == {"length": "2"}
    assert mixed.example == [1, False]


def test_compare_is_a_named_relation_or_a_predicate(made: Maker, tmp_path: Path) -> None:
    claimed = file_of(made("-5 5\ninput int a -1 1;\ninput int b -1 1;\nreturn a;\n")).claimed
    (tmp_path / "compare.py").write_text("def compare(a, b):\n    return sum(abs(x - y) for x, y in zip(a, b)) == 1\n")
    claim = from_arguments(epsilon=1, adjacency=f"{tmp_path / 'compare.py'}:compare", **claimed)
    assert claim.why_not_about([0, 0], [0, 1]) is None
    assert claim.why_not_about([0, 0], [1, 1]) is not None
    with pytest.raises(ClaimError, match=r"C\+\+ is not read"):
        from_arguments(epsilon=1, adjacency="input.cpp", **claimed)


def test_other_processes_find_the_file(made: Maker) -> None:
    import pickle

    from dpverdict.execute.seeds import generator

    box = made(GEOMETRIC).black_box(epsilon=1.0)
    again = pickle.loads(pickle.dumps(box))
    assert list(box.run([0], 50, generator(1, "x", 0))) == list(again.run([0], 50, generator(1, "x", 0)))
    file = Path(str(box.source.reference))
    file.write_text(GEOMETRIC.replace("% 4", "% 3"))
    with pytest.raises(TargetError, match="changed"):
        pickle.loads(pickle.dumps(box))


# --- random programs -------------------------------------------------------------------------------------------

_FIXTURE = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


@settings(max_examples=60, deadline=None, suppress_health_check=_FIXTURE)
@given(content=programs())
def test_random_programs_run_as_they_are_explored(made: Maker, content: str) -> None:
    """A program is replayed beside its interpreter when it is made; a difference would be the reason to refuse it."""
    try:
        mechanism = made(content)
        program = mechanism.program_for([1, 0, True])
    except UntraceableError as error:
        assert "differ" not in error.message  # noqa: PT017
        assert (error.place or "").startswith("made.dip, line ")  # noqa: PT017
    except ProgramFileError as error:
        assert error.code == "DIP-053"  # noqa: PT017 (division by a literal zero)
    else:
        _check_draws(program.root)


def _refused_or_made(made: Maker, content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "bytes.dip"
    file.write_bytes(content)
    try:
        mechanism = mechanism_from_file(file)
        mechanism.program_for(file_of(mechanism).example)
    except DPVerdictError as error:
        assert error.why  # noqa: PT017
        assert error.fix  # noqa: PT017


@settings(max_examples=200, deadline=None, suppress_health_check=_FIXTURE)
@given(
    content=st.one_of(st.binary(max_size=80), st.text(max_size=80).map(lambda text: text.encode("utf-8", "replace")))
)
def test_any_bytes_are_a_program_or_an_error(made: Maker, tmp_path: Path, content: bytes) -> None:
    _refused_or_made(made, content, tmp_path)
    _refused_or_made(made, b"-5 5\ninput int q0 -1 1;\n" + content, tmp_path)


@settings(max_examples=150, deadline=None, suppress_health_check=_FIXTURE)
@given(name=st.sampled_from(["svt3-2", "nmax2-2", "rand2-2"]), seed=st.integers(0, 2**32))
def test_damaged_files_are_a_program_or_an_error(made: Maker, tmp_path: Path, name: str, seed: int) -> None:
    """Words of a file are dropped, repeated and exchanged."""
    chance = random.Random(seed)
    content = (EXAMPLES / f"{name}.dip").read_text()
    words = content.replace("\n", " \n ").split(" ")
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(words))
        words[at : at + 1] = chance.choice([[], [words[at]] * 2, [chance.choice(words)]])
    _refused_or_made(made, " ".join(words).encode(), tmp_path)


# --- commands --------------------------------------------------------------------------------------------------


def _run(*words: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "dpverdict", *words], capture_output=True, text=True, check=False, cwd=EXAMPLES
    )
    return done.returncode, done.stdout, done.stderr


def test_commands_take_files() -> None:
    status, out, _ = _run("explain", "svt1-2.dip")
    assert status == 0
    assert out.startswith("svt1-2.dip on [0, 0]\n")
    assert "laplace2 ~ Laplace(input[0], 4/ε)" in out
    assert _run("explain", "svt1-2.dip", "--length", "2")[1] == out
    assert "on [false, false]" in _run("explain", "rand1-2.dip", "--length", "2")[1]
    status, out, _ = _run("sample", "svt1-2.dip", "--input", "0,1", "--runs", "1000", "--json")
    assert status == 0
    assert {tuple(row["output"]) for row in json.loads(out)["outputs"]} == {
        (True, False),
        (False, True),
        (False, False),
    }
    assert json.loads(_run("sample", "nmax1-1.dip", "--input", "1", "--runs", "10", "--json")[1])["input"] == [1]


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (("explain", "svt1-2.dip", "--length", "3"), "the file declares 2 inputs: int q0, int q1"),
        (("sample", "svt1-2.dip", "--input", "0,9", "--runs", "10"), "9 is no value of q1"),
        (("sample", "rand1-2.dip", "--input", "0,1", "--runs", "10"), "0 cannot be the value of q0, which is bool"),
        (("explain", "missing.dip"), "missing.dip"),
    ],
)
def test_wrong_commands(words: tuple[str, ...], shown: str) -> None:
    status, out, err = _run(*words)
    assert (status, out) == (2, "")
    assert shown in err
    assert "\n  try: " in err


def test_a_loop_without_a_bound_is_sampled_by_worker_processes(made: Maker, tmp_path: Path) -> None:
    made(GEOMETRIC)
    words = ("sample", str(tmp_path / "made.dip"), "--input", "1", "--runs", "2000", "--json")
    found = [json.loads(_run(*words, "--workers", workers)[1]) for workers in ("1", "2")]
    assert found[0]["reading"] == "plain"
    assert found[0]["outputs"] == found[1]["outputs"]
    assert {row["output"] for row in found[0]["outputs"]} == {0, 1, 2, 3}
