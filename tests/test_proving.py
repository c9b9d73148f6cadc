"""Proving as a stranger does it: the Python functions, questions that make no sense, interrupts and going on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import dpverdict
from dpverdict.claim.exact_numbers import exact
from dpverdict.cli import main
from dpverdict.errors import ClaimError, DPVerdictError
from dpverdict.evidence.verdict import Proved, Refuted, Undecided
from dpverdict.execute.cancellation import Cancel
from dpverdict.proving import Work, answer
from dpverdict.search import decision
from exact_questions import question

MECHANISMS = """
from dpverdict import choose, mechanism

@mechanism
def plain(noise, value, epsilon): return noise.laplace(value, scale=1 / epsilon) >= 0

@mechanism
def units(noise, value, epsilon):
    return noise.laplace(value, scale=choose(value > 0, epsilon, 1 / epsilon)) >= 0

@mechanism
def cancelled(noise, queries, epsilon):
    return [noise.laplace(queries[0], scale=1 / epsilon) - queries[0] >= 0, noise.laplace(0, scale=1 / epsilon) >= 1]

@mechanism
def constant(noise, queries, epsilon): return [1]

@mechanism
def prints(noise, value, epsilon):
    print("hello")
    return noise.laplace(value, scale=1 / epsilon) >= 0

@mechanism
def endless(noise, value, epsilon):
    while noise.laplace(0, scale=1 / epsilon) >= value: pass
    return 1

@mechanism
def hidden(noise, value, epsilon): return int(noise.laplace(value, scale=1 / epsilon))
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of one's own, with mechanisms in it."""
    (tmp_path / "mine.py").write_text(MECHANISMS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


# --- functions ------------------------------------------------------------------------------------------------------


def above(noise: Any, value: Any, epsilon: Any) -> Any:
    """A noisy value against 0."""
    return noise.laplace(value, scale=1 / epsilon) >= 0


def test_the_keys_of_a_result_are_its_attributes() -> None:
    results = [
        dpverdict.prove(above, domain="0,1"),
        dpverdict.prove(above, domain="0,1", factor="1/2"),
        dpverdict.prove("catalog:svt1", domain="-1,0,1", length=6, seconds=1e-9),
    ]
    assert [result.verdict for result in results] == ["proved", "refuted", "undecided"]
    for result in results:
        assert all(hasattr(result, name) for name in result.to_json())
        with pytest.raises(TypeError):
            bool(result)


def test_a_certificate_is_verified_from_python() -> None:
    refuted = dpverdict.prove("mine.py:plain", domain=[0, 1], factor=0.5)
    found = dpverdict.verify(refuted.certificate)
    assert found.holds
    assert found.verdict == "refuted"
    assert all(hasattr(found, name) for name in found.to_json())
    with pytest.raises(TypeError):
        bool(found)


@pytest.mark.parametrize(
    "given",
    [{"seconds": 0}, {"seconds": float("nan")}, {"seconds": "x"}, {"out": "mine.py"}, {"a": 1}, {"args": {"x": 1}}],
)
def test_arguments_are_refused_before_the_work(given: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpverdict.proving.settle", None)
    with pytest.raises(DPVerdictError) as caught:
        dpverdict.prove("mine.py:plain", domain="0,1", **given)
    assert caught.value.why
    assert caught.value.fix


# --- soundness ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("domain", "verdict"), [("-1,0", "proved"), ("1,2", "refuted"), ("0,1", "undecided")])
def test_noise_whose_unit_depends_on_the_input(domain: str, verdict: str) -> None:
    """Scale ε above 0, 1/ε elsewhere: probabilities in different units are not compared."""
    assert dpverdict.prove("mine.py:units", domain=domain, epsilon="1/4", out=None).verdict == verdict


def test_inputs_that_no_float_is_are_not_replaced_by_others() -> None:
    """2/3 and 5/3 are neighbours; the floats next to them lie farther apart than 1."""
    verdict = dpverdict.prove(above, domain="2/3,5/3", out=None)
    assert isinstance(verdict, Undecided)
    assert "2/3" in verdict.reason


@pytest.mark.parametrize("adjacency", ["linf:1", "l1:1"])
@pytest.mark.parametrize("name", ["cancelled", "constant"])
def test_inputs_that_do_not_matter(name: str, adjacency: str) -> None:
    verdict = dpverdict.prove(f"mine.py:{name}", domain="-1,0,1", length=2, adjacency=adjacency)
    assert isinstance(verdict, Proved)
    assert dpverdict.verify(str(verdict.certificate)).holds


@pytest.mark.parametrize(
    ("claim", "code"),
    [
        ({"domain": "0"}, "CLAIM-085"),
        ({"domain": "0,1", "length": 0}, "CLAIM-085"),
        ({"domain": "0,5"}, "CLAIM-085"),
        ({"domain": "0,1", "args": {"epsilon": 1}}, "CLAIM-086"),
        ({"domain": "integer"}, "CLAIM-064"),
    ],
)
def test_claims_about_nothing_are_refused(claim: dict[str, Any], code: str) -> None:
    with pytest.raises(ClaimError) as caught:
        dpverdict.prove("mine.py:plain", **claim)
    assert caught.value.code == code
    assert not list(Path().glob("*/*.json"))


# --- the command ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        ["--epsilon", "nan"],
        ["--epsilon", "0"],
        ["--epsilon", "-1"],
        ["--epsilon-range", "2,1"],
        ["--epsilon-range", "inf,inf"],
        ["--factor", "0"],
        ["--factor", "inf"],
        ["--delta", "nan"],
        ["--delta", "2"],
        ["--domain", "a,b"],
        ["--domain", ""],
        ["--domain", "real"],
        ["--domain", "0"],
        ["--length", "0"],
        ["--length", "-1"],
        ["--length", "x"],
        ["--adjacency", "substitute:1"],
        ["--adjacency", "linf:nan"],
        ["--adjacency", "pairs:none.json"],
        ["--adjacency", "no.module:name"],
        ["--claim", "pure:nan"],
        ["--arg", "epsilon=1"],
        ["--arg", "unknown=1"],
        ["--seconds", "0"],
        ["--seconds", "nan"],
        ["--out", ""],
        ["--out", "mine.py"],
        ["--out", "/dev/null/x"],
    ],
)
def test_what_makes_no_sense_is_refused_with_a_fix(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", "mine.py:plain", "--domain", "0,1", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "why: " in err
    assert "try: " in err


@pytest.mark.parametrize(
    "target", ["catalog:nothing", "mine.py", "mine.py:nothing", "none.py:plain", "exec:true", "samples:a,b", ""]
)
@pytest.mark.parametrize("command", ["prove", "distribution"])
def test_unknown_targets(command: str, target: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, target]) == 2
    assert "try: " in capsys.readouterr().err


