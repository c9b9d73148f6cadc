"""The command line: what each command answers, and what it says to wrong calls."""

from __future__ import annotations

import itertools
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpverdict
from dpverdict import __version__
from dpverdict.catalog import entries
from dpverdict.cli import application, main, outcomes
from dpverdict.cli.plain_counts import edges_of, plain_edges, plain_tally, tally_of
from dpverdict.cli.usage import EXAMPLES
from dpverdict.cli.values import Typed, parse
from dpverdict.errors import InputError
from dpverdict.mechanism.constants import TRUE, number
from dpverdict.mechanism.structure import RaiseNode, ReturnNode, Slot
from dpverdict.mechanism.structure import Sequence as SequenceShape
from dpverdict.reading.sample import Coded, Outputs

NOISY = """
print("loading a module that prints")
from dpverdict import mechanism

@mechanism
def flip(noise, bit, epsilon, repeat=1):
    print("running a function that prints")
    return [noise.bernoulli(0.5) for _ in range(repeat)]

@mechanism
def untraceable(noise, value, epsilon):
    import math
    x = noise.laplace(value, scale=1 / epsilon)
    if x > 5:
        raise ValueError("too large")
    return [math.floor(math.exp(x)) > 1, x]

@mechanism
def without_epsilon(noise, value):
    return value + noise.laplace()

def plain(noise, value, epsilon):
    return noise.laplace(value, scale=1 / epsilon)

def no_noise(value):
    return value

constant = 3
"""

type_of_run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> type_of_run:
    def call(*words: str) -> tuple[int, str, str]:
        status = main(words)
        said = capfd.readouterr()
        return status, said.out, said.err

    return call


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "noisy.py").write_text(NOISY)
    (tmp_path / "broken.py").write_text("def flip(noise, bit:\n    return bit\n")
    (tmp_path / "failing.py").write_text("import not_installed_anywhere\n")
    (tmp_path / "notes.txt").write_text("no Python")
    return "noisy.py"


def answer(out: str) -> dict[str, Any]:
    """The one JSON object that is all of standard output."""
    value = json.loads(out)
    assert isinstance(value, dict)
    assert out.count("\n") == 1
    return value


# --- what commands answer ------------------------------------------------------------------------------------------


def test_without_a_command_the_help_is_shown(run: type_of_run) -> None:
    status, out, err = run()
    assert status == 0
    assert all(command in out for command in EXAMPLES)
    assert not err


@pytest.mark.parametrize("command", EXAMPLES)
def test_every_command_has_help(run: type_of_run, command: str) -> None:
    status, out, err = run(command, "--help")
    assert status == 0
    assert "--json" in out
    assert not err


def test_version(run: type_of_run) -> None:
    status, out, _ = run("--version")
    assert status == 0
    assert out == f"dpverdict {__version__}\n"


def test_every_command_has_an_example() -> None:
    names = {command.name or command.callback.__name__ for command in application.registered_commands}
    assert names == set(EXAMPLES)


