"""DiPC's tables: what is printed is what the thesis prints, and what is computed is true."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from dpverdict import distribution
from dpverdict.claim.relations import PairList
from dpverdict.cli import main, papers
from dpverdict.papers import dipc
from dpverdict.papers.dipc_tables import cases
from dpverdict.papers.row import Row
from dpverdict.search.decision import settle
from dpverdict.search.smallest import change, smallest
from exact_questions import question

KEYS = (
    *("table", "mechanism", "engine", "lower_bound", "published", "exact", "seconds", "published_seconds"),
    *("runs", "verdict", "expected", "note"),
)
PRINTED = {"8.1": (13, 8470), "8.2": (8, 6101), "8.3": (7, 13753), "8.4": (14, 11800), "8.5": (10, 17831)}
"""Rows and published seconds of the thesis's tables, added up by hand."""


@pytest.fixture(scope="module")
def rows() -> dict[str, list[Row]]:
    """The rows with up to three queries of the tables that have counterexamples."""
    found: dict[str, list[Row]] = {}
    for row in dipc.rows(quick=True, tables=("8.1", "8.2", "8.6", "slips")):
        found.setdefault(row.table, []).append(row)
    return found


def named(rows: list[Row], mechanism: str) -> Row:
    (found,) = (row for row in rows if row.mechanism == mechanism)
    return found


def test_every_row_of_the_thesis_is_there() -> None:
    for table, (count, seconds) in PRINTED.items():
        listed = [case for case in cases() if case.table == table]
        assert (len(listed), sum(case.published_seconds or 0 for case in listed)) == (count, seconds)
    assert [case.published_seconds for case in cases() if case.table == "8.6"] == [47, 167, 148, 72, 289, 181]


def test_verdicts_are_true(rows: dict[str, list[Row]]) -> None:
    assert [len(rows[table]) for table in ("8.1", "8.2", "8.6", "slips")] == [13, 7, 6, 3]
    assert all(row.is_as_expected for listed in rows.values() for row in listed)
    assert [row.verdict for row in rows["8.1"]] == ["proved"] * 3 + ["refuted"] * 3 + ["proved"] * 2 + [
        *("refuted", "refuted", "proved", "refuted", "refuted")
    ]
    assert all(row.verdict == "refuted" and row.published == "proved" for row in rows["slips"])


def test_counterexamples_hold_in_another_evaluation(rows: dict[str, list[Row]]) -> None:
    """From the digits of both distributions, in floating point."""
    seen = 0
    for case in cases():
        row = next((row for row in rows.get(case.table, []) if _is_of(row, case)), None)
        if row is None or row.counterexample is None:
            continue
        found, asked = row.counterexample, dipc.question(case)
        epsilon = Fraction(str(found["epsilon"]))
        here, there = (_chance(asked, found[name], found["outputs"], epsilon) for name in ("input", "neighbour"))
        factor = Fraction(case.claim.get("factor", 1))
        delta = {"0": 0.0, "exp(-4)": math.exp(-4), "exp(-2)": math.exp(-2)}[case.claim.get("delta", "0")]
        assert here > math.exp(factor * epsilon) * there * (1 + 1e-9) + delta
        seen += 1
    assert seen == 7 + 7 + 4 + 3


def _is_of(row: Row, case: Any) -> bool:
    return row.mechanism == case.mechanism and row.parameters.startswith(case.parameters)


def _chance(asked: Any, given: Any, outputs: Any, epsilon: Fraction) -> float:
    law, wanted = distribution(asked.target, given, epsilon=epsilon, args=asked.arguments), map(json.dumps, outputs)
    values = {json.dumps(one.output): float(str(one.value)) for one in law.outputs}
    return sum(values.get(one, 0.0) for one in wanted)


# --- the smallest counterexample --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["svt4", "dipc-nmax4", "svt5"])
def test_no_smaller_pair_fails(name: str) -> None:
    """Every ordered pair, alone, without symmetries."""
    asked = question(name, 2, prune=False)
    found = smallest(asked.space(), Fraction(1))
    assert found is not None
    assert found.is_certain
    one = found.violation.comparison
    least = change(one.input, one.neighbour)
    inputs = [list(values) for values in product((-1, 0, 1), repeat=2)]
    sizes = {}
    for a, b in product(inputs, repeat=2):
        if a != b and max(abs(x - y) for x, y in zip(a, b, strict=True)) <= 1 and change(a, b) <= least:
            alone = replace(asked, claim=replace(asked.claim, neighbourhood=PairList(((a, b),))))
            sizes[str((a, b))] = settle(alone.space()).violation is not None, change(a, b)
    assert any(fails for fails, _ in sizes.values())
    assert all(size == least for fails, size in sizes.values() if fails)
    assert sizes[str((one.input, one.neighbour))][0]


