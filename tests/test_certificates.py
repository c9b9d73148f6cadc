"""Certificates under attack: every leaf changed in turn, parts dropped and moved, other versions, other mechanisms."""

from __future__ import annotations

import copy
import functools
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dpverdict.errors import CertificateError
from dpverdict.evidence.certificate import digest_of
from dpverdict.evidence.verdict import Checked, Measured, Proved, Scope
from dpverdict.proving import prove
from dpverdict.verification import Verification, verify

QUESTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "proof": ("catalog:svt1", {"length": 1, "factor": "1/4"}),
    "violation": ("catalog:svt4", {"length": 2}),
    "point": ("catalog:noisy-maximum", {"length": 2, "epsilon": "1/2"}),
    "factors": ("catalog:svt1", {"length": 3, "factor": "3/4"}),
}

MEANINGLESS = {("digest",), ("verdict", "seconds")}
"""Protected by the digest alone, with all of `environment`."""


@functools.cache
def written(name: str) -> str:
    """A certificate's text."""
    target, claim = QUESTIONS[name]
    with tempfile.TemporaryDirectory() as folder:
        verdict = prove(target, domain="-1,0,1", out=folder, **claim)
        assert verdict.certificate is not None
        return Path(verdict.certificate).read_text(encoding="utf-8")


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of everything that is no container."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if items is None:
        yield path
        return
    for at, inner in items:
        yield from leaves(inner, (*path, at))


def all_leaves() -> list[tuple[str, tuple[Any, ...]]]:
    """Those of a proof and of a violation; of a long proof, those of the signs that are shown by factors."""
    listed = [(name, path) for name in ("proof", "violation") for path in leaves(json.loads(written(name)))]
    entries = json.loads(written("factors"))["evidence"]["inequalities"]
    for number, entry in enumerate(entries):
        if isinstance(entry[3], dict):
            listed += [("factors", ("evidence", "inequalities", number, *path)) for path in leaves(entry)]
    return listed


def others(value: Any) -> list[Any]:
    """Values that stand there instead."""
    match value:
        case None:
            return [0, "x"]
        case bool():
            return [not value, "x", None]
        case int() | float():
            return [value + 1, -value - 1, "x", None, 1e999, 10**30, []]
        case _:
            return [f"{value}0", "", None, 1, "1e99999999", {}]


def replaced(content: Any, path: tuple[Any, ...], value: Any) -> Any:
    """A copy with another value at a place."""
    found = copy.deepcopy(content)
    inner = found
    for at in path[:-1]:
        inner = inner[at]
    inner[path[-1]] = value
    return found


def checked(folder: Path, content: Any, *, digest: bool = True) -> Verification | CertificateError:
    """What `verify` says, with a digest that fits or the one that was there."""
    if digest:
        content = {**content, "digest": digest_of(content)}
    file = folder / "changed.json"
    file.write_text(json.dumps(content), encoding="utf-8")
    try:
        return verify(file)
    except CertificateError as error:
        return error


def refused(found: Verification | CertificateError) -> bool:
    """Whether it does not hold, with a reason."""
    return isinstance(found, CertificateError) or (not found.holds and bool(found.reason))


@pytest.mark.parametrize("name", QUESTIONS)
def test_what_was_written_holds(name: str, tmp_path: Path) -> None:
    found = checked(tmp_path, json.loads(written(name)), digest=False)
    assert isinstance(found, Verification)
    assert found.holds


@pytest.mark.parametrize(("name", "path"), all_leaves())
def test_no_leaf_can_be_changed(name: str, path: tuple[Any, ...], tmp_path: Path) -> None:
    content = json.loads(written(name))
    inner = content
    for at in path:
        inner = inner[at]
    for value in others(inner):
        changed = replaced(content, path, value)
        assert refused(checked(tmp_path, changed, digest=False))
        if path in MEANINGLESS or path[0] == "environment":
            continue
        # Another proof of the same sign is one as well: a longer series, a wider box.
        of_a_sign = path[:2] == ("evidence", "inequalities") and path[3] == 3
        assert of_a_sign or refused(checked(tmp_path, changed))