@pytest.mark.parametrize("line", EXAMPLES.values())
def test_the_examples_in_messages_work(
    run: type_of_run, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if line.startswith("dpverdict verify"):
        run(*EXAMPLES["prove"].split()[1:])
        (made,) = tmp_path.glob("dpverdict-out/*.json")
        line = f"dpverdict verify {made}"
    status, out, err = run(*line.split()[1:])
    assert status == 0
    assert out
    assert not err or line.startswith("dpverdict papers")  # which says how far it is


def test_explain_shows_the_program(run: type_of_run) -> None:
    status, out, err = run("explain", "catalog:svt1", "--input", "0,1")
    assert status == 0
    assert "catalog:svt1 on [0, 1]" in out
    assert "laplace" in out.lower()
    assert not err


def test_explain_as_json(run: type_of_run) -> None:
    status, out, _ = run("explain", "catalog:svt1", "--length", "3", "--json")
    facts = answer(out)
    assert status == 0
    assert facts["traceable"] is True
    assert facts["inputs"] == "symbolic"
    assert facts["epsilon"] == "symbolic"
    assert facts["input"] == [0, 0, 0]
    assert facts["paths"] == 4
    assert facts["graphviz"].startswith("digraph")


def test_explain_as_graphviz(run: type_of_run) -> None:
    status, out, _ = run("explain", "catalog:svt1", "--length", "2", "--graphviz")
    assert status == 0
    assert out.startswith("digraph")


def test_explain_takes_the_example_of_a_catalogue_entry(run: type_of_run) -> None:
    for entry in entries():
        status, out, err = run("explain", f"catalog:{entry.name}")
        assert status == 0, err
        assert entry.title in out


def test_explain_of_what_is_no_program_says_why(run: type_of_run, file: str) -> None:
    status, out, _ = run("explain", f"{file}:untraceable", "--input", "0")
    assert status == 0
    assert "math.exp" in out
    assert "why:" in out
    assert "try:" in out


def test_explain_of_what_is_no_program_as_json(run: type_of_run, file: str) -> None:
    status, out, _ = run("explain", f"{file}:untraceable", "--input", "0", "--json")
    facts = answer(out)
    assert status == 0
    assert facts["traceable"] is False
    assert set(facts["reason"]) == {"code", "message", "place", "line", "why", "fix"}
    assert "math" in facts["reason"]["line"]


def test_sample_shows_a_histogram(run: type_of_run) -> None:
    status, out, err = run("sample", "catalog:svt1", "--input", "0,1", "--runs", "1e4")
    assert status == 0
    assert "10,000 runs" in out
    assert "█" in out
    assert "[False, True]" in out
    assert not err


def test_sample_as_json(run: type_of_run) -> None:
    words = ("sample", "catalog:svt1", "--input", "0,1", "--runs", "10000", "--epsilon", "1/2", "--json")
    status, out, err = run(*words)
    facts = answer(out)
    assert status == 0
    assert not err
    assert (facts["target"], facts["input"], facts["epsilon"]) == ("catalog:svt1", [0, 1], 0.5)
    assert (facts["runs"], facts["seed"], facts["reading"]) == (10_000, 1, "program")
    assert sum(row["count"] for row in facts["outputs"]) == 10_000
    assert {json.dumps(row["output"]) for row in facts["outputs"]} == {"[true]", "[false, true]", "[false, false]"}


def test_sample_depends_on_the_seed_alone(run: type_of_run) -> None:
    words = ("sample", "catalog:svt1", "--input", "0,1", "--runs", "300000", "--json")
    counts = [
        answer(run(*words, *more)[1])["outputs"] for more in (["--workers", "1"], ["--workers", "3"], ["--seed", "2"])
    ]
    assert counts[0] == counts[1]
    assert counts[0] != counts[2]


def test_sample_with_a_random_seed_says_which(run: type_of_run) -> None:
    words = ("sample", "catalog:svt1", "--input", "0,1", "--runs", "1000", "--json")
    first = answer(run(*words, "--seed", "random")[1])
    again = answer(run(*words, "--seed", str(first["seed"]))[1])
    assert first["outputs"] == again["outputs"]


def test_sample_of_a_real_output_has_a_histogram(run: type_of_run) -> None:
    status, out, _ = run("sample", "catalog:laplace", "--input", "0", "--runs", "50000", "--json")
    facts = answer(out)
    (row,) = facts["outputs"]
    (histogram,) = facts["histograms"]
    assert status == 0
    assert row["count"] == 50_000
    assert "real" in json.dumps(row["output"])
    assert len(histogram["edges"]) == len(histogram["counts"]) + 1
    beyond = histogram["below"] + histogram["above"] + histogram["not_finite"]
    assert sum(histogram["counts"]) + beyond == 50_000
    # Half of a Laplace distribution lies below its location.  Six standard deviations: false alarm 2e-9.
    below = histogram["below"] + sum(
        count for edge, count in zip(histogram["edges"], histogram["counts"], strict=False) if edge < 0
    )
    assert abs(below - 25_000) < 6 * (50_000 / 4) ** 0.5


def test_a_lone_number_is_a_vector_where_the_catalogue_says_so(run: type_of_run) -> None:
    assert answer(run("explain", "catalog:svt1", "--input", "3", "--json")[1])["input"] == [3]


def test_many_outputs_are_summed_up_below_the_bars(run: type_of_run) -> None:
    zeros = ",".join(["0"] * 8)
    status, out, _ = run("sample", "catalog:svt6", "--input", zeros, "--runs", "20000")
    assert status == 0
    assert "(236 more outputs)" in out
    assert "█" not in out.splitlines()[-1]


def test_what_is_no_program_is_run_plainly(run: type_of_run, file: str) -> None:
    status, out, err = run("sample", f"{file}:untraceable", "--input", "4", "--runs", "2000", "--json")
    facts = answer(out)
    assert status == 0, err
    assert facts["reading"] == "plain"
    assert sum(row["count"] for row in facts["outputs"]) == 2000
    raised = [row for row in facts["outputs"] if row.get("exception") == "ValueError"]
    # Pr[Laplace(4, 1) > 5] = exp(-1)/2 = 0.184; six standard deviations: false alarm 2e-9.
    assert abs(raised[0]["count"] - 2000 * 0.1839) < 6 * (2000 * 0.1839 * 0.8161) ** 0.5
    assert raised[0]["output"] is None
    text = run("sample", f"{file}:untraceable", "--input", "4", "--runs", "2000")[1]
    assert "plain runs" in text
    assert "raises ValueError" in text


def test_when_every_run_raises_that_is_an_error(run: type_of_run, file: str) -> None:
    status, out, err = run("sample", f"{file}:without_epsilon", "--input", '"text"', "--runs", "50", "--json")
    assert (status, out) == (2, "")
    assert "raised TypeError" in err
    assert "noisy.py, line" in err
    assert "on input 'text'" in err


def test_what_modules_and_functions_print_stays_out_of_standard_output(run: type_of_run, file: str) -> None:
    status, out, err = run("sample", f"{file}:flip", "--input", "0", "--runs", "100", "--json")
    assert status == 0
    assert sum(row["count"] for row in answer(out)["outputs"]) == 100
    assert "loading a module that prints" in err


def test_what_child_processes_print_stays_out_of_standard_output(run: type_of_run, file: str) -> None:
    command = "import os; os.system('echo from a child')\n"
    Path("child.py").write_text(command + NOISY)
    status, out, err = run("explain", "child.py:flip", "--input", "0", "--json")
    assert status == 0
    answer(out)
    assert "from a child" in err


def test_epsilon_given_as_an_argument_is_concrete(run: type_of_run) -> None:
    words = ("catalog:svt1", "--input", "0,1", "--arg", "epsilon=0.5", "--json")
    assert answer(run("explain", *words)[1])["epsilon"] == 0.5
    sampled = answer(run("sample", *words, "--runs", "1000")[1])
    assert sampled["epsilon"] == 0.5
    assert sampled["arguments"] == {"epsilon": 0.5}


def test_an_argument_changes_the_mechanism(run: type_of_run, file: str) -> None:
    facts = answer(run("sample", f"{file}:flip", "--input", "0", "--arg", "repeat=2", "--runs", "10", "--json")[1])
    assert all(len(row["output"]) == 2 for row in facts["outputs"])


def test_a_mechanism_without_epsilon(run: type_of_run, file: str) -> None:
    facts = answer(run("sample", f"{file}:without_epsilon", "--input", "0", "--runs", "10", "--json")[1])
    assert facts["epsilon"] is None


def test_the_catalogue_as_json(run: type_of_run) -> None:
    facts = answer(run("catalog", "--json")[1])
    assert [row["name"] for row in facts["entries"]] == [entry.name for entry in entries()]
    wanted = {"name", "title", "paper", "expected", "vector", "example", "claim", "truths", "published", "arguments"}
    assert all(wanted <= set(row) for row in facts["entries"])
    rows = {row["name"]: row for row in facts["entries"]}
    svt5 = rows["sniper-svt5"]
    assert (svt5["group"], svt5["algorithm"], svt5["epsilon"], svt5["holds"]) == ("DP-Sniper", "SVT5", 0.1, False)
    assert svt5["truths"][0]["value"] == "inf"
    assert svt5["published"][0]["lower_bound"] == 1.761
    assert rows["sniper-prefix-sum"]["truths"][0]["value"] == 1.0
    assert rows["dipc-svt1"]["truths"][1]["factor"] == "3/4"
    assert rows["svt2"]["related"] == ["sniper-svt2", "finder-at2", "dipc-svt2"]
    assert rows["dipc-svt3"]["arguments"] == {"query_noise": 4, "edges": [-1, 0, 1]}


def test_the_list_of_the_catalogue_fits_a_terminal(run: type_of_run) -> None:
    lines = run("catalog")[1].splitlines()
    assert max(map(len, lines)) <= 100
    listed = [line.split()[0] for line in lines if line.startswith("  ")]
    assert listed == [entry.name for entry in entries()]
    assert [line for line in lines if line in ("StatDP", "DP-Sniper", "DP-Finder", "DiPC")]
    assert any(line.split()[:2] == ["sniper-svt4", "fails"] for line in lines)


def test_entries_of_papers_have_the_papers_parameters_and_example(run: type_of_run) -> None:
    facts = answer(run("sample", "catalog:sniper-svt1", "--runs", "1000", "--json")[1])
    assert (facts["epsilon"], facts["arguments"]) == (0.1, {"threshold": 0.5})
    assert facts["input"] == [1, 1, 1, 1, 1, 0, 0, 0, 0, 0]
    said = run("sample", "catalog:sniper-svt1", "--runs", "1000")[1]
    assert "epsilon = 0.1 (a symbol of the program), threshold = 0.5" in said
    assert "Laplace(1/2, 2/ε)" in run("explain", "catalog:sniper-svt1", "--length", "1")[1]
    words = ("--epsilon", "2", "--arg", "threshold=3", "--input", "0", "--runs", "1000", "--json")
    facts = answer(run("sample", "catalog:sniper-svt1", *words)[1])
    assert (facts["epsilon"], facts["arguments"], facts["input"]) == (2.0, {"threshold": 3}, [0])
    assert "Laplace(3, 2/ε)" in run("explain", "catalog:sniper-svt1", "--arg", "threshold=3")[1]


@pytest.mark.parametrize("name", ["snapping", "laplace-floating-point"])
def test_black_boxes_of_the_catalogue(run: type_of_run, name: str) -> None:
    facts = answer(run("sample", f"catalog:{name}", "--runs", "3000", "--json")[1])
    assert (facts["reading"], facts["epsilon"], facts["input"]) == ("plain", 0.1, 0)
    explained = answer(run("explain", f"catalog:{name}", "--input", "3", "--json")[1])
    assert (explained["traceable"], explained["input"]) == (False, 3)
    assert "float" in explained["reason"]["why"]


def test_a_page_of_the_catalogue(run: type_of_run) -> None:
    for entry in entries():
        status, out, _ = run("catalog", entry.name)
        assert status == 0
        assert entry.title in out
        # The commands on the page are there to be copied.
        for verb in ("explain", "sample"):
            line = next(line for line in out.splitlines() if line.split("  ")[-1].startswith(f"dpverdict {verb}"))
            words = shlex.split(line[line.index("dpverdict ") :].replace("1e6", "100"))[1:]
            assert run(*words)[0] == 0, words
    assert len(answer(run("catalog", "svt1", "--json")[1])["entries"]) == 1
    assert "exact 5*epsilon = 0.5; 10 queries" in run("catalog", "sniper-svt6")[1]
    assert "exact 1/epsilon = 10; " in run("catalog", "sniper-noisy-hist2")[1]
    assert "not private inf; " in run("catalog", "svt5")[1]


TRACED = [
    path for path in sorted((Path(__file__).parent.parent / "examples").glob("*.py")) if "executable" not in path.stem
]


@pytest.mark.parametrize("path", TRACED, ids=lambda path: path.stem)
def test_the_examples_run(run: type_of_run, path: Path) -> None:
    target = f"{path}:{path.stem}"
    assert answer(run("explain", target, "--input", "0,1,0", "--json")[1])["traceable"] is True
    facts = answer(run("sample", target, "--input", "0,1,0", "--runs", "200000", "--json")[1])
    assert facts["reading"] == "program"
    assert sum(row["count"] for row in facts["outputs"]) == 200_000


# --- wrong calls ---------------------------------------------------------------------------------------------------

SVT = "catalog:svt1"
WRONG: Sequence[tuple[Sequence[str], str]] = [
    # words, and what the message must show
    (["expalin", SVT], "expalin"),
    (["--verzion"], "--verzion"),
    (["explain"], "TARGET"),
    (["explain", SVT, "--lenght", "3"], "--lenght"),
    (["explain", SVT, "extra"], "extra"),
    (["explain", SVT, "--length"], "--length"),
    (["explain", SVT, "--json=yes"], "--json"),
    (["explain", SVT, "--length", "many"], "got many"),
    (["explain", SVT, "--length", "-1"], "got -1"),
    (["explain", SVT, "--length", "3", "--input", "0"], "--length 3"),
    (["explain", SVT, "--json", "--graphviz"], "--json"),
    (["explain", "noisy.py:flip"], "noisy.py:flip"),
    (["explain", "svt1"], "svt1"),
    (["explain", "catalog:svt9"], "svt9"),
    (["explain", "catalog:"], "catalog:"),
    (["explain", "noisy.py"], "noisy.py"),
    (["explain", "noisy.py:flap"], "flap"),
    (["explain", "noisy.py:"], "noisy.py:"),
    (["explain", ":flip"], ":flip"),
    (["explain", "noizy.py:flip"], "noizy.py"),
    (["explain", "notes.txt:flip"], "notes.txt"),
    (["explain", "./notes.txt:flip"], "notes.txt"),
    (["explain", "broken.py:flip"], "def flip(noise, bit:"),
    (["explain", "failing.py:flip"], "not_installed_anywhere"),
    (["explain", "noisy.py:constant"], "constant"),
    (["explain", "noisy.py:no_noise"], "no_noise"),
    (["explain", "no_such_package.here:flip"], "no_such_package"),
    (["sample", SVT, "--input", "0,1"], "--runs"),
    (["sample", "noisy.py:flip", "--runs", "10"], "--input"),
    (["explain", "catalog:snapping", "--arg", "bond=1"], "'bond'"),
    (["sample", "catalog:snapping", "--runs", "10", "--arg", "bond=1"], "'bond'"),
    (["sample", SVT, "--input", "", "--runs", "10"], "--input"),
    (["sample", SVT, "--input", "0,nan", "--runs", "10"], "got nan"),
    (["sample", SVT, "--input", "inf", "--runs", "10"], "got inf"),
    (["sample", SVT, "--input", "0,,1", "--runs", "10"], "nothing here"),
    (["sample", SVT, "--input", "0 1", "--runs", "10"], "got 0 1"),
    (["sample", SVT, "--input", "0,1;2", "--runs", "10"], "got 1;2"),
    (["sample", SVT, "--input", "zero", "--runs", "10"], "got zero"),
    (["sample", SVT, "--input", "1/0", "--runs", "10"], "got 1/0"),
    (["sample", SVT, "--input", "[0,1", "--runs", "10"], "[0,1"),
    (["sample", SVT, "--input", "[0,NaN]", "--runs", "10"], "got NaN"),
    (["sample", SVT, "--input", "1e999", "--runs", "10"], "got 1e999"),
    (["sample", SVT, "--input", "9" * 5000, "--runs", "10"], "99999"),
    (["sample", SVT, "--input", "[" * 100_000, "--runs", "10"], "[[["),
    (["sample", SVT, "--input", "0,1", "--runs", "0"], "got 0"),
    (["sample", SVT, "--input", "0,1", "--runs", "1.5"], "got 1.5"),
    (["sample", SVT, "--input", "0,1", "--runs", "1e13"], "got 1e13"),
    (["sample", SVT, "--input", "0,1", "--runs", "1e999999999"], "got 1e999999999"),
    (["sample", SVT, "--input", "0,1", "--runs", "ten"], "got ten"),
    (["sample", SVT, "--input", "0,1", "--runs", "nan"], "got nan"),
    (["sample", SVT, "--input", "0,1", "--runs", "10", "--epsilon", "-0.5"], "got -0.5"),
    (["sample", SVT, "--input", "0,1", "--runs", "10", "--epsilon", "0"], "got 0"),
    (["sample", SVT, "--input", "0,1", "--runs", "10", "--epsilon", "inf"], "got inf"),
    (["sample", SVT, "--input", "0,1", "--runs", "10", "--epsilon", "true"], "got true"),
    (["sample", SVT, "--input", "0,1", "--runs", "10", "--seed", "-1"], "got -1"),
    (["sample", SVT, "--input", "0,1", "--runs", "10", "--seed", "dice"], "got dice"),
    (["sample", SVT, "--input", "0,1", "--runs", "10", "--workers", "0"], "got 0"),
    (["sample", SVT, "--input", "0,1", "--runs", "10", "--workers", "65"], "got 65"),
    (["sample", SVT, "--input", "0,1", "--runs", "10", "--arg", "threshold"], "threshold"),
    (["sample", SVT, "--input", "0,1", "--runs", "10", "--arg", "treshold=1"], "got treshold"),
    (["sample", SVT, "--input", "0,1", "--runs", "10", "--arg", "threshold=high"], "got high"),
    (["sample", SVT, "--input", "0,1", "--runs", "10", "--arg", "threshold=1", "--arg", "threshold=2"], "threshold=2"),
    (["sample", SVT, "--input", "0,1", "--runs", "10", "--arg", "epsilon=-1"], "got -1"),
    (["sample", SVT, "--input", "0,1", "--runs", "10", "--arg", "epsilon=1", "--epsilon", "2"], "--epsilon 2"),
    (["sample", "noisy.py:without_epsilon", "--input", "0", "--runs", "10", "--epsilon", "2"], "got 2"),
    (["catalog", "svt9"], "svt9"),
    (["catalog", "svt1", "svt2"], "svt2"),
]


@pytest.mark.parametrize(("words", "shown"), WRONG, ids=[" ".join(words)[:60] for words, _ in WRONG])
def test_a_wrong_call_shows_the_value_the_reason_and_a_fix(
    run: type_of_run, file: str, words: Sequence[str], shown: str
) -> None:
    status, out, err = run(*words)
    assert status == 2, out
    assert not out
    said = err[err.index("Error[") :]
    assert re.match(r"Error\[[A-Z]+-\d+\]: \S", said), err
    assert shown in said
    assert re.search(r"^  why: \S+ \S", said, re.MULTILINE)
    assert re.search(r"^  try: \S", said, re.MULTILINE)
    assert "Traceback" not in err
    assert max(map(len, said.splitlines())) < 400


@pytest.mark.parametrize(
    ("words", "fix"),
    [
        (["explain", "catalog:svt9"], "catalog:svt"),
        (["explain", "noisy.py:flp"], "try: noisy.py:flip"),
        (["explain", "nosy.py:flip"], "try: noisy.py:flip"),
        (["explain", "noisy.py"], "try: noisy.py:flip"),
        (["explain", "catalogue:svt1"], "try: catalog:svt1"),
        (["smaple", SVT], "try: dpverdict sample"),
        (["explain", SVT, "--lenght", "3"], "try: --length"),
        (["sample", SVT, "--input", "0 1", "--runs", "10"], "try: --input 0,1"),
        (["sample", SVT, "--input", "0,nan", "--runs", "10"], "try: --input 0,1"),
        (["sample", SVT, "--input", "0", "--runs", "10", "--arg", "treshold=1"], "try: --arg threshold=1"),
    ],
)
def test_the_fix_is_the_likely_one(run: type_of_run, file: str, words: Sequence[str], fix: str) -> None:
    assert fix in run(*words)[2]


@pytest.mark.parametrize(
    ("words", "underlined"),
    [
        (["sample", SVT, "--input", "0,nan", "--runs", "10"], "nan"),
        (["sample", SVT, "--input", " 0, inf ,1", "--runs", "10"], "inf"),
        (["sample", SVT, "--input", "0,1", "--runs", "1.5"], "1.5"),
        (["sample", SVT, "--input", ",".join(["0"] * 500 + ["nan"] + ["0"] * 500), "--runs", "1"], "nan"),
        (["explain", SVT, "--lenght", "3"], "--lenght"),
        (["explain", "noisy.py:flp"], "flp"),
        (["explain", "broken.py:flip"], "("),
    ],
)
def test_the_caret_is_under_what_is_wrong(run: type_of_run, file: str, words: Sequence[str], underlined: str) -> None:
    lines = run(*words)[2].splitlines()
    caret = next(line for line in lines if line.strip().startswith("^"))
    start, length = caret.index("^"), caret.count("^")
    assert lines[lines.index(caret) - 1][start : start + length] == underlined


# --- values --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0,1", [0, 1]),
        ("3", 3),
        ("3,", [3]),
        ("[3]", [3]),
        ("-1,2", [-1, 2]),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("1/2", 0.5),
        ("-1/2,3/4", [-0.5, 0.75]),
        ("[[0,1],[2]]", [[0, 1], [2]]),
        ('{"a":1}', {"a": 1}),
        ('"text"', "text"),
        ("true", True),
        ("true,False", [True, False]),
        ("null", None),
        ("[]", []),
        (" 0 , 1 ", [0, 1]),
    ],
)
def test_values(text: str, value: object) -> None:
    read = parse(Typed("--input", text))
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize("text", [",", "--", "1,٣", "0x10", "1_000", "nan", "{", '"open', "1/-2", "\n", "½"])
def test_what_is_no_value(text: str) -> None:
    with pytest.raises(InputError):
        parse(Typed("--input", text))


