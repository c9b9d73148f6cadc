"""A new member of the language is reported by the type checker in every place that has to know it."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import dpverdict

SOURCES = Path(dpverdict.__file__).parent
ROOT = SOURCES.parents[1]

NODE = '''
@value
class DummyNode(Value):
    """A member that no reading knows."""

    then: Node


'''
TERM = NODE.replace("DummyNode", "DummyTerm").replace("then: Node", "inner: Term")

READERS_OF_NODES = {
    "mechanism/dip_language/nodes.py",
    "mechanism/evaluate.py",
    "mechanism/explain.py",
    "mechanism/graph.py",
    "reading/exact/paths.py",
    "reading/sample/masked.py",
    "reading/sample/plan.py",
    "reading/sample/split.py",
}
READERS_OF_TERMS = {
    "mechanism/rebuild.py",
    "mechanism/evaluate.py",
    "mechanism/explain.py",
    "mechanism/facts.py",
    "mechanism/properties.py",
    "reading/exact/numbers.py",
    "reading/exact/paths.py",
    "reading/sample/values.py",
}

REFUSING_OTHERS = {"evidence/verify/quadrature.py"}
"""Reads the terms that it knows, and has no answer for any other."""


def reported(folder: Path, name: str, text: str, union: str, last: str) -> set[str]:
    """The files in which mypy finds an `assert_never` that is reached, once the union has a new member."""
    copied = folder / "src" / "dpverdict"
    shutil.copytree(SOURCES, copied, ignore=shutil.ignore_patterns("__pycache__"))
    structure = copied / "mechanism" / "structure.py"
    source = structure.read_text(encoding="utf-8")
    assert source.count(last) == 1
    head, tail = source.split(union)
    structure.write_text(head + text.lstrip("\n") + union + tail.replace(last, f"{last} | {name}", 1), encoding="utf-8")
    shutil.copy(ROOT / "pyproject.toml", folder)
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "src", "--cache-dir", str(folder / "cache")],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        timeout=300,
    )
    assert checked.returncode == 1, checked.stdout + checked.stderr
    pattern = re.compile(rf'src/dpverdict/(\S+?):\d+: error: Argument 1 to "assert_never" has .*{name}')
    return {found.group(1) for line in checked.stdout.splitlines() if (found := pattern.match(line))}


pytestmark = pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="mypy is not installed")


def test_a_new_node_is_reported_in_every_reading(tmp_path: Path) -> None:
    union = "Node: TypeAlias = "
    found = reported(tmp_path, "DummyNode", NODE, union, "DrawNode | BranchNode | EmitNode | ReturnNode | RaiseNode")
    assert found == READERS_OF_NODES


def test_a_new_term_is_reported_in_every_reading(tmp_path: Path) -> None:
    found = reported(tmp_path, "DummyTerm", TERM, "Term: TypeAlias = (", "    | Lookup\n")
    assert found == READERS_OF_TERMS


def test_every_match_on_the_language_is_listed_here() -> None:
    """A reading that forgot `assert_never` would pass the two tests above."""
    matching = set()
    for file in SOURCES.rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        if re.search(r"^\s+case (BranchNode|Affine|Product|Choose|Ranked)\(", text, re.MULTILINE):
            matching.add(file.relative_to(SOURCES).as_posix())
    assert matching == READERS_OF_NODES | READERS_OF_TERMS | REFUSING_OTHERS
