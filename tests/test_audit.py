"""Audits from end to end.  A correct audit fails one of these with a probability below 1e-8."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import audited
import dpverdict
from dpverdict import mechanism
from dpverdict.cli import main
from dpverdict.errors import InputError, RunError, UsageError
from dpverdict.verification import verify

AUDITED = str(Path(audited.__file__))


def target(name: str) -> str:
    return f"{AUDITED}:{name}"


@mechanism
def scaled(noise: Any, values: list[float], epsilon: float, share: float = 1.0) -> Any:
    return [noise.laplace(value, scale=share / epsilon) for value in values]


@mechanism
def response(noise: Any, bit: int, epsilon: float) -> Any:
    return noise.discrete_laplace(bit, scale=2 / epsilon) >= 1


def test_half_the_noise_is_refuted_and_the_certificate_holds(tmp_path: Path) -> None:
    verdict = dpverdict.audit(target("half_the_noise"), epsilon=1, domain="real", runs=100_000, out=tmp_path)
    assert verdict.verdict == "refuted"
    assert 1 < verdict.lower_bound < 2
    assert verdict.alpha == 1e-6
    assert verdict.runs <= 100_000
    assert verdict.scope.arithmetic == "as-run"
    assert verdict.engine == "adaptive"
    assert verify(verdict.certificate).holds


def test_a_correct_mechanism_is_undecided_with_power(tmp_path: Path) -> None:
    verdict = dpverdict.audit(target("laplace"), epsilon=1, domain="real", runs=100_000, out=tmp_path)
    assert verdict.verdict == "undecided"
    assert 0.8 < verdict.lower_bound < 1 < verdict.power_epsilon < 1.3
    assert verify(verdict.certificate).holds
    with pytest.raises(TypeError, match="neither true nor false"):
        bool(verdict)


def test_results_depend_on_the_seed_and_not_on_the_workers() -> None:
    def counted(seed: int, workers: int) -> Any:
        verdict = dpverdict.audit(scaled, claim="pure:1", length=2, runs=100_000, seed=seed, workers=workers, out=None)
        return verdict.runs, verdict.lower_bound, verdict.to_json()["witness"]

    assert counted(1, 1) == counted(1, 2) != counted(2, 1)


def test_programs_lists_and_texts() -> None:
    wrong = dpverdict.audit(scaled, args={"share": 0.4}, epsilon=1, length=1, runs=100_000, out=None)
    assert wrong.verdict == "refuted"
    assert 1 < wrong.lower_bound < 2.5
    words = dpverdict.audit(audited.texts, claim="pure:1/2", domain="0,1", runs=20_000, out=None)
    assert words.verdict == "refuted"
    assert 0.5 < words.lower_bound < np.log(4)


@pytest.mark.parametrize("runs", [10_000, 12_500, 50_000, 51_234])
def test_few_runs_and_many_pairs_keep_to_the_budget(runs: int) -> None:
    verdict = dpverdict.audit(scaled, claim="pure:9", length=5, runs=runs, out=None)
    assert verdict.verdict == "undecided"
    assert verdict.power_epsilon > 9
    assert 0.98 * runs < verdict.runs <= runs


def test_a_finite_claim_about_a_program_is_decided_exactly() -> None:
    # Pr[yes] on 1 is 1/(1 + t), on 0 it is t/(1 + t), with t = e^(-ε/2): a loss of ε/2.
    proved = dpverdict.audit(response, domain="0,1", epsilon_range="0,inf", out=None)
    assert (proved.verdict, proved.method, proved.scope.arithmetic) == ("proved", "exact", "real")
    refuted = dpverdict.audit(response, domain="0,1", factor="1/3", epsilon_range="0,inf", out=None)
    assert (refuted.verdict, refuted.method) == ("refuted", "exact")


def test_exceptions_are_outcomes_but_not_all_of_them() -> None:
    verdict = dpverdict.audit(audited.fails_on_larger, claim="pure:1", domain="real", runs=20_000, out=None)
    assert verdict.verdict == "refuted"
    with pytest.raises(RunError, match="every run"):
        dpverdict.audit(audited.fails, claim="pure:1", domain="real", runs=20_000, out=None)


def test_runs_that_are_not_independent_refute_nothing() -> None:
    verdict = dpverdict.audit(audited.fixed_seed, claim="pure:1", domain="real", runs=20_000, out=None)
    assert verdict.verdict == "undecided"
    assert "not independent" in verdict.reason
    assert verdict.findings
    assert verdict.certificate is None


def test_claims_with_delta_and_curves() -> None:
    def judged(function: Any, claim: str, **more: Any) -> str:
        return dpverdict.audit(function, claim=claim, domain="real", runs=60_000, out=None, **more).verdict

    assert judged(audited.leaky, "approximate:0,0.01") == "undecided"
    assert judged(audited.leaky, "approximate:0,0.002") == "refuted"
    assert judged(audited.gaussian, "gaussian:1") == "undecided"
    assert judged(audited.gaussian, "gaussian:1", args={"scale": 0.7}) == "refuted"
    assert judged(audited.gaussian, "zcdp:1/2", args={"scale": 0.5}) == "refuted"


def test_one_direction_only(tmp_path: Path) -> None:
    """On (2, 1) the loss is unlimited, on (1, 2) it is log 2: a claim about one direction is about that one."""
    pairs = tmp_path / "pairs.json"
    pairs.write_text("[[2, 1]]")
    backward = dpverdict.audit(
        audited.fails_on_larger, claim="pure:3", domain="real", adjacency=f"pairs:{pairs}", runs=20_000, out=None
    )
    pairs.write_text("[[1, 2]]")
    forward = dpverdict.audit(
        audited.fails_on_larger, claim="pure:3", domain="real", adjacency=f"pairs:{pairs}", runs=20_000, out=None
    )
    assert (backward.verdict, forward.verdict) == ("refuted", "undecided")


def test_a_pair_of_ones_own() -> None:
    found = dpverdict.audit(audited.half_the_noise, epsilon=1, input=5, neighbour=6, runs=50_000, out=None)
    assert found.verdict == "refuted"
    assert (found.witness.input, found.witness.neighbour) == (5, 6)
    with pytest.raises(InputError, match="nothing about these two"):
        dpverdict.audit(audited.laplace, epsilon=1, input=0, neighbour=2, out=None)
    with pytest.raises(UsageError, match="without the other"):
        dpverdict.audit(audited.laplace, epsilon=1, input=0, out=None)
    with pytest.raises(UsageError, match="too few"):
        dpverdict.audit(audited.laplace, epsilon=1, runs=100, out=None)


def test_the_lower_bound_is_below_the_truth_and_near_it() -> None:
    verdict = dpverdict.lower_bound(
        audited.laplace, epsilon=0.1, domain="real", runs=1_000_000, alpha=Fraction(1, 10**9), out=None
    )
    assert 0.07 < verdict.lower_bound < 0.1
    assert verdict.verdict == "undecided"


def test_assert_private() -> None:
    dpverdict.assert_private(audited.laplace, epsilon=1, domain="real", runs=20_000)
    with pytest.raises(AssertionError, match="not private as claimed"):
        dpverdict.assert_private(audited.half_the_noise, epsilon=1, domain="real", runs=50_000)


# --- the command -----------------------------------------------------------------------------------------------------


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--domain", "real", "--runs", "3e4", "--out", str(tmp_path), "--json"]
    assert main(["audit", target("half_the_noise"), "--epsilon", "1", *words]) == 1
    shown = json.loads(capsys.readouterr().out)
    assert shown["verdict"] == "refuted"
    assert main(["verify", shown["certificate"]]) == 0
    capsys.readouterr()
    assert main(["audit", target("laplace"), "--epsilon", "1", *words, "--require", "proved"]) == 4
    assert main(["audit", target("laplace"), "--epsilon", "1", *words, "--require", "power"]) == 0
    capsys.readouterr()
    both = ["--claim", "pure:9", "--claim", "pure:1", "--input", "0", "--neighbour", "1"]
    assert main(["audit", target("half_the_noise"), *both, *words, "--arg", "epsilon=1"]) == 1
    shown = json.loads(capsys.readouterr().out)
    assert [each["verdict"] for each in shown["claims"]] == ["undecided", "refuted"]
    assert shown["alpha"] == 5e-7
    assert main(["lower-bound", target("laplace"), "--epsilon", "1", *words]) == 0
    assert 0.5 < json.loads(capsys.readouterr().out)["lower_bound"] < 1.2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--input", "0"], "--neighbour is missing"),
        (["--require", "luck"], "--require takes"),
        (["--runs", "10"], "too few runs"),
        (["--alpha", "1"], "below 1/2"),
        (["--alpha", "x"], "--alpha"),
        (["--input", "0", "--neighbour", "7"], "nothing about these two"),
        (["--nothing"], "no option --nothing"),
    ],
)
def test_what_is_typed_wrongly(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", target("laplace"), "--epsilon", "1", *words]) == 2
    assert said in capsys.readouterr().err
