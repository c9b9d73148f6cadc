"""Loops that may go on for ever, solved exactly: closed forms, a second solution in balls, plain runs, and proofs.

False alarms: six comparisons of samples, each with a probability of at most 1e-9.  Negative control:
`test_another_distribution_is_told_apart`.
"""

from __future__ import annotations

import json
import math
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flint import arb, arb_mat, ctx
from hypothesis import HealthCheck, assume, given, settings

from dip_programs import programs
from dpverdict.errors import InputError, ProgramFileError, UnreadableError, UntraceableError
from dpverdict.evidence.verify.passes import probability_at
from dpverdict.evidence.verify.proof import check
from dpverdict.evidence.verify.quadrature import NoAnswer, Point
from dpverdict.evidence.verify.refusal import DoesNotHold
from dpverdict.exact_distribution import distribution
from dpverdict.mechanism import Mechanism
from dpverdict.mechanism.dip_language.explain_chain import explain_chain
from dpverdict.mechanism.dip_language.program_file import ProgramFile, mechanism_from_file, program_file_of
from dpverdict.mechanism.outcome import Outcome, Raised, freeze, key
from dpverdict.proving import prove, question_of
from dpverdict.reading.exact.absorbing import components, ends
from dpverdict.reading.exact.exact_chain import NEVER_RETURNS, ExactChain
from dpverdict.reading.exact.exact_program import ExactProgram
from dpverdict.reading.exact.exponential import ONE, Quotient
from dpverdict.reading.exact.rational_functions import RationalFunction
from dpverdict.reading.exact.read import exact_reading
from dpverdict.reading.why_not import why_not
from dpverdict.verification import verify

ALPHA = 1e-9
HALF = Fraction(1, 2)

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


def law(mechanism: Mechanism, given: list[Any]) -> dict[Outcome, Quotient]:
    exact = exact_reading(mechanism, given)
    (within,) = exact.ranges(given)
    return {one.output: one.probability for one in exact.distribution(given, within).outputs}


def same(found: dict[Outcome, Quotient], wanted: dict[Outcome, str]) -> bool:
    return found == {output: Quotient.parse(text) for output, text in wanted.items()}


# --- closed forms ----------------------------------------------------------------------------------------------

COIN = "choose { true : 1/(Exp[eps]+1) , false : Exp[eps]/(Exp[eps]+1) }"


def test_how_often_until_heads_is_geometric(made: Maker) -> None:
    """An odd number of rounds: p + (1-p)²·p + … = p / (1 - (1-p)²) with p = 1/(1+w), w = e^{-ε}."""
    mechanism = made(
        f"0 3\ninput bool q;\nbool odd;\nbool again;\nagain = true;\nodd = q;\nwhile again do\n  again = {COIN};\n"
        "  odd = ! odd;\nod;\nreturn odd;\n"
    )
    odd, even = "(1 + exp(-eps)) / (1 + 2*exp(-eps))", "(exp(-eps)) / (1 + 2*exp(-eps))"
    assert same(law(mechanism, [False]), {True: odd, False: even})
    assert same(law(mechanism, [True]), {False: odd, True: even})
    assert not same(law(mechanism, [True]), {True: odd, False: even})


@pytest.mark.parametrize("length", [3, 5, 9])
def test_a_walk_on_a_line_is_the_gamblers_ruin(made: Maker, length: int) -> None:
    """Up with odds 1 : e^ε, it reaches the upper end from k with (1 - r^k) / (1 - r^n), r = e^ε: Σ_{n-k ≤ i < n} w^i
    over Σ_{i < n} w^i."""
    mechanism = made(
        f"0 {length}\ninput int x0;\nint x;\nbool up;\nx = x0;\nwhile 0 < x && x < {length} do\n  up = {COIN};\n"
        "  if up then x = x + 1; else x = x - 1; fi;\nod;\nreturn x;\n"
    )

    def powers(low: int, high: int) -> str:
        return " + ".join(f"exp(-{i}*eps)" for i in range(low, high)).replace("exp(-0*eps)", "1")

    for start in range(1, length):
        below = powers(0, length)
        wanted = {
            length: f"({powers(length - start, length)}) / ({below})",
            0: f"({powers(0, length - start)}) / ({below})",
        }
        assert same(law(mechanism, [start]), wanted)
    assert same(law(mechanism, [0]), {0: "1"})


