"""Whatever a person may type wrong in a `.dip` file: an error with line, caret, reason and fix."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dpverdict.errors import InputError, ProgramFileError
from dpverdict.mechanism.dip_language.program_file import mechanism_from_file

HEAD = "-5 5\ninput int q0 -1 1;\ninput bool b0;\nint x;\nbool b;\nreal r;\nreal s;\ninteger z;\nx = 1;\nb = true;\n"
HEAD += 'r = Lap "eps" x;\nz = DLap "eps" x;\n'
END = "return x;\n"

# The statements that follow HEAD, the code, the line that is shown, and the part of it that is underlined.
WRONG = [
    ("x = 1\nx = 2;", "DIP-011", "x = 1", " "),
    ("if b then x = 1; fi\nx = 2;", "DIP-011", "if b then x = 1; fi", " "),
    ("x = = 1;", "DIP-010", "x = = 1;", "="),
    ("x = 1 $ 2;", "DIP-010", "x = 1 $ 2;", "$"),
    ("b = x = 1;", "DIP-010", "b = x = 1;", "="),
    ("if b x = 1; fi;", "DIP-010", "if b x = 1; fi;", "x"),
    ("return ;", "DIP-010", "return ;", ";"),
    ('r = Lap "eps / 2 x;', "DIP-010", 'r = Lap "eps / 2 x;', "x"),
    ("s = Lap eps x;", "DIP-010", "s = Lap eps x;", "eps"),
    ("x = " + "9" * 400 + ";", "DIP-013", "x = " + "9" * 156, "9" * 20),
    ("x = " + "-" * 100 + "x;", "DIP-014", None, "-"),
    ("if b then " * 100 + "x = 1; " + "fi; " * 100, "DIP-014", None, "i"),
    ("y = 1;", "DIP-021", "y = 1;", "y"),
    ("x = y + 1;", "DIP-021", "x = y + 1;", "y"),
    ("x = eps;", "DIP-020", "x = eps;", "eps"),
    ("x = 1 + E;", "DIP-020", "x = 1 + E;", "E"),
    ("int eps;", "DIP-033", "int eps;", "eps"),
    ("int x;", "DIP-033", "int x;", "x"),
    ("x = true;", "DIP-022", "x = true;", "true"),
    ("x = b + 1;", "DIP-022", "x = b + 1;", "b"),
    ("x = r;", "DIP-022", "x = r;", "r"),
    ("x = 0.5;", "DIP-022", "x = 0.5;", "0.5"),
    ("b = x;", "DIP-022", "b = x;", "x"),
    ("b = ! x;", "DIP-022", "b = ! x;", "x"),
    ("b = b0 < b;", "DIP-022", "b = b0 < b;", "b0"),
    ("r = b;", "DIP-022", "r = b;", "b"),
    ("r = z;", "DIP-022", "r = z;", "z"),
    ("if x then x = 1; fi;", "DIP-022", "if x then x = 1; fi;", "x"),
    ("while x + 1 do x = 1; od;", "DIP-022", "while x + 1 do x = 1; od;", "x + 1"),
    ('s = Lap "eps" r;', "DIP-022", 's = Lap "eps" r;', "r"),
    ('s = Lap "r * eps" x;', "DIP-022", 's = Lap "r * eps" x;', "r"),
    ("Prob{b} x = 2;", "DIP-022", "Prob{b} x = 2;", "b"),
    ("Prob{2 ^ eps} x = 2;", "DIP-023", "Prob{2 ^ eps} x = 2;", "eps"),
    ("s = r * r;", "DIP-024", "s = r * r;", "r * r"),
    ("s = 1 / r;", "DIP-024", "s = 1 / r;", "1 / r"),
    ("z = z / 2;", "DIP-024", "z = z / 2;", "z / 2"),
    ("s = 1 / 2 * r;", "DIP-025", "s = 1 / 2 * r;", "1 / 2"),
    ("b = r < z;", "DIP-026", "b = r < z;", "r < z"),
    ("b = r + z < 1;", "DIP-026", "b = r + z < 1;", "r + z"),
    ("q0 = 1;", "DIP-040", "q0 = 1;", "q0"),
    ('while b do r = Lap "eps" x; od;', "DIP-041", 'while b do r = Lap "eps" x; od;', "r"),
    ("while b do if b then s = x; fi; od;", "DIP-041", "while b do if b then s = x; fi; od;", "s"),
    ('while b do z = DLap "eps" x; od;', "DIP-041", 'while b do z = DLap "eps" x; od;', "z"),
    ("x = 6;", "DIP-042", "x = 6;", "6"),
    ("x = -6;", "DIP-042", "x = -6;", "-6"),
    ("x = choose { 1 : 1/2 , 9 : 1/2 };", "DIP-042", "x = choose { 1 : 1/2 , 9 : 1/2 };", "9"),
    ('x = Lap "eps" x;', "DIP-043", 'x = Lap "eps" x;', "x"),
    ('r = TDLap "eps" x -1 1;', "DIP-043", 'r = TDLap "eps" x -1 1;', "r"),
    ("r = choose { 1 : 1 };", "DIP-043", "r = choose { 1 : 1 };", "r"),
    ('x = TDLap "eps" x 1 -1;', "DIP-044", 'x = TDLap "eps" x 1 -1;', "1 -1"),
    ("x = choose { 1 : 1/2 , 1 : 1/2 };", "DIP-045", "x = choose { 1 : 1/2 , 1 : 1/2 };", "1"),
    ("exit;", "DIP-046", "exit;", "exit;"),
    ("if b then return b; fi;", "DIP-047", "return x;", "return x;"),
    ("if b then return x x; fi;", "DIP-047", "return x;", "return x;"),
    ("return r;", "DIP-048", "return r;", "r"),
    ("output real t;", "DIP-048", "output real t;", "t"),
    ('r = Lap "-1 * eps" x;', "DIP-050", 'r = Lap "-1 * eps" x;', "-1 * eps"),
    ('r = Lap "0" x;', "DIP-050", 'r = Lap "0" x;', "0"),
    ('x = Exp "0 - eps" { 0 : 1 , 1 : 2 };', "DIP-050", 'x = Exp "0 - eps" { 0 : 1 , 1 : 2 };', "0 - eps"),
    ('x = Exp "eps" { 0 : eps , 1 : 2 };', "DIP-020", 'x = Exp "eps" { 0 : eps , 1 : 2 };', "eps"),
    ("Prob{Exp[eps] + 1} x = 2;", "DIP-051", "Prob{Exp[eps] + 1} x = 2;", "Exp[eps] + 1"),
    ("Prob{3/2} x = 2;", "DIP-051", "Prob{3/2} x = 2;", "3/2"),
    ("x = choose { 1 : 1/2 , 2 : 1/3 };", "DIP-052", "x = choose { 1 : 1/2 , 2 : 1/3 };", "1/2 , 2 : 1/3"),
    ("x = x / 0;", "DIP-053", "x = x / 0;", "0"),
    ("x = x % 0;", "DIP-053", "x = x % 0;", "0"),
    ('r = Lap "eps / 0" x;', "DIP-053", 'r = Lap "eps / 0" x;', "0"),
    ("b = s > r;", "DIP-061", "b = s > r;", "s"),
    ("if b then s = x; fi;\nb = s > r;", "DIP-061", "b = s > r;", "s"),
    ("int y;\nwhile b do y = 1; b = false; od;\nx = y;", "DIP-061", "x = y;", "y"),
    ("input int q1 0 1;", "DIP-034", "input int q1 0 1;", "input int q1 0 1;"),
]


def _error(tmp_path: Path, content: str | bytes) -> ProgramFileError:
    file = tmp_path / "wrong.dip"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ProgramFileError) as caught:
        mechanism_from_file(file)
    error = caught.value
    assert error.why
    assert error.fix
    assert max(map(len, str(error).splitlines())) < 300
    return error


@pytest.mark.parametrize(("lines", "code", "shown", "underlined"), WRONG, ids=[case[0][:50] for case in WRONG])
def test_mistakes_are_located(tmp_path: Path, lines: str, code: str, shown: str | None, underlined: str) -> None:
    error = _error(tmp_path, HEAD + lines + "\n" + END)
    assert error.code == code, error
    assert error.excerpt is not None
    text = error.excerpt.text + " "
    assert shown is None or error.excerpt.text == shown
    assert text[error.excerpt.start : error.excerpt.end] == underlined
    number = int(re.search(r"wrong\.dip, line (\d+), column \d+$", error.place or "")[1])  # type: ignore[index]
    whole = (HEAD + lines + "\n" + END).splitlines()[number - 1]
    assert shown is None or whole.startswith(shown)


def test_the_head_itself_is_right(tmp_path: Path) -> None:
    file = tmp_path / "right.dip"
    file.write_text(HEAD + END)
    assert mechanism_from_file(file).name == "right"


FILES = [
    (b"", "DIP-012"),
    (b"\n\n", "DIP-012"),
    (b"int x;\nx = 1;\nreturn x;\n", "DIP-012"),
    (b"5\ninput int q;\nreturn q;\n", "DIP-012"),
    (b"5 -5\ninput int q;\nreturn q;\n", "DIP-030"),
    (b"-5 5\n", "DIP-031"),
    (b"-5 5\nint x;\nx = 1;\nreturn x;\n", "DIP-031"),
    (b"-5 99999999999999999999\ninput int q;\nreturn q;\n", "DIP-032"),
    (b"-5 1.5\ninput int q;\nreturn q;\n", "DIP-032"),
    (b"-5 5\ninput real q;\nreturn q;\n", "DIP-035"),
    (b"-5 5\ninput bool q 0 1;\nreturn q;\n", "DIP-035"),
    (b"-5 5\ninput int q 3 7;\nreturn q;\n", "DIP-036"),
    (b"-5 5\ninput int q 3 2;\nreturn q;\n", "DIP-036"),
    (b"-5 5\ninput int q;\nbool b;\nb = q > 0;\nif b then return q; fi;\n", "DIP-060"),
    (b"-5 5\ninput int q;\nwhile q < 2 do return q; od;\n", "DIP-060"),
    (b"-5 5\ninput int q;\nreturn q", "DIP-011"),
    (b"-5 5\ninput int q;\nif true then return q;", "DIP-010"),
    (b"-5 5\ninput int \xff;\n", "DIP-001"),
    (b"\x00\x01\x02", "DIP-012"),
]


@pytest.mark.parametrize(("content", "code"), FILES, ids=[repr(content)[:50] for content, _ in FILES])
def test_whole_files_that_are_wrong(tmp_path: Path, content: bytes, code: str) -> None:
    assert _error(tmp_path, content).code == code


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.dip", tmp_path):
        with pytest.raises(ProgramFileError, match="cannot be read"):
            mechanism_from_file(path)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_line_ends_and_byte_order_marks_do_not_matter(tmp_path: Path, end: str, mark: bytes) -> None:
    file = tmp_path / "ends.dip"
    file.write_bytes(mark + (HEAD + END).replace("\n", end).encode())
    assert mechanism_from_file(file).program_for([0, True]).paths == 1
    file.write_bytes(mark + (HEAD + "x = y;\n" + END).replace("\n", end).encode())
    with pytest.raises(ProgramFileError) as caught:
        mechanism_from_file(file)
    assert caught.value.place == "ends.dip, line 13, column 5"


INPUTS = [[0], [0, True, 1], 0, None, "01", [True, True], [0, 1], [0.5, True], [0, None], [6, False], [[0], True]]


@pytest.mark.parametrize("input", INPUTS, ids=repr)
def test_inputs_that_do_not_fit(tmp_path: Path, input: object) -> None:
    file = tmp_path / "right.dip"
    file.write_text(HEAD + END)
    mechanism = mechanism_from_file(file)
    with pytest.raises(InputError, match=r"q0|one value"):
        mechanism.program_for(input)


RAISING = [
    ("x = x + 5;", "OverflowError", "6 is outside of the range line, which allows -5 to 5"),
    ("x = x / q0;", "ZeroDivisionError", "division"),
    ("x = x % q0;", "ZeroDivisionError", "division"),
    ('r = Lap "q0 * eps" x;', "ValueError", "a rate has to be positive"),
    ("Prob{q0 - 1} x = 2;", "ValueError", "p must lie from 0 to 1"),
    ("x = choose { 1 : q0 , 2 : q0 };", "ValueError", "p must sum to 1"),
]


@pytest.mark.parametrize(("line", "exception", "message"), RAISING, ids=[case[0] for case in RAISING])
def test_what_depends_on_values_is_an_outcome_that_names_its_line(
    tmp_path: Path, line: str, exception: str, message: str
) -> None:
    import numpy as np

    from dpverdict.mechanism.graph import in_order
    from dpverdict.mechanism.structure import RaiseNode

    file = tmp_path / "raising.dip"
    file.write_text(HEAD + line + "\n" + END)
    mechanism = mechanism_from_file(file)
    with pytest.raises((OverflowError, ZeroDivisionError, ValueError)) as caught:
        mechanism(np.random.default_rng(1), [0, True], epsilon=1.0)
    assert type(caught.value).__name__ == exception
    assert message in str(caught.value)
    assert "raising.dip, line 13, column 1: " in str(caught.value)
    raised = [node for node in in_order(mechanism.program_for([0, True]).root) if isinstance(node, RaiseNode)]
    assert [node.exception for node in raised] == [exception]
