"""`dpverdict sample` on every form of TARGET: counts, workers, records, interrupts, faults.

Counts are compared with exact probabilities at six standard deviations: each false alarm 2e-9, fewer than 20 here.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpverdict.cli import main
from dpverdict.execute.seeds import generator

BOXES = """
import numpy as np
from dpverdict import mechanism, single_run, vectorised

@vectorised
def rows(value, runs, rng): return value + rng.laplace(size=runs)

@vectorised
def pairs(value, trials, bits): return np.column_stack((bits.random(trials) < 0.5, np.ones(trials)))

@single_run
def one(value, rng): return {"a": value + int(rng.integers(2)), "b": None}

def plain(value): return np.random.rand() < 0.5

class Box:
    def __init__(self, times=1): self.times = times
    def __call__(self, value, rng): return [value * self.times] * int(rng.integers(3))

instance = Box(2)
def factory(): return Box(3)

def scaled(value, rng, epsilon=2.0, shift=0): return round(epsilon * value + shift, 6)
def needs_epsilon(value, rng, epsilon): return epsilon
def sometimes(value, rng):
    if rng.random() < 0.25: raise KeyError(value)
    return float("nan") if rng.random() < 0.5 else float("inf")
def always(value, rng): raise ValueError(f"no {value}")
def own(value): return int(np.random.default_rng().integers(5))
def fixed(value): return float(np.random.default_rng(3).normal()) + value * np.random.rand()
count = 0
def counting(value, rng):
    global count
    count += 1
    return count
def hangs(value, rng):
    while True: pass
def slow(value, rng):
    import time
    time.sleep(0.001)
    return bool(rng.integers(2))
def prints(value, rng):
    print("hello")
    return int(rng.integers(2))
