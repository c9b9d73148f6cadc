"""One line of a paper's table: what the paper says, and what is computed here."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """`published` is what the paper prints, `expected` what is true; both are known, everything else is computed."""

    table: str
    mechanism: str
    parameters: str
    engine: str
    verdict: str
    expected: str
    published: str
    seconds: float
    published_seconds: float | None
    lower_bound: float | None = None
    counterexample: Mapping[str, object] | None = None
    runs: int = 0
    notes: tuple[str, ...] = ()
    further: Mapping[str, object] = field(default_factory=dict)

    @property
    def is_as_expected(self) -> bool:
        """Whether the verdict is the true one."""
        return self.verdict == self.expected

    def to_json(self) -> dict[str, object]:
        """The row as JSON can hold it."""
        bound = self.lower_bound
        return {
            "table": self.table,
            "mechanism": self.mechanism,
            "engine": self.engine,
            "lower_bound": "inf" if bound is not None and math.isinf(bound) else bound,
            "published": self.published,
            "exact": None,
            "seconds": self.seconds,
            "published_seconds": self.published_seconds,
            "runs": self.runs,
            "verdict": self.verdict,
            "expected": self.expected,
            "note": "; ".join(self.notes),
            "parameters": self.parameters,
            "counterexample": self.counterexample,
            **self.further,
        }
