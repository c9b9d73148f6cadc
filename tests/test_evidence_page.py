"""docs/evidence.md and the sources of the room: the example runs, and every publication is in the bibliography."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "evidence.md"
KEY = re.compile(r"\[((?:[a-z]+\d{4}[a-z]+(?:; )?)+)\]")


def test_the_example_does_what_the_page_says() -> None:
    source = PAGE.read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    found: dict[str, Any] = {}
    exec(source.replace("pooled_refutes(counts", "said = pooled_refutes(counts"), found)  # our own page
    assert found["said"] is True
    counts, allowance = found["counts"], found["Allowance"]("0.05")
    assert str(found["pooled_lower_bound"](counts, allowance).epsilon).startswith("0.198")


def test_every_publication_is_in_the_bibliography() -> None:
    bibliography = (ROOT / "docs" / "references.bib").read_text(encoding="utf-8")
    known = set(re.findall(r"^@\w+\{(\w+),", bibliography, flags=re.MULTILINE))
    sources = [PAGE, *(ROOT / "src" / "dpverdict" / "evidence").glob("*.py")]
    cited = {
        key
        for source in sources
        for keys in KEY.findall(source.read_text(encoding="utf-8"))
        for key in keys.split("; ")
    }
    assert {"clopper1934use", "ville1939etude", "bichsel2021dpsniper", "ding2018detecting"} <= cited <= known
