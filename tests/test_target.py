"""Finding mechanisms by TARGET."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from dpverdict.catalog import entries
from dpverdict.errors import DPVerdictError, MechanismError, TargetError, UntraceableError
from dpverdict.mechanism import Mechanism
from dpverdict.mechanism.black_box import FunctionBox, Options
from dpverdict.target import entry_of, load, load_runnable, split

GOOD = """
from dataclasses import dataclass
from neighbour import SHIFT
from dpverdict import mechanism

@dataclass
class Settings:
    scale: float = 1.0

@mechanism
def decorated(noise, value, epsilon):
    return value + SHIFT + noise.laplace(scale=Settings().scale / epsilon)

def plain(noise, value, epsilon):
    return noise.laplace(value, scale=1 / epsilon)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.py").write_text(GOOD)
    (tmp_path / "neighbour.py").write_text("SHIFT = 0\n")
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("")
    (tmp_path / "package" / "inner.py").write_text(
        "def plain(noise, value, epsilon):\n    return noise.laplace(value)\n"
    )
    for name in ("good", "neighbour", "package", "package.inner"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)
def test_catalogue_entries(entry: object) -> None:
    name = getattr(entry, "name")  # noqa: B009
    assert entry_of(f"catalog:{name}") is entry or entry_of(f"catalog:{name}") == entry
    found = load_runnable(f"catalog:{name}")
    assert isinstance(found, Mechanism | FunctionBox)
    if isinstance(found, Mechanism):
        assert load(f"catalog:{name}") is found


def test_a_black_box_of_the_catalogue_takes_options_and_arguments() -> None:
    found = load_runnable("catalog:snapping", Options(exceptions="error"), {"bound": 8})
    assert isinstance(found, FunctionBox)
    assert (found.options.exceptions, found.given) == ("error", {"bound": 8})
    with pytest.raises(UntraceableError, match="black box"):
        load("catalog:snapping")


@pytest.mark.parametrize("name", ["decorated", "plain"])
def test_names_in_files(folder: Path, name: str) -> None:
    path = list(sys.path)
    for source in ("good.py", "./good.py", str(folder / "good.py")):
        found = load(f"{source}:{name}")
        assert isinstance(found, Mechanism)
        assert found.name == name
        assert isinstance(found(np.random.default_rng(1), 0, epsilon=1.0), float)
    assert sys.path == path


def test_a_file_does_not_become_a_module_of_its_own_name(folder: Path) -> None:
    load("good.py:plain")
    assert "good" not in sys.modules


def test_a_file_may_be_called_like_a_module_of_the_standard_library(folder: Path) -> None:
    (folder / "json.py").write_text((folder / "package" / "inner.py").read_text())
    assert load("json.py:plain").name == "plain"


def test_names_in_modules(folder: Path) -> None:
    assert load("package.inner:plain").name == "plain"
    assert load("dpverdict.catalog.sparse_vector:svt1") is load("catalog:svt1")


@pytest.mark.parametrize(
    ("target", "parts"),
    [
        ("a.b:c", ("a.b", "c")),
        ("folder/file.py:c", ("folder/file.py", "c")),
        (r"C:\folder\file.py:c", (r"C:\folder\file.py", "c")),
        ("C:/folder/file.py:c", ("C:/folder/file.py", "c")),
        ("fol:der/file.py:c", ("fol:der/file.py", "c")),
    ],
)
def test_targets_split_at_the_last_colon(target: str, parts: tuple[str, str]) -> None:
    assert split(target) == parts


@pytest.mark.parametrize(
    "target", ["", "a", ":", "a:", ":a", "a:b c", "a:b-c", r"C:\folder\file.py", "C:/folder/file.py", "a:1", "a:b.c"]
)
def test_what_does_not_split(target: str) -> None:
    with pytest.raises(TargetError):
        split(target)


WRONG = [
    # what the file holds, what the error must show
    ("def f(noise, x:\n    return x\n", ["line 1", "def f(noise, x:"]),
    ("import nowhere_to_be_found\n", ["nowhere_to_be_found", "install"]),
    ("from neighbour import NOTHING\n", ["NOTHING", "line 1"]),
    ("x = 1\ny = x / 0\n", ["ZeroDivisionError", "line 2", "y = x / 0"]),
    ("import sys\nsys.exit(5)\n", ["SystemExit", "__main__"]),
    ("f = 3\n", ["not a mechanism"]),
    ("def f(x):\n    return x\n", ["noise", "'x'"]),
    ("def f():\n    return 1\n", ["noise", "missing"]),
    ("class f:\n    pass\n", ["noise", "class"]),
    ("def g(noise, x):\n    return x\n", ["'f'", "bad.py:g"]),
    ("", ["'f'", "no mechanism there"]),
    ("def f(noise):\n    return 1\n", ["input"]),
]


@pytest.mark.parametrize(
    ("source", "shown"), WRONG, ids=[source.strip().replace("\n", " ")[:40] for source, _ in WRONG]
)
def test_what_is_wrong_with_a_file_is_said(folder: Path, source: str, shown: list[str]) -> None:
    (folder / "bad.py").write_text(source)
    before = set(sys.modules)
    with pytest.raises(DPVerdictError) as caught:
        load("bad.py:f")
    for part in shown:
        assert part in str(caught.value)
    assert caught.value.why
    assert caught.value.fix
    left = {name for name in set(sys.modules) - before if name.startswith("_dpverdict_target")}
    assert not left or "mechanism" in str(caught.value) or "noise" in str(caught.value)


def test_a_mechanism_that_is_declared_wrongly_is_told_of_by_itself(folder: Path) -> None:
    (folder / "bad.py").write_text("from dpverdict import mechanism\n\n@mechanism\ndef f(noise): return 1\n")
    with pytest.raises(MechanismError, match="does not take noise and an input") as caught:
        load("bad.py:f")
    assert caught.value.place == "bad.py, line 3"


def test_a_file_that_is_no_text(folder: Path) -> None:
    (folder / "bad.py").write_bytes(b"\x00\xff\xfe")
    with pytest.raises(TargetError) as caught:
        load("bad.py:f")
    assert "bad.py" in str(caught.value)
    assert "None" not in str(caught.value)


def test_errors_in_a_file_that_a_file_imports_are_placed_there(folder: Path) -> None:
    (folder / "neighbour.py").write_text("SHIFT = 1 / 0\n")
    with pytest.raises(TargetError) as caught:
        load("good.py:plain")
    assert "neighbour.py, line 1" in str(caught.value)


def test_an_error_inside_an_existing_module_is_not_a_missing_module(folder: Path) -> None:
    (folder / "package" / "inner.py").write_text("import nowhere_to_be_found\n")
    with pytest.raises(TargetError) as caught:
        load("package.inner:plain")
    assert "cannot be imported" in caught.value.message
    with pytest.raises(TargetError) as caught:
        load("package.outer:plain")
    assert "no module named 'package.outer'" in caught.value.message


def test_ctrl_c_while_loading_is_passed_on(folder: Path) -> None:
    (folder / "bad.py").write_text("raise KeyboardInterrupt\n")
    with pytest.raises(KeyboardInterrupt):
        load("bad.py:f")