def test_weights_with_powers_of_epsilon(made: Maker) -> None:
    mechanism = made(
        "0 2\ninput int q;\nint x;\nx = 2;\n"
        "while x == 2 do x = choose { 0 : eps/(2+eps) , 1 : 1/(2+eps) , 2 : 1/(2+eps) }; od;\nreturn x;\n"
    )
    assert same(law(mechanism, [0]), {0: "(eps) / (1 + eps)", 1: "(1) / (1 + eps)"})


LOST = "0 3\ninput int q;\nint x;\nx = choose { 0 : 1/3 , 1 : 1/3 , 2 : 1/3 };\nwhile x == 1 do od;\nreturn x;\n"


def test_a_third_of_the_runs_never_returns(made: Maker) -> None:
    assert same(law(made(LOST), [0]), {0: "1/3", 2: "1/3", NEVER_RETURNS: "1/3"})


@pytest.mark.parametrize("loop", ["while true do b = ! b; od;", "while true do od;", f"while true do b = {COIN}; od;"])
def test_no_run_returns(made: Maker, loop: str) -> None:
    assert same(law(made(f"0 3\ninput int q;\nbool b;\nb = true;\n{loop}\nreturn q;\n"), [2]), {NEVER_RETURNS: "1"})


def test_rejection_sampling_gives_the_conditional_law(made: Maker) -> None:
    """Clamped noise around 0 on -2 … 2, taken again at ±2: masses ∝ w, 1, w, whatever lay outside."""
    mechanism = made('-2 2\ninput int q;\nint x;\nx = 2;\nwhile x * x == 4 do x = TDLap "eps" 0 -2 2; od;\nreturn x;\n')
    side = "(exp(-eps)) / (1 + 2*exp(-eps))"
    assert same(law(mechanism, [0]), {0: "(1) / (1 + 2*exp(-eps))", -1: side, 1: side})


def test_loops_in_loops(made: Maker) -> None:
    """An inner loop ends with n of one parity or the other; the outer one goes on after even ones."""
    mechanism = made(
        f"0 9\ninput int q;\nbool out;\nbool in;\nbool odd;\nint n;\nout = true;\nn = q;\nwhile out do\n"
        f"  in = true;\n  odd = false;\n  while in do in = {COIN}; odd = ! odd; od;\n  n = ( n + 1 ) % 2;\n"
        "  if odd then out = false; fi;\nod;\nreturn n;\n"
    )
    # p = Pr[odd] = (1+w)/(1+2w); n changes an odd number of times with p/(1-(1-p)²) = (1+2w)/(1+3w).
    once, twice = "(1 + 2*exp(-eps)) / (1 + 3*exp(-eps))", "(exp(-eps)) / (1 + 3*exp(-eps))"
    assert same(law(mechanism, [0]), {1: once, 0: twice})


def test_noise_from_before_the_loop_is_compared_inside(made: Maker) -> None:
    """The noise stays what it is from round to round; a coin is fresh in each."""
    mechanism = made(
        '-5 5\ninput int q;\nreal r;\nbool go;\nint n;\nr = Lap "eps" q;\ngo = true;\nn = 0;\n'
        f"while go do\n  if r < 0 then n = 1; else if r < 1 then n = 2; else n = 3; fi; fi;\n  go = {COIN};\nod;\n"
        "return n;\n"
    )
    below, above = "1/2*exp(-eps)", "1/2"
    assert same(law(mechanism, [1]), {1: below, 2: "1/2 - 1/2*exp(-eps)", 3: above})


def test_equal_draws_before_in_and_after_a_loop_are_three(made: Maker) -> None:
    coin = "choose { true : 1/3 , false : 2/3 }"
    mechanism = made(
        f"0 9\ninput int q;\nbool a;\nbool b;\nbool c;\na = {coin};\nb = true;\nwhile b do b = {coin}; od;\n"
        f"c = {coin};\nreturn a c;\n"
    )
    third = {True: Fraction(1, 3), False: Fraction(2, 3)}
    wanted: dict[Outcome, str] = {(a, c): str(third[a] * third[c]) for a in third for c in third}
    assert same(law(mechanism, [0]), wanted)


def test_conditions_on_epsilon_make_ranges(made: Maker) -> None:
    mechanism = made(
        "0 9\ninput int q;\nbool a;\nbool b;\na = true;\nb = true;\nProb{(1-eps)/2} a = false;\n"
        f"while b do b = {COIN}; od;\nreturn a;\n"
    )
    exact = exact_reading(mechanism, [0])
    low, high = exact.ranges([0])
    assert (str(low), str(high)) == ("(0, 1]", "(1, inf)")
    assert [one.output for one in exact.distribution([0], high).outputs] == [Raised("ValueError")]
    assert exact.probability(True, [0], low) == Quotient.parse("1/2 + 1/2*eps")
    with pytest.raises(UnreadableError, match="different ways"):
        exact.distribution([0])