def test_a_mechanism_that_prints(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", "mine.py:prints", "--domain", "0,1", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["verdict"] == "proved"


def test_a_neighbourhood_that_prints(capfd: pytest.CaptureFixture[str], folder: Path) -> None:
    (folder / "printing.py").write_text("print('import')\ndef near(a, b):\n    print('asked')\n    return True\n")
    words = ["prove", "mine.py:plain", "--domain", "0,1", "--adjacency", "printing.py:near", "--json"]
    assert main(words) == 0
    found = json.loads(capfd.readouterr().out)
    assert found["verdict"] == "proved"
    assert main(["verify", found["certificate"], "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["holds"] is True


@pytest.mark.parametrize("name", ["endless", "hidden"])
def test_mechanisms_that_cannot_be_looked_into(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", f"mine.py:{name}", "--domain", "0,1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["verdict"] == "undecided"
    assert "looked into" in found["reason"]


@pytest.mark.parametrize("word", ["mine.py:plain", "catalog:svt1", "mine.py", "none.json", "."])
def test_verify_takes_certificates(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", word]) == 2
    assert "try: " in capsys.readouterr().err


# --- stopping and going on ------------------------------------------------------------------------------------------

LONG: dict[str, Any] = {"length": 4, "prune": False}


def kept(folder: Path) -> list[Path]:
    """The files of unfinished proofs."""
    return sorted(folder.glob("unfinished-*.json"))


def stopped_after(count: int, folder: Path) -> Work:
    """Work that somebody stops."""
    cancel = Cancel()

    def listen(done: decision.Progress) -> None:
        if len(done.settled) >= count:
            cancel.request("SIGINT")

    return Work(listen=listen, out=folder, cancel=cancel)


def test_the_same_question_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stopped = answer(question("svt1", **LONG), stopped_after(50, tmp_path))
    assert isinstance(stopped, Undecided)
    assert "interrupted" in stopped.reason
    assert stopped.partial == {"settled": 50, "open": 0, "complete": False}
    assert len(kept(tmp_path)) == 1
    settled: list[object] = []
    decide = decision.decide

    def counted(*given: Any) -> Any:
        settled.append(given)
        return decide(*given)

    monkeypatch.setattr(decision, "decide", counted)
    verdict = answer(question("svt1", **LONG), Work(out=tmp_path))
    assert isinstance(verdict, Proved)
    assert len(settled) == verdict.checked.settled - 50
    assert kept(tmp_path) == []
    assert dpverdict.verify(str(verdict.certificate)).holds


@pytest.mark.parametrize("other", [{"factor": "3/4"}, {"domain": "0,1"}, {"args": {"threshold": 1}}, {"prune": True}])
def test_another_question_does_not_pick_it_up(other: dict[str, Any], tmp_path: Path) -> None:
    answer(question("svt1", **LONG), stopped_after(5, tmp_path))
    before = kept(tmp_path)[0].read_bytes()
    answer(question("svt1", **(LONG | other)), stopped_after(5, tmp_path))
    assert len(kept(tmp_path)) == 2
    assert before in [path.read_bytes() for path in kept(tmp_path)]


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", "cut", "wrong"])
def test_what_is_kept_is_not_believed(text: str, tmp_path: Path) -> None:
    """A file that was cut off is not used; signs that it claims are checked, and a false claim stays refuted."""
    asked = question("svt1", **(LONG | {"factor": "1/2"}))
    answer(asked, stopped_after(5, tmp_path))
    (file,) = kept(tmp_path)
    content = json.loads(file.read_text())
    everything = decision.settle(question("svt1", **(LONG | {"factor": "2"})).space())
    lies = [[*one.to_json()[:3], sign] for one in everything.settled for sign in ("zero", 0, 3)]
    texts = {"cut": file.read_text()[:-30], "wrong": json.dumps({**content, "settled": lies})}
    file.write_text(texts.get(text, text))
    verdict = answer(asked, Work(out=tmp_path))
    assert isinstance(verdict, Refuted)
    assert kept(tmp_path) == []


def test_when_the_time_is_up_it_is_kept_as_well(tmp_path: Path) -> None:
    stopped = answer(question("svt1", **LONG), Work(seconds=1e-6, out=tmp_path))
    assert isinstance(stopped, Undecided)
    assert "the time is up" in stopped.reason
    assert len(kept(tmp_path)) == 1


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_gives_a_partial_result(sent: signal.Signals, tmp_path: Path) -> None:
    words = ["prove", "catalog:svt1", "--domain", "-1,0,1", "--length", "30", "--json", "--out", "kept"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = (
        sys.executable,
        "-c",
        f"import sys; from dpverdict.cli import main; {STARTED}; sys.exit(main({words!r}))",
    )
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        deadline = time.monotonic() + 60
        while not Path("started").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(sent)
        out, err = process.communicate(timeout=100)
    assert process.returncode == 3, err
    found = json.loads(out)
    assert found["verdict"] == "undecided"
    assert f"interrupted ({sent.name})" in found["reason"]
    assert found["partial"]["settled"] > 0
    assert len(kept(tmp_path / "kept")) == 1


def test_an_interrupted_check_keeps_what_is_settled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*given: Any) -> None:
        raise KeyboardInterrupt

    asked = question("svt1", **LONG)
    with monkeypatch.context() as patched:
        patched.setattr("dpverdict.evidence.verify.proof.check", interrupted)
        verdict = answer(asked, Work(out=tmp_path))
        with pytest.raises(KeyboardInterrupt):
            dpverdict.prove("catalog:svt1", domain="-1,0,1", length=2, out=tmp_path / "other")
    assert isinstance(verdict, Undecided)
    assert "checked again" in verdict.reason
    assert len(kept(tmp_path)) == 1
    assert isinstance(answer(asked, Work(out=tmp_path)), Proved)
    assert kept(tmp_path) == []


STARTED = (
    "import sys; from dpverdict.cli import main; import dpverdict.cli.prove as p; show = p._Watcher.show; "
    "p._Watcher.show = lambda self, done: (open('started', 'w').close(), show(self, done))[1]"
)
"""Makes the process say that the decision is under way."""


def test_numbers_of_a_certificate_are_read_strictly() -> None:
    with pytest.raises(DPVerdictError):
        exact("1e99999999", "epsilon=")


def test_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    page = Path(__file__).parent.parent / "docs" / "proving.md"
    code = page.read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    exec(compile(code, "page", "exec"), {"__name__": "page"})
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "proved -1,0,1 3"
    assert lines[1].startswith("refuted ")
    assert lines[2] == "True"