@mechanism
def wide(noise, value): return value * 10**30 + noise.bernoulli()
def first(output): return output["a"]
def broken(output): return output[None]
@mechanism
def refuses(noise, value): raise ValueError(f"no {value}")
"""

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def boxes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "boxes.py"
    path.write_text(BOXES, encoding="utf-8")
    return path


@pytest.fixture
def run(boxes: Path, capfd: pytest.CaptureFixture[str]) -> Run:
    def call(name: str, *words: str) -> tuple[int, str, str]:
        target = name if ":" in name else f"boxes.py:{name}"
        status = main(["sample", target, "--workers", "2", *words])
        return status, *capfd.readouterr()

    return call


def counts(out: str) -> dict[str, int]:
    facts = json.loads(out)
    named = {}
    for row in facts["outputs"]:
        named[row.get("exception") or json.dumps(row["output"])] = row["count"]
    return named


def near(count: int, runs: int, probability: float) -> bool:
    return abs(count - runs * probability) <= 6 * (runs * probability * (1 - probability)) ** 0.5


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("one", {'{"a": 3, "b": null}': 1 / 2, '{"a": 4, "b": null}': 1 / 2}),
        ("plain", {"true": 1 / 2, "false": 1 / 2}),
        ("Box", {"[]": 1 / 3, "[3]": 1 / 3, "[3, 3]": 1 / 3}),
        ("instance", {"[]": 1 / 3, "[6]": 1 / 3, "[6, 6]": 1 / 3}),
        ("factory", {"[]": 1 / 3, "[9]": 1 / 3, "[9, 9]": 1 / 3}),
        ("sometimes", {"KeyError": 1 / 4, '"nan"': 3 / 8, '"inf"': 3 / 8}),
        ("prints", {"0": 1 / 2, "1": 1 / 2}),
        ("boxes:one", {'{"a": 3, "b": null}': 1 / 2, '{"a": 4, "b": null}': 1 / 2}),
    ],
)
def test_every_form_of_function(run: Run, name: str, expected: dict[str, float]) -> None:
    status, out, err = run(name, "--input", "3", "--runs", "3000", "--json")
    assert status == 0, err
    found = counts(out)
    assert set(found) == set(expected)
    assert sum(found.values()) == 3000
    assert all(near(found[output], 3000, share) for output, share in expected.items())


def test_rows_of_numbers(run: Run) -> None:
    status, out, err = run("rows", "--input", "3", "--runs", "100000", "--json")
    facts = json.loads(out)
    assert status == 0, err
    assert (facts["reading"], counts(out)) == ("plain", {'"real"': 100_000})
    (shown,) = facts["histograms"]
    inside = sum(n for n, low in zip(shown["counts"], shown["edges"], strict=False) if 3 <= low < 4)
    assert near(inside, 100_000, 0.5 * (1 - np.exp(-1)))


def test_whole_numbers_beyond_64_bits_are_run_as_they_are(run: Run) -> None:
    status, out, err = run("wide", "--input", "3", "--runs", "400", "--json")
    assert status == 0, err
    assert "may not fit 64 bits" in json.loads(out)["note"]
    found = counts(out)
    assert set(found) == {str(3 * 10**30), str(3 * 10**30 + 1)}
    assert near(found[str(3 * 10**30)], 400, 0.5)


def test_names_of_parameters_can_be_given(run: Run) -> None:
    words = ("--input", "3", "--runs", "2000", "--json")
    status, out, err = run("pairs", *words, "--runs-arg", "trials", "--rng-arg", "bits")
    assert status == 0, err
    assert json.loads(out)["outputs"][0]["output"] == ["real", "real"]
    assert run("pairs", *words)[0] == 2


def test_arguments_and_epsilon_of_functions(run: Run) -> None:
    words = ("--input", "3", "--runs", "20", "--json")
    assert counts(run("scaled", *words)[1]) == {"6.0": 20} or json.loads(run("scaled", *words)[1])["epsilon"] is None
    half = run("scaled", *words, "--epsilon", "1/2", "--arg", "shift=1")[1]
    assert json.loads(half)["histograms"][0]["edges"][0] < 2.5 < json.loads(half)["histograms"][0]["edges"][-1]
    assert json.loads(run("needs_epsilon", *words)[1])["epsilon"] == 1
    status, _, err = run("scaled", *words, "--arg", "shfit=1")
    assert status == 2
    assert "shift" in err


def test_what_is_observed(run: Run) -> None:
    words = ("--input", "3", "--runs", "1000", "--json")
    assert set(counts(run("one", *words, "--observe", "boxes.py:first")[1])) == {"3", "4"}
    status, out, err = run("one", *words, "--observe", "boxes.py:broken")
    assert (status, out) == (2, "")
    assert "broken, which observes outputs, raised KeyError" in err
    status, _, err = run("catalog:laplace", "--input", "0", "--runs", "10", "--observe", "boxes.py:first")
    assert status == 2
    assert "--observe is for black boxes" in err


def test_exceptions(run: Run) -> None:
    status, out, err = run("always", "--input", "3", "--runs", "100")
    assert (status, out) == (2, "")
    assert "RUN-012" in err
    assert "no 3" in err
    status, _, err = run("sometimes", "--input", "3", "--runs", "1000", "--exceptions", "error")
    assert status == 2
    assert "KeyError" in err
    assert run("sometimes", "--input", "3", "--runs", "9", "--exceptions", "maybe")[0] == 2
    status, out, err = run("refuses", "--input", "3", "--runs", "100", "--json")
    assert status == 0, err
    assert "no 3" in json.loads(out)["note"]


@pytest.mark.parametrize(
    ("name", "words"), [("own", ("cannot be replayed",)), ("counting", ("not independent", "kept between calls"))]
)
def test_findings_are_shown(run: Run, name: str, words: tuple[str, ...]) -> None:
    status, out, err = run(name, "--input", "3", "--runs", "20000", "--json")
    assert status == 0, err
    findings = " ".join(json.loads(out)["findings"])
    assert all(word in findings for word in words)
    assert findings.split(":")[0] in run(name, "--input", "3", "--runs", "20000")[1]


def test_good_mechanisms_have_no_findings(run: Run) -> None:
    for name in ("rows", "one", "plain", "Box"):
        assert json.loads(run(name, "--input", "3", "--runs", "20000", "--json")[1])["findings"] == []


def test_a_function_that_hangs(run: Run) -> None:
    status, out, err = run("hangs", "--input", "3", "--runs", "10", "--block-seconds", "0.5")
    assert (status, out) == (2, "")
    assert "did not finish within 0.5 seconds" in err
    assert run("hangs", "--input", "3", "--runs", "10", "--block-seconds", "nan")[0] == 2


def test_recorded_outputs(run: Run) -> None:
    noise = generator(1, "recorded", 0)
    np.save("A.npy", noise.integers(3, size=600))
    np.save("B.npy", noise.integers(3, size=600))
    status, out, err = run("samples:A.npy,B.npy", "--input", "A.npy", "--runs", "600", "--json")
    assert status == 0, err
    assert counts(out) == {str(n): int(np.count_nonzero(np.load("A.npy") == n)) for n in range(3)}
    assert run("samples:A.npy,B.npy", "--input", "A.npy", "--runs", "601")[0] == 2
    assert run("samples:A.npy,B.npy", "--input", "C.npy", "--runs", "1")[0] == 2


def test_executables(run: Run) -> None:
    example = Path(__file__).parents[1] / "examples" / "executable_laplace.py"
    status, out, err = run(f"exec:{sys.executable} {example}", "--input", "3", "--runs", "5000", "--json")
    assert status == 0, err
    facts = json.loads(out)
    assert (facts["runs"], counts(out)) == (5000, {'"real"': 5000})
    status, _, err = run("exec:/no/such/program", "--input", "3", "--runs", "5")
    assert status == 2
    assert "/no/such/program" in err


@pytest.mark.parametrize("name", ["rows", "one", "catalog:svt1"])
def test_results_do_not_depend_on_the_number_of_workers(run: Run, name: str) -> None:
    given = "0,1" if name == "catalog:svt1" else "3"
    found = []
    for workers in ("1", "2", "4"):
        facts = json.loads(run(name, "--input", given, "--runs", "30000", "--json", "--workers", workers)[1])
        found.append((facts["outputs"], facts["histograms"]))
    assert found[0] == found[1] == found[2]


# --- interrupts and records --------------------------------------------------------------------------------------


def started(*words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "dpverdict", "sample", *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


def until(condition: Callable[[], bool]) -> None:
    for _ in range(1200):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("nothing happened for a minute")


def blocks_in(record: Path) -> int:
    return record.stat().st_size if record.exists() else 0


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_stopped_and_resumed(run: Run, boxes: Path, sent: signal.Signals) -> None:
    words = ("boxes.py:slow", "--input", "3", "--runs", "1500", "--json", "--seed", "5", "--out", "kept")
    victim = started(*words)
    wal = Path("kept/sample.record-wal")
    until(lambda: blocks_in(wal) > 60_000 or victim.poll() is not None)
    os.killpg(victim.pid, sent) if sent is signal.SIGKILL else victim.send_signal(sent)
    out, err = victim.communicate(timeout=60)
    if sent is not signal.SIGKILL:
        assert (victim.returncode, out) == (3, ""), err
        assert "try: the same again, to go on from here" in err
    status, resumed, err = run(words[0], *words[1:])
    assert status == 0, err
    whole = run(words[0], *words[1:-2])[1]
    assert _results(resumed) == _results(whole)


def _results(out: str) -> Any:
    facts = json.loads(out)
    return facts["outputs"], facts["histograms"], facts["findings"]


def test_other_options_do_not_go_on_from_a_record(run: Run, boxes: Path) -> None:
    words = ("--runs", "200", "--out", "kept")
    assert run("one", "--input", "3", *words)[0] == 0
    for changed in (("--input", "4", *words), ("--input", "3", "--runs", "300", "--out", "kept")):
        status, out, err = run("one", *changed)
        assert (status, out) == (2, "")
        assert "the same options as before" in err
    assert run("one", "--input", "3", *words, "--seed", "9")[0] == 2
    assert run("one", "--input", "3", *words, "--workers", "1")[0] == 0
    boxes.write_text(BOXES.replace("integers(2))", "integers(4))"), encoding="utf-8")
    assert run("one", "--input", "3", *words)[0] == 2


def test_a_folder_that_cannot_be_used(run: Run, boxes: Path) -> None:
    for folder in ("boxes.py", "", "boxes.py/inside"):
        status, out, err = run("one", "--input", "3", "--runs", "10", "--out", folder)
        assert (status, out) == (2, "")
        assert "USAGE-016" in err