def test_a_loop_that_is_not_left_at_one_epsilon_is_refused(made: Maker) -> None:
    """At ε = 1 no run returns, for all other ε below all do: no quotient says so."""
    mechanism = made(
        "0 9\ninput int q;\nbool b;\nb = true;\nwhile b do\n  Prob{(1-eps)/2} b = false;\nod;\nreturn q;\n"
    )
    exact = exact_reading(mechanism, [0])
    with pytest.raises(UnreadableError, match="may not be left") as caught:
        exact.distribution([0], exact.ranges([0])[0])
    assert caught.value.place == "made.dip, line 5"
    certain = mechanism_with(made, "Prob{(1-eps)/2} b = false;\n  if b then Prob{1/2} b = false; fi;")
    assert law_on(certain, 0) == {0: Quotient(ONE)}


def mechanism_with(made: Maker, body: str) -> Mechanism:
    return made(f"0 9\ninput int q;\nbool b;\nb = true;\nwhile b do\n  {body}\nod;\nreturn q;\n")


def law_on(mechanism: Mechanism, number: int) -> dict[Outcome, Quotient]:
    exact = exact_reading(mechanism, [0])
    found = exact.distribution([0], exact.ranges([0])[number])
    return {one.output: one.probability for one in found.outputs}


def test_what_a_range_rules_out_is_not_looked_at(made: Maker) -> None:
    """Above ε = 3 no run comes to the loop; at ε = 3 it would not be left."""
    mechanism = made(
        "0 9\ninput int q;\nbool b;\nb = true;\nProb{(3-eps)/4} b = false;\nb = true;\n"
        "while b do\n  Prob{(3-eps)/4} b = false;\nod;\nreturn q;\n"
    )
    exact = exact_reading(mechanism, [0])
    low, high = exact.ranges([0])
    assert str(high) == "(3, inf)"
    assert [one.output for one in exact.distribution([0], high).outputs] == [Raised("ValueError")]
    with pytest.raises(UnreadableError, match="may not be left"):
        exact.distribution([0], low)


def test_refusals_name_the_line(made: Maker) -> None:
    mechanism = made(
        '0 9\ninput int q;\nreal r;\nreal s;\nbool b;\nr = Lap "eps" q;\ns = Lap "3" q;\nb = true;\n'
        "while b && r < 1 do\n  b = choose { true : 1/2 , false : 1/2 };\nod;\nb = s < 1;\nreturn b;\n"
    )
    with pytest.raises(UnreadableError, match="mixes noise"):
        law(mechanism, [0])
    mechanism = made(
        "0 9\ninput int q;\nbool b;\nb = true;\nwhile b do\n"
        "  b = choose { true : Sqrt[eps]/(1+Sqrt[eps]) , false : 1/(1+Sqrt[eps]) };\nod;\nreturn b;\n"
    )
    with pytest.raises(UnreadableError) as caught:
        law(mechanism, [0])
    assert caught.value.place == "made.dip, line 6"


def test_the_exact_reading_is_open_and_the_others_are_not(made: Maker) -> None:
    mechanism = made(LOST)
    assert why_not(mechanism, [0], "exact") is None
    assert isinstance(why_not(mechanism, [0], "sample"), UntraceableError)


def test_states_are_shown(made: Maker) -> None:
    chain = file_of(made(LOST)).chain([0], concrete=True)
    assert explain_chain(chain, "made", [0]).splitlines()[3:] == [
        "  (0) line 4",
        "    finitechoice1 ~ FiniteChoice(1/3, 1/3, 1/3)",
        "    emit finitechoice1, go to (1)",
        "",
        "  (1) line 5",
        "    if finitechoice1 == 1: go to (2)",
        "    if not (finitechoice1 == 1): go to (3)",
        "",
        "  (2) line 5: no run returns any more",
        "",
        "  (3) line 6",
        "    return the slot",
    ]


