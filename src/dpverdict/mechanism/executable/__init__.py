"""Executables: programs of any language that speak the protocol of docs/executables.md."""

from __future__ import annotations

from dpverdict.mechanism.executable.conversation import Limits
from dpverdict.mechanism.executable.executable import SCHEME, Executable, load_executable

__all__ = ["SCHEME", "Executable", "Limits", "load_executable"]
