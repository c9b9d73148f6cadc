"""Text that somebody wrote: what every parser of this room reads, and what its errors underline."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

from dpverdict.errors import ClaimError, Excerpt

_AROUND = 50
_OPENING, _CLOSING, _QUOTE = "([{", ")]}", '"'


@dataclass(frozen=True, slots=True)
class Written:
    """A part of the text that was written for an option (``--claim``) or for a Python argument (``claim=``)."""

    option: str
    whole: str
    start: int
    end: int

    @classmethod
    def of(cls, option: str, text: str) -> Written:
        """All of the text."""
        return cls(option, text, 0, len(text)).stripped()

    @property
    def text(self) -> str:
        """The part itself."""
        return self.whole[self.start : self.end]

    def stripped(self) -> Written:
        """The part without blanks around it."""
        left = len(self.text) - len(self.text.lstrip())
        return self.part(left, left + len(self.text.strip()))

    def part(self, start: int, end: int | None = None) -> Written:
        """A part of this part, by positions inside it."""
        end = len(self.text) if end is None else end
        return Written(self.option, self.whole, self.start + start, self.start + end)

    def cut(self, separator: str) -> tuple[Written, Written | None]:
        """What stands before and behind the first separator, None where there is no separator."""
        at = self.text.find(separator)
        if at < 0:
            return self, None
        return self.part(0, at).stripped(), self.part(at + len(separator)).stripped()

    def split(self, separator: str) -> list[Written]:
        """The parts between separators that are neither quoted nor in brackets."""
        parts, start, depth, quoted, at = [], 0, 0, False, 0
        while at < len(self.text):
            letter = self.text[at]
            if quoted:
                quoted = letter != _QUOTE
                at += letter == "\\"
            elif letter == _QUOTE:
                quoted = True
            elif letter in _OPENING + _CLOSING:
                depth += 1 if letter in _OPENING else -1
            elif letter == separator and depth == 0:
                parts.append(self.part(start, at).stripped())
                start = at + 1
            at += 1
        return [*parts, self.part(start).stripped()]

    def excerpt(self, note: str) -> Excerpt:
        """The option and its text with this part underlined; a long text is cut down to the part's surroundings."""
        shown = printable(self.whole)
        end = max(self.end, self.start + 1)
        left = self.start - _AROUND if self.start > _AROUND else 0
        right = min(len(shown), min(end, self.start + _AROUND) + _AROUND)
        head = f"{self.with_value('')}{'…' if left else ''}"
        tail = "…" if right < len(shown) else ""
        shift = len(head) - left
        last = max(min(end, right), self.start + 1)
        return Excerpt(f"{head}{shown[left:right]}{tail}", self.start + shift, last + shift, note)

    def with_value(self, value: str) -> str:
        """The option with another value, for a fix: ``--claim pure:1``, ``claim=pure:1``."""
        return f"{self.option}{value}" if self.option.endswith("=") else f"{self.option} {value}"

    def instead(self, text: str) -> str:
        """The option with this part replaced, for a fix."""
        return self.with_value(printable(f"{self.whole[: self.start]}{text}{self.whole[self.end :]}"))

    def error(self, code: str, message: str, *, why: str, fix: str, note: str | None = None) -> ClaimError:
        """An error that points at this part."""
        if note is None:
            shown = printable(self.text if len(self.text) <= _AROUND else f"{self.text[:_AROUND]}…")
            note = f"got {shown}" if shown else "nothing here"
        return ClaimError(code, message, excerpt=self.excerpt(note), why=why, fix=fix)


def printable(text: str) -> str:
    """The text without letters that a terminal would obey."""
    return "".join(letter if letter.isprintable() else "·" for letter in text)


def nearest(word: str, words: Iterable[str]) -> str | None:
    """The word that was probably meant."""
    close = difflib.get_close_matches(word.lower(), list(words), n=1)
    return close[0] if close else None