def test_a_way_to_stay_for_ever_that_no_noise_takes_is_no_output(made: Maker) -> None:
    """x > y > z > x: each comparison alone is possible, and facts about single comparisons do not exclude all three."""
    noise = "".join(f"real {name};\n" for name in "xyz") + "".join(f'{name} = Lap "eps" q;\n' for name in "xyz")
    mechanism = made(
        f"0 9\ninput int q;\nbool b;\n{noise}b = true;\nwhile b do\n"
        f"  if x > y then if y > z then if z > x then b = true; else b = {COIN}; fi; else b = {COIN}; fi;\n"
        f"  else b = {COIN}; fi;\nod;\nreturn q;\n"
    )
    assert same(law(mechanism, [0]), {0: "1"})


# --- second solutions ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_random_chains_agree_with_a_numeric_solution(made: Maker, seed: int) -> None:
    """Random steps between a few states, two of which end the run: the linear system in balls, from the steps alone."""
    chance, count = random.Random(seed), 5
    table = [[chance.choice([0, 1, 1, 2, 3]) for _ in range(count + 2)] for _ in range(count)]
    for row in table:
        row[chance.randrange(count + 2)] += 1
    body = "".join(
        f"if n == {at} then x = choose {{ {', '.join(f'{to} : {_share(row, to)}' for to in range(count + 2))} }}; fi;\n"
        for at, row in enumerate(table)
    )
    mechanism = made(
        f"0 9\ninput int q;\nint n;\nint x;\nn = 0;\nx = 0;\nwhile n < 5 do\n{body}n = x;\nod;\nreturn n;\n"
    )
    found = law(mechanism, [0])
    with ctx.workprec(160):
        growth = arb(HALF.numerator) / HALF.denominator
        chances = [[_ball(row, to, growth.exp()) for to in range(count + 2)] for row in table]
        reaching = _reaching(table, count)
        number = {at: place for place, at in enumerate(sorted(reaching))}
        system = arb_mat(len(number), len(number))
        for at in number:
            for to in number:
                system[number[to], number[at]] = arb(int(at == to)) - chances[at][to]
        passes = system.solve(arb_mat(len(number), 1, [int(at == 0) for at in sorted(number)]))
        for end in (count, count + 1):
            wanted = sum((passes[number[at], 0] * chances[at][end] for at in number), arb(0))
            probability = found.get(end)
            value = arb(0) if probability is None else probability.value(HALF, 160)
            assert abs(value - wanted) < arb(10) ** -25


def _share(row: list[int], to: int) -> str:
    """Steps up have odds times e^ε."""
    weight = "Exp[eps]*" if to == len(row) - 1 else ""
    return f"{weight}{row[to]}/({sum(row[:-1])}+{row[-1]}*Exp[eps])"


def _ball(row: list[int], to: int, growth: arb) -> arb:
    total = sum(row[:-1]) + row[-1] * growth
    return row[to] * (growth if to == len(row) - 1 else 1) / total


def _reaching(table: list[list[int]], count: int) -> set[int]:
    found: set[int] = set()
    for _ in table:
        found |= {at for at, row in enumerate(table) if any(row[count:]) or any(row[to] for to in found)}
    return found | {0} if 0 in found else found


_FIXTURE = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.filter_too_much]


@settings(max_examples=60, deadline=None, suppress_health_check=_FIXTURE)
@given(content=programs())
def test_random_programs_as_chains_are_what_they_are_as_programs(made: Maker, content: str) -> None:
    """States with facts, followed step by step, against the regions of whole paths."""
    try:
        mechanism = made(content)
        one = exact_reading(mechanism, [1, 0, True])
        if isinstance(one, ExactChain):
            _check_again(one)
            return
        other = ExactChain.of(file_of(mechanism).chain([1, 0, True], concrete=True), "made", [1, 0, True])
        for within in one.ranges([1, 0, True]):
            laws = [exact.distribution([1, 0, True], within).outputs for exact in (one, other)]
            here, there = ({key(found.output): found.probability for found in law} for law in laws)
            for at in {**here, **there}:
                nothing = Quotient.parse("0")
                assert here.get(at, nothing) == there.get(at, nothing)
    except (UntraceableError, UnreadableError, ProgramFileError):
        assume(False)


def _check_again(exact: ExactChain) -> None:
    """A chain with cycles: its probabilities sum to 1, or there is an error, and balls overlap them."""
    for within in exact.ranges(exact.input):
        found = exact.distribution(exact.input, within)
        point = Point(exact.input, {}, within.sample)
        for one in found.outputs:
            try:
                again = probability_at(exact, one.output, point)
            except NoAnswer:
                return
            assert again.overlaps(one.probability.value(found.unit.at(within.sample), 160))


