"""What an unfinished decision has settled, kept in a file from which the same question goes on.

The file is bound to its question by a digest.  Nothing in it is believed: a certificate of a sign is checked before it
is used, and the finished proof passes the kernel as any other.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpverdict.errors import DPVerdictError
from dpverdict.evidence.certificate import write_whole
from dpverdict.reading.exact.sign import Certificate
from dpverdict.reading.exact.sign_json import from_json
from dpverdict.search.decision import Earlier, Progress

FORMAT = "dpverdict unfinished proof"
VERSION = 1


@dataclass(frozen=True, slots=True)
class Unfinished:
    """The file in which a question's settled inequalities are kept."""

    path: Path
    digest: str

    @classmethod
    def of(cls, folder: Path, question: Mapping[str, Any]) -> Unfinished:
        """The file of a question, which is all that its answer depends on, as JSON."""
        digest = hashlib.sha256(json.dumps(question, sort_keys=True).encode()).hexdigest()
        return cls(folder / f"unfinished-{digest[:16]}.json", digest)

    def read(self) -> Earlier:
        """What is settled already: nothing where there is no such file, or another one."""
        try:
            content = json.loads(self.path.read_text(encoding="utf-8"))
            if (content["format"], content["version"], content["question"]) != (FORMAT, VERSION, self.digest):
                return {}
            found: dict[str, list[Certificate]] = {}
            for output, one, other, certificate in content["settled"]:
                at = json.dumps([output, one, other], sort_keys=True)
                found.setdefault(at, []).append(from_json(certificate))
        except (OSError, ValueError, TypeError, LookupError, RecursionError, DPVerdictError):
            # A file that was cut off or changed saves nothing; all is settled anew.
            return {}
        return found

    def write(self, done: Progress) -> None:
        """Keep what is settled.  Raises `UsageError` where that cannot be done."""
        content = {
            "format": FORMAT,
            "version": VERSION,
            "question": self.digest,
            "settled": [one.to_json() for one in done.settled],
        }
        write_whole(self.path, json.dumps(content, ensure_ascii=False, allow_nan=False) + "\n")

    def remove(self) -> None:
        """The question is answered."""
        self.path.unlink(missing_ok=True)
