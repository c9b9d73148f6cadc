"""The exact reading that fits a mechanism: of its program, or of the chain of its states where that has cycles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from dpverdict.mechanism import Mechanism
from dpverdict.mechanism.dip_language.program_file import program_or_chain
from dpverdict.mechanism.structure import Program
from dpverdict.reading.exact.exact_chain import ExactChain
from dpverdict.reading.exact.exact_program import ExactProgram

ExactReading: TypeAlias = ExactProgram | ExactChain


def exact_reading(mechanism: Mechanism, input: Any, arguments: Mapping[str, Any] | None = None) -> ExactReading:
    """The exact probabilities on an input.  Raises `UntraceableError` and `UnreadableError` where there are none."""
    found = program_or_chain(mechanism, input, arguments)
    return ExactProgram.of(found) if isinstance(found, Program) else ExactChain.of(found, mechanism.name, input)