@pytest.mark.parametrize("name", ["svt1-3", "svt2-2-c2", "nmax2-2", "hist1-2", "rand1-3", "sparse-2-c2"])
def test_published_programs_as_chains(name: str) -> None:
    mechanism = mechanism_from_file(Path(__file__).parents[1] / "examples" / "dipc" / f"{name}.dip")
    given = file_of(mechanism).example
    one = ExactProgram.of(mechanism.program_for(given))
    other = ExactChain.of(file_of(mechanism).chain(given, concrete=True), name, given)
    wanted = {key(found.output): found.probability for found in one.distribution(given).outputs}
    assert {key(found.output): found.probability for found in other.distribution(given).outputs} == wanted


# --- plain runs ------------------------------------------------------------------------------------------------

MIXED = """-5 5
input int q 0 3;
real t;
real r;
integer z;
bool go;
bool b;
bool early;
int n;
n = 0;
t = Lap "eps" 0;
r = Lap "eps / 2" q;
early = choose { true : 1/4 , false : 3/4 };
go = true;
while go && n < r do
  if t < n then
    b = choose { true : 1/3 , false : 2/3 };
    if b || early then go = false; fi;
  else
    n = ( n + 1 ) % 3;
  fi;
od;
z = DLap "eps" n;
b = z <= 1;
return n go early b;
"""

RUNS = 15_000


def test_plain_runs_end_as_computed(made: Maker) -> None:
    mechanism = made(MIXED)
    for query in (0, 2):
        assert differs(law(mechanism, [query]), plain(mechanism, [query])) is None
    walk = '0 4\ninput int q;\nint x;\nx = q;\nwhile x < 3 do x = TDLap "eps" x 0 4; od;\nreturn x;\n'
    assert differs(law(made(walk), [1]), plain(made(walk), [1])) is None


def test_another_distribution_is_told_apart(made: Maker) -> None:
    found = plain(made(MIXED), [2])
    assert differs(law(made(MIXED), [1]), found) is not None
    assert differs(law(made(MIXED.replace("true : 1/3 , false : 2/3", "true : 2/3 , false : 1/3")), [2]), found) is None
    assert differs(law(made(MIXED.replace("true : 1/4 , false : 3/4", "true : 3/4 , false : 1/4")), [2]), found)


def plain(mechanism: Mechanism, given: list[Any]) -> Counter[Outcome]:
    generator, found = np.random.default_rng(7), Counter[Outcome]()
    for _ in range(RUNS):
        try:
            found[freeze(mechanism(generator, given, epsilon=0.5))] += 1
        except RuntimeError as error:
            found[Raised(type(error).__name__)] += 1
    return found


def differs(wanted: dict[Outcome, Quotient], found: Counter[Outcome]) -> Outcome | None:
    """An output that is seen more or less often than Hoeffding's inequality allows, at ε = 1/2."""
    outputs = {**dict.fromkeys(wanted), **dict.fromkeys(found)}
    room = math.sqrt(math.log(2 * len(outputs) / ALPHA) / (2 * RUNS))
    for output in outputs:
        probability = float(wanted[output].value(HALF).mid()) if output in wanted else 0.0
        if abs(found[output] / RUNS - probability) > room:
            return output
    return None


# --- proofs ----------------------------------------------------------------------------------------------------

AGAIN = f"""0 9
input int q 0 2;
int n;
bool again;
again = true;
n = q;
while again do
  n = Exp "eps / 2" {{ 0 : - q , 1 : ( 1 - q ) * ( q - 1 ) , 2 : q - 2 }};
  again = {COIN};
od;
return n;
"""


def test_claims_about_loops_are_proved_and_refuted(made: Maker, tmp_path: Path) -> None:
    made(AGAIN)
    target = str(tmp_path / "made.dip")
    proof = prove(target, tight=True, out=tmp_path / "out")
    assert (proof.to_json()["verdict"], proof.scope.claim.domain.text) == ("proved", "vector(integer:0,2; length=1)")
    assert verify(proof.certificate or "").holds
    assert not any("never return" in finding for finding in proof.findings)
    refuted = prove(target, factor="1/4", out=tmp_path / "out")
    assert refuted.to_json()["verdict"] == "refuted"
    assert verify(refuted.certificate or "").holds
    entries = json.loads(Path(proof.certificate or "").read_text())["evidence"]["inequalities"]
    space = question_of(target, None, {}, prune=True).space()
    assert check(space, entries).settled == len(entries)
    with pytest.raises(DoesNotHold):
        check(space, entries[:-1])