def test_a_sign_needs_its_own_proof(tmp_path: Path) -> None:
    """No word, and no survey that leaves something out, stands for a proof."""
    content = json.loads(written("factors"))
    entries = content["evidence"]["inequalities"]
    at = next(number for number, entry in enumerate(entries) if isinstance(entry[3], dict))
    for sign in ("zero", "point", 0, True, None, {}, [], {"rest": "1", "factors": [], "place": "1"}):
        assert refused(checked(tmp_path, replaced(content, ("evidence", "inequalities", at, 3), sign)))
    survey = ("evidence", "inequalities", at, 3, "factors", 0, "survey")
    assert refused(checked(tmp_path, replaced(content, (*survey, "boxes"), [])))
    assert refused(checked(tmp_path, replaced(content, survey, None)))


@pytest.mark.parametrize("name", ["proof", "point", "factors"])
def test_inequalities_are_all_there_once_in_order(name: str, tmp_path: Path) -> None:
    content = json.loads(written(name))
    entries = content["evidence"]["inequalities"]
    changed = [entries[1:], entries[:-1], [], [*entries, entries[-1]], [entries[1], entries[0], *entries[2:]]]
    for listed in changed:
        assert refused(checked(tmp_path, replaced(content, ("evidence", "inequalities"), listed)))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("claim", "domain"), "vector(-2,0,2; length=1)"),
        (("claim", "domain"), "vector(0; length=1)"),
        (("claim", "domain"), "vector(integer; length=1)"),
        (("claim", "adjacency"), "linf:2"),
        (("claim", "factor"), "1/5"),
        (("claim", "epsilon_range"), "1"),
        (("claim", "claim"), "zcdp:1"),
        (("mechanism", "target"), "catalog:svt4"),
        (("mechanism", "target"), "no_such_file.py:name"),
        (("mechanism", "arguments"), {"threshold": 5, "stop_after": 1}),
        (("mechanism", "arguments"), {"unknown": 1}),
    ],
)
def test_another_question_is_not_answered(path: tuple[str, str], value: Any, tmp_path: Path) -> None:
    assert refused(checked(tmp_path, replaced(json.loads(written("proof")), path, value)))


def test_unknown_fields_are_kept_and_unknown_versions_refused(tmp_path: Path) -> None:
    content = json.loads(written("proof"))
    found = checked(tmp_path, {**content, "remark": "from a later release"})
    assert isinstance(found, Verification)
    assert found.holds
    assert isinstance(checked(tmp_path, {**content, "version": 2}), CertificateError)
    assert isinstance(checked(tmp_path, {**content, "format": "something else"}), CertificateError)


@pytest.mark.parametrize("text", ["", "null", "[]", "{", "{}", "NaN", "[" * 100_000, "\0", '{"a": 1e999}'])
def test_what_is_no_certificate_is_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "none.json"
    file.write_text(text)
    with pytest.raises(CertificateError):
        verify(file)


def test_files_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    huge = tmp_path / "huge.json"
    with huge.open("wb") as file:
        file.truncate(1 << 40)
    for path in (tmp_path, tmp_path / "missing.json", huge, Path(os.devnull)):
        with pytest.raises(CertificateError):
            verify(path)


MECHANISM = """from dpverdict import mechanism


@mechanism
def above(noise, value, epsilon):
    return noise.laplace(value, scale={scale} / epsilon) >= 0
"""


def test_a_mechanism_that_has_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also from another folder: a relative target is found beside the certificate's folder."""
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    (work / "mine.py").write_text(MECHANISM.format(scale=1))
    verdict = prove("mine.py:above", domain="0,1", out="kept")
    assert isinstance(verdict, Proved)
    certificate = work / str(verdict.certificate)
    assert verify(certificate).holds
    monkeypatch.chdir(tmp_path)
    assert verify(certificate).holds
    (work / "mine.py").write_text(MECHANISM.format(scale=2))
    weaker = verify(certificate)
    assert not weaker.holds
    assert "another program" in str(weaker.reason)
    (work / "mine.py").unlink()
    gone = verify(certificate)
    assert not gone.holds
    assert "mine.py" in str(gone.reason)


# --- verdicts -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("settled", "left"), [(0, 0), (5, 1), (0, 3)])
def test_a_proof_is_complete(settled: int, left: int, tmp_path: Path) -> None:
    proved = prove("catalog:svt1", domain="0,1", length=1, out=tmp_path)
    scope: Scope = proved.scope
    with pytest.raises(ValueError, match="settles every comparison"):
        Proved(scope=scope, method="exact", engine="decision", measured=Measured(), checked=Checked(settled, left))
    with pytest.raises(TypeError):
        bool(proved)
