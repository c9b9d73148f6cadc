"""The exact reading that fits a mechanism: of its program, or of the chain of its states where that has cycles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from dpverdict.errors import UntraceableError
from dpverdict.mechanism import Mechanism
from dpverdict.mechanism.dip_language.program_file import cyclic_chain
from dpverdict.reading.exact.exact_chain import ExactChain
from dpverdict.reading.exact.exact_program import ExactProgram

ExactReading: TypeAlias = ExactProgram | ExactChain


def exact_reading(mechanism: Mechanism, input: Any, arguments: Mapping[str, Any] | None = None) -> ExactReading:
    """The exact probabilities on an input.  Raises `UntraceableError` and `UnreadableError` where there are none."""
    try:
        return ExactProgram.of(mechanism.program_for(input, arguments))
    except UntraceableError:
        chain = cyclic_chain(mechanism, input, arguments)
        if chain is None:
            raise
    return ExactChain.of(chain, mechanism.name, input)