def test_never_returning_is_an_output_and_a_finding(made: Maker, tmp_path: Path) -> None:
    """Outputs 0 and 1 are as likely on all inputs, but how many runs return tells the inputs apart."""
    made(
        "0 9\ninput int q 0 1;\nbool b;\nint x;\nb = false;\nx = choose { 0 : 1/4 , 1 : 1/4 , 2 : 1/2 };\n"
        "if x == 2 && q == 0 then b = true; fi;\nwhile b do od;\nreturn x;\n"
    )
    verdict = prove(str(tmp_path / "made.dip"), out=tmp_path / "out")
    found = verdict.to_json()
    assert found["verdict"] == "refuted"
    assert any("[0] may never return" in finding for finding in verdict.findings)
    assert verify(verdict.certificate or "").holds
    assert distribution(str(tmp_path / "made.dip"), [0]).to_json()["outputs"][-1]["exception"] == "DoesNotReturn"


def test_the_second_solution_confirms_and_denies(made: Maker) -> None:
    mechanism = made(MIXED)
    exact = exact_reading(mechanism, [1])
    assert isinstance(exact, ExactChain)
    whole = made('0 4\ninput int q;\nint x;\nx = q;\nwhile x < 3 do x = TDLap "eps" x 0 4; od;\nreturn x;\n')
    chain = exact_reading(whole, [1])
    assert isinstance(chain, ExactChain)
    with pytest.raises(NoAnswer):
        probability_at(chain, 3, Point([1], {}, HALF))
    mechanism = made(MIXED.replace('z = DLap "eps" n;\nb = z <= 1;\n', "b = go;\n"))
    exact = exact_reading(mechanism, [1])
    assert isinstance(exact, ExactChain)
    for one in exact.distribution([1]).outputs:
        value = probability_at(exact, one.output, Point([1], {}, HALF))
        assert value.rad() < 1e-25
        assert value.overlaps(one.probability.value(HALF, 160))
        assert not value.overlaps(one.probability.value(HALF + Fraction(1, 1000), 160)) or one.probability == Quotient(
            ONE
        )


# --- files as targets of proofs --------------------------------------------------------------------------------

SVT = str(Path(__file__).parents[1] / "examples" / "dipc" / "svt1-2.dip")


def test_domain_and_length_are_those_of_the_declarations(tmp_path: Path) -> None:
    found = prove(SVT, out=None)
    assert (found.to_json()["verdict"], found.scope.claim.domain.text) == ("proved", "vector(integer:-1,1; length=2)")
    assert prove(SVT, domain="2,3", out=None).scope.claim.domain.text == "vector(2,3; length=2)"
    shown = subprocess.run(
        [sys.executable, "-m", "dpverdict", "prove", SVT, "--domain", "0,1", "--json", "--out", str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
    )
    scope = json.loads(shown.stdout)["scope"]
    assert (scope["domain"], scope["length"]) == (["0", "1"], 2)


@pytest.mark.parametrize("domain", ["0,1,9", "6,5", "-6,0,1", "integer:-9,9"])
def test_inputs_outside_the_range_line_are_refused(domain: str) -> None:
    with pytest.raises(InputError, match="the range line allows -5 to 5") as caught:
        prove(SVT, domain=domain, out=None)
    assert caught.value.place == SVT


# --- the linear system -----------------------------------------------------------------------------------------


def test_components_come_in_the_order_of_runs() -> None:
    found = components([[1, 3], [2], [1, 4], [4], [], [0]])
    assert [sorted(one) for one in found] == [[5], [0], [3], [1, 2], [4]] or [sorted(one) for one in found][-1] == [4]
    assert sorted(map(sorted, found)) == [[0], [1, 2], [3], [4], [5]]
    places = {at: number for number, one in enumerate(found) for at in one}
    assert places[0] < places[1] < places[4]
    assert places[0] < places[3] < places[4]


def test_a_state_that_keeps_every_run_has_no_solution() -> None:
    certain = RationalFunction.of(Quotient(ONE), 1)
    half = RationalFunction.of(Quotient.parse("1/2"), 1)
    with pytest.raises(ZeroDivisionError):
        ends([[(0, certain)]])
    assert ends([[(0, half), ("done", half)]]) == {"done": certain}
    assert replace(half) == half
