"""The text of a `.dip` file, and errors that point into it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dpverdict.errors import Excerpt, ProgramFileError
from dpverdict.mechanism.dip_language.syntax import At
from dpverdict.mechanism.place import Place

_WIDEST = 160


@dataclass(frozen=True, slots=True)
class Text:
    """A file's name and content, with line ends as `\\n`."""

    file: str
    content: str

    def place(self, at: At) -> Place:
        """The place as file, line, and columns in bytes."""
        start, line = self._line_start(at), self.line(at)
        begin = len(self.content[start : at.start].encode())
        end = min(at.end, start + len(self._line_at(start)))
        return Place(self.file, line, begin, begin + max(1, len(self.content[at.start : end].encode())))

    def line(self, at: At) -> int:
        """The number of the line, from 1 on."""
        return self.content.count("\n", 0, at.start) + 1

    def where(self, at: At) -> str:
        """File, line and column for people."""
        return f"{Path(self.file).name}, line {self.line(at)}, column {at.start - self._line_start(at) + 1}"

    def error(self, code: str, message: str, at: At, *, why: str, fix: str) -> ProgramFileError:
        """An error with the line, and a caret below the part that is wrong."""
        return ProgramFileError(code, message, why=why, fix=fix, excerpt=self._excerpt(at), place=self.where(at))

    def _excerpt(self, at: At) -> Excerpt:
        """The line with the part underlined; a long line is cut down to the part's surroundings."""
        start = self._line_start(at)
        line = "".join(letter if letter.isprintable() else " " for letter in self._line_at(start))
        begin, end = at.start - start, min(at.end - start, len(line))
        left = max(0, begin - _WIDEST // 2) if len(line) > _WIDEST else 0
        left = left or len(line) - len(line.lstrip()) if begin >= len(line) - len(line.lstrip()) else left
        right = left + _WIDEST
        return Excerpt(line[left:right], begin - left, max(begin + 1, min(end, right)) - left)

    def _line_start(self, at: At) -> int:
        return self.content.rfind("\n", 0, at.start) + 1

    def _line_at(self, start: int) -> str:
        end = self.content.find("\n", start)
        return self.content[start : len(self.content) if end < 0 else end]
