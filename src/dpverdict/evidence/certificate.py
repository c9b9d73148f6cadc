"""Certificates: a verdict with what is needed to check it again, as a JSON file.

Unknown fields are kept, unknown versions refused.  The digest over everything else finds accidents and clumsy changes;
what a certificate says is checked by the kernel, which derives it again.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from dpverdict.errors import CertificateError, UsageError

FORMAT = "dpverdict certificate"
VERSION = 1

_MOST_BYTES = 1 << 30
_PACKAGES = ("dpverdict", "python-flint", "numpy", "scipy")


@dataclass(frozen=True, slots=True)
class Certificate:
    """The JSON object of a certificate, as it was made or read."""

    content: Mapping[str, Any]

    @property
    def digest(self) -> str:
        """The SHA-256 of everything but the digest itself, in one fixed form."""
        return digest_of(self.content)

    @property
    def verdict(self) -> Mapping[str, Any]:
        """The verdict's JSON."""
        return _object(self.content, "verdict")

    @property
    def mechanism(self) -> Mapping[str, Any]:
        """What was judged: the target, its arguments, and a fingerprint."""
        return _object(self.content, "mechanism")

    @property
    def claim(self) -> Mapping[str, Any]:
        """The arguments from which the claim is made again."""
        return _object(self.content, "claim")

    @property
    def evidence(self) -> Mapping[str, Any]:
        """What backs the verdict."""
        return _object(self.content, "evidence")

    def write(self, folder: Path) -> Path:
        """Write it into a folder, under a name that says what it is.  Raises UsageError where that cannot be done."""
        name = "".join(letter if letter.isalnum() else "-" for letter in str(self.mechanism.get("name")))
        path = folder / f"{name}-{self.verdict.get('verdict')}-{self.digest[:8]}.json"
        write_whole(path, json.dumps(self.content, ensure_ascii=False, allow_nan=False) + "\n")
        return path


def make_folder(folder: Path) -> None:
    """Make a folder for certificates, before there is work that could be lost.  Raises UsageError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(folder, error) from None


def write_whole(path: Path, text: str) -> None:
    """Write a file so that it is there as a whole or not at all.  Raises UsageError where that cannot be done."""
    make_folder(path.parent)
    try:
        part = path.with_suffix(".part")
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except OSError as error:
        raise _unwritable(path, error) from None


def _unwritable(path: Path, error: OSError) -> UsageError:
    return UsageError(
        "USAGE-030",
        f"nothing can be written there: {error.strerror or error}",
        place=str(path),
        why="a verdict is kept with what backs it, so that anyone can check it again",
        fix="--out a-folder-that-can-be-written",
    )


def certificate(
    verdict: Mapping[str, Any], mechanism: Mapping[str, Any], claim: Mapping[str, Any], evidence: Mapping[str, Any]
) -> Certificate:
    """A new certificate."""
    content = {
        "format": FORMAT,
        "version": VERSION,
        "verdict": {**verdict, "certificate": None},
        "mechanism": dict(mechanism),
        "claim": dict(claim),
        "evidence": dict(evidence),
        "environment": environment(),
    }
    # What is written is what is hashed: tuples become lists first.
    content = json.loads(json.dumps(content, ensure_ascii=False, allow_nan=False))
    return Certificate({**content, "digest": digest_of(content)})


def digest_of(content: Mapping[str, Any]) -> str:
    """The SHA-256 of a certificate's content without its digest."""
    rest = {name: value for name, value in content.items() if name != "digest"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def read(path: str) -> Certificate:
    """A certificate from a file.  Raises CertificateError where it is none, or of another version."""
    try:
        file = Path(path)
        if file.exists() and not file.is_file():
            raise _unreadable(path, "it is a folder, or no file at all")
        if file.stat().st_size > _MOST_BYTES:
            raise _unreadable(path, f"it has {file.stat().st_size:,} bytes")
        content = json.loads(file.read_text(encoding="utf-8"), parse_constant=_refuse_constant)
    except (OSError, ValueError, RecursionError) as error:
        raise _unreadable(path, f"{type(error).__name__}: {error}") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise _unreadable(path, f'it has no "format": "{FORMAT}"')
    if content.get("version") != VERSION:
        raise CertificateError(
            "CERT-002",
            f"a certificate of version {content.get('version')!r}",
            place=path,
            why=f"this release reads version {VERSION}, and what another one means would be a guess",
            fix="the release of dpverdict that wrote it, named under its key environment",
        )
    return Certificate(content)


def environment() -> dict[str, str]:
    """The releases that a certificate was made with."""
    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "unknown"
    return found


def _object(content: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = content.get(name)
    if not isinstance(part, dict):
        raise CertificateError(
            "CERT-003",
            f"the certificate has no {name}",
            why=f"its key {name} holds an object, here it is {str(part)[:60]!r}",
            fix="the file as dpverdict wrote it",
        )
    return part


def _refuse_constant(word: str) -> float:
    raise ValueError(f"{word} is no JSON number")


def _unreadable(path: str, why: str) -> CertificateError:
    return CertificateError(
        "CERT-001",
        "this is no certificate",
        place=path,
        why=why,
        fix="a .json file that dpverdict wrote; for a mechanism: dpverdict prove or dpverdict audit",
    )