def test_a_claim_that_holds_has_none() -> None:
    assert smallest(question("svt1", 2, prune=False).space(), Fraction(1)) is None


def test_pruned_pairs_are_not_all_pairs() -> None:
    with pytest.raises(AssertionError, match="pruning"):
        smallest(question("svt4", 2).space(), Fraction(1))


def test_fewest_queries_come_first(rows: dict[str, list[Row]]) -> None:
    queries = {row.mechanism: row.parameters for row in rows["8.2"]}
    assert queries == {
        "SVT4": "2 queries",
        "SVT5": "2 queries",
        "SVT6": "3 queries",
        "NMax3": "3 queries",
        "NMax4": "1 query",
        "Hist2": "1 query",
        "Rand2": "1 query",
    }


# --- what the thesis prints -------------------------------------------------------------------------------------------


def test_printed_counterexamples_are_checked_at_their_own_epsilon(rows: dict[str, list[Row]]) -> None:
    assert all(row.further["printed"]["is_violation"] for row in rows["8.2"])  # type: ignore[index]
    wrong = [row for row in rows["8.6"] if row.further and not row.further["printed"]["is_violation"]]  # type: ignore[index]
    assert [row.parameters for row in wrong] == ["3 queries, 1 hit, δ = 0", "3 queries, 2 hits, δ = 0"]
    assert all("fail at no ε" in row.to_json()["note"] for row in wrong)  # type: ignore[operator]


def test_table_2s_pair_for_svt3_fails_at_other_epsilon_only() -> None:
    case = next(one for one in cases() if one.table == "8.2" and one.mechanism == "SVT3")
    assert case.printed is not None
    is_violation, note = dipc.checked(case, case.printed)
    assert not is_violation
    assert note.endswith("its pair and output fail at others")
    is_violation, _ = dipc.checked(case, replace(case.printed, epsilon="1/4"))
    assert is_violation


# --- the command ------------------------------------------------------------------------------------------------------


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, str, str]]:
    few = tuple(case for case in cases() if case.entry == "dipc-svt4")
    monkeypatch.setattr(dipc, "cases", lambda: few)

    def call(*words: str) -> tuple[int, str, str]:
        status = main(words)
        said = capfd.readouterr()
        return status, said.out, said.err

    return call


def test_json_has_the_promised_keys_and_nothing_else_is_printed(run: Callable[..., tuple[int, str, str]]) -> None:
    status, out, err = run("papers", "dipc", "--json")
    assert status == 0
    listed = json.loads(out)["rows"]
    assert [row["table"] for row in listed] == ["8.1", "8.2"]
    assert all(set(KEYS) <= set(row) for row in listed)
    assert listed[1]["counterexample"]["outputs"] == [[False, True]]
    assert all(row["seconds"] > 0 and row["runs"] == 0 and row["engine"] == "decision" for row in listed)
    assert "1 of 2: table 8.1, SVT4" in err


def test_a_verdict_that_is_not_the_true_one_is_marked(
    run: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Negative control: what is expected is turned round."""
    status, out, _ = run("papers", "dipc")
    assert status == 0
    assert "all verdicts are as expected" in out
    turned = tuple(replace(case, expected="proved") for case in dipc.cases() if case.table == "8.1")
    monkeypatch.setattr(dipc, "cases", lambda: turned)
    status, out, _ = run("papers", "dipc")
    assert status == 0
    assert "! SVT4" in out.replace("  ", " ")
    assert "NOT as expected: table 8.1, SVT4, 3 queries: refuted instead of proved" in out


def test_lines_fit_into_a_terminal(rows: dict[str, list[Row]]) -> None:
    lines = papers.lines([row for listed in rows.values() for row in listed])
    assert max(map(len, lines)) <= 110


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("dp-snipper",), "no tables of 'dp-snipper'"),
        (("dipc", "--quick", "--full"), "do not go together"),
        (("dipc", "--quik"), "papers has no option --quik"),
        (("statdp",), "papers whose tables are computed again: dipc"),
    ],
)
def test_wrong_calls_are_refused(run: Callable[..., tuple[int, str, str]], words: tuple[str, ...], said: str) -> None:
    status, out, err = run("papers", *words)
    assert (status, out) == (2, "")
    assert said in err