# --- counting ------------------------------------------------------------------------------------------------------


def test_counting_agrees_with_counting_one_by_one() -> None:
    noise = np.random.default_rng(1)
    codes, whole, flags = noise.integers(0, 3, 5000), noise.integers(-2, 3, 5000), noise.random(5000) < 0.3
    ending = ReturnNode(SequenceShape("list", None))
    values = (number(7), number(8), number(9))
    batch = (Outputs(ending, (Coded(codes, values), whole, flags, TRUE), 5000), Outputs(RaiseNode("ValueError"), (), 3))
    tally = outcomes.count(batch, {})
    assert tally.runs == 5003
    counted = {
        outcomes.written(outcomes.arranged(outcome)): count
        for outcome, count in tally.counts.items()
        if outcome.ending == ending
    }
    rows = [f"[{7 + c}, {w}, {bool(f)}, True]" for c, w, f in zip(codes, whole, flags, strict=True)]
    assert counted == {row: rows.count(row) for row in set(rows)}


def test_reals_are_binned_by_outcome() -> None:
    noise = np.random.default_rng(2)
    flags, reals = noise.random(4000) < 0.25, noise.laplace(size=4000)
    reals[0] = np.inf
    ending = ReturnNode(SequenceShape("list", None))
    batch = (Outputs(ending, (flags, reals), 4000),)
    edges = outcomes.edges_from(batch)
    tally = outcomes.count(batch, edges)
    assert len(tally.counts) == 2
    for outcome, bins in tally.bins.items():
        assert list(bins) == [1]
        assert bins[1].sum() == tally.counts[outcome]
    assert sum(bins[1][-1] for bins in tally.bins.values()) == 1


