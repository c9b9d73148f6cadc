"""Every error that dpverdict shows, drawn as a tree.

DPVerdictError
├── UsageError          USAGE-…   the command line or a call is off
├── TargetError         TARGET-…  a mechanism cannot be found or loaded
├── MechanismError      MECH-…    a mechanism cannot be run or looked into
│   └── UntraceableError          it cannot become a program: line, reason, what would help
├── InputError          INPUT-…   an input or argument does not fit
└── MissingExtraError   EXTRA-…   an optional package is not installed

Each shows the offending value, where it came from, why it is wrong and a fix:

    InputError[INPUT-001]: every input must be a finite number
      --input 0,nan
                ^^^ got nan
      why: neighbouring inputs differ by a finite amount
      try: --input 0,1
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The text that an error points into, and the part to underline."""

    text: str
    start: int
    end: int
    note: str = ""

    def render(self) -> list[str]:
        """The text and a caret line below it."""
        caret = " " * self.start + "^" * max(1, self.end - self.start)
        return [self.text, f"{caret} {self.note}".rstrip()]


class DPVerdictError(Exception):
    """The root of the tree: a message for people, with a code, a reason and a fix."""

    def __init__(  # noqa: PLR0913 (a message has these parts)
        self, code: str, message: str, *, why: str, fix: str, excerpt: Excerpt | None = None, place: str | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.why = why
        self.fix = fix
        self.excerpt = excerpt
        self.place = place

    def __str__(self) -> str:
        lines = [f"{type(self).__name__}[{self.code}]: {self.message}"]
        if self.place:
            lines.append(f"  {self.place}")
        if self.excerpt:
            lines += [f"  {line}" for line in self.excerpt.render()]
        lines += [f"  why: {self.why}", f"  try: {self.fix}"]
        return "\n".join(lines)


class UsageError(DPVerdictError):
    """The command line or a call is off."""


class TargetError(DPVerdictError):
    """A mechanism cannot be found or loaded."""


class InputError(DPVerdictError):
    """An input or an argument does not fit."""


class MechanismError(DPVerdictError):
    """A mechanism cannot be run or looked into."""


class UntraceableError(MechanismError):
    """A mechanism cannot become a program; it can still be run as a black box."""


class MissingExtraError(DPVerdictError):
    """An optional package is not installed."""