def test_outcomes_of_very_many_numbers() -> None:
    # Comparing two endings takes a step for each slot: once for each slot again, this would take minutes.
    rows = np.random.default_rng(3).laplace(size=(2, 3000))
    batch = outcomes.batch_of(rows)
    edges = edges_of(plain_edges(outcomes.edges_from(batch)))
    assert [len(places) for places in edges.values()] == [outcomes.MOST_HISTOGRAMS]
    total = outcomes.Tally()
    for _ in range(2):
        total.add(tally_of(plain_tally(outcomes.count(batch, edges))))
    (bins,) = total.bins.values()
    assert len(bins) == outcomes.MOST_HISTOGRAMS
    assert all(numbers.sum() == 4 for numbers in bins.values())


def test_memory_is_bounded_by_the_number_of_outcomes_kept() -> None:
    ending = ReturnNode(Slot())
    tally = outcomes.Tally()
    for block in range(4):
        tally.add(outcomes.count((Outputs(ending, (np.arange(5000) + 5000 * block,), 5000),), {}))
    assert len(tally.counts) == outcomes.MOST_OUTCOMES
    assert tally.runs == 20_000


@pytest.mark.parametrize("scale", [1e-200, 1e-7, 0.3, 1.0, 12345.0, 1e30])
@pytest.mark.parametrize("shift", [0.0, 1.0, -3e5])
def test_edges_are_increasing_and_about_twenty(scale: float, shift: float) -> None:
    values = np.random.default_rng(3).laplace(size=2000) * scale + shift
    edges = outcomes.round_edges(values)
    assert len(edges) in (0, 2) or 10 <= len(edges) <= 25
    assert all(low < high for low, high in itertools.pairwise(edges))


def test_edges_of_odd_values() -> None:
    assert outcomes.round_edges(np.array([])) == ()
    assert outcomes.round_edges(np.array([np.nan, np.inf])) == ()
    assert outcomes.round_edges(np.array([2.0, 2.0])) == (1.5, 2.5)
    assert outcomes.round_edges(np.array([-1.7e308, 1.7e308])) == ()


# --- the process ---------------------------------------------------------------------------------------------------

COMMAND = (sys.executable, "-m", "dpverdict")
# The package that is tested, wherever the command runs.
ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(dpverdict.__file__).parent.parent)}


def test_ctrl_c_ends_with_status_3(file: str) -> None:
    words = (*COMMAND, "sample", "noisy.py:untraceable", "--input", "0", "--runs", "1e9", "--json")
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "loading a module that prints\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert process.returncode == 3, err
    assert not out
    assert "Traceback" not in err


def test_a_reader_that_leaves_early_is_no_error() -> None:
    words = (*COMMAND, "catalog")
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        err = process.stderr.read()
        process.wait(timeout=20)
    assert not err
    assert process.returncode == 0


def test_a_terminal_without_greek_gets_an_answer() -> None:
    environment = ENVIRONMENT | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        (*COMMAND, "sample", SVT, "--input", "0", "--runs", "10", "--epsilon", "0"),
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 2
    assert "\\u03b5" in done.stderr
