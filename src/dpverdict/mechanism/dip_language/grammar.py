"""The grammar of `.dip` files, and the parser that reads them."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from dpverdict.mechanism.dip_language.mistakes import Text
from dpverdict.mechanism.dip_language.syntax import At, File

if TYPE_CHECKING:
    from lark import Lark, UnexpectedInput

GRAMMAR = r"""
file: bound bound item*
?item: input | statement
input: "input" TYPE name [bound bound] ";"
bound: MINUS? NUMBER

?statement: declaration | assignment | noise | pair | exponential | choice
    | chance | condition | loop | leave | exit
declaration: [OUTPUT] TYPE name ";"
assignment: name "=" expression ";"
noise: name "=" (LAP | DLAP) rate operand ";"
pair: name "=" TDLAP rate operand operand operand ";"
exponential: name "=" "Exp" rate "{" score ("," score)* "}" ";"
score: constant ":" formula
choice: name "=" "choose" "{" weight ("," weight)* "}" ";"
weight: constant ":" formula
chance: "Prob" "{" formula "}" statement
condition: "if" expression "then" block ["else" block] ("fi" | "end") ";"
loop: "while" expression "do" block ("od" | "end") ";"
block: statement*
leave: "return" name+ ";"
exit: "exit" ";"
?constant: bound | truth
?rate: "\"" formula "\""
?operand: name | bound | "(" expression ")"

?expression: conjunction | expression OR conjunction -> binary
?conjunction: negation | conjunction AND negation -> binary
?negation: comparison | NOT negation -> unary
?comparison: sum | sum RELATION sum -> binary
?sum: product | sum (PLUS | MINUS) product -> binary
?product: factor | product (TIMES | OVER | MODULO) factor -> binary
?factor: atom | MINUS factor -> unary
?atom: number | truth | name | "(" expression ")"

?formula: term | formula (PLUS | MINUS) term -> binary
?term: signed | term (TIMES | OVER) signed -> binary
?signed: power | MINUS signed -> unary
?power: element | element POWER signed -> binary
?element: number | name | "(" formula ")" | FUNCTION "[" formula "]" -> unary

name: NAME
number: NUMBER
truth: TRUE | FALSE

TYPE.2: /(integer|int|bool|real)\b/
OUTPUT: "output"
LAP: "Lap"
DLAP: "DLap"
TDLAP: "TDLap"
OR.2: /\|\||or\b/
AND.2: /&&|and\b/
NOT.2: /!|not\b/
TRUE: "true"
FALSE: "false"
FUNCTION.2: /(Exp|Log|Sqrt)(?=\s*\[)/
RELATION: "<=" | ">=" | "==" | "<" | ">"
PLUS: "+"
MINUS: "-"
TIMES: "*"
OVER: "/"
MODULO: "%"
POWER: "^"
NUMBER: /[0-9]+(\.[0-9]+)?/
NAME: /[A-Za-z][A-Za-z0-9_]*/
COMMENT: /\/\/[^\n]*/
WHITESPACE: /[ \t\n]+/
%ignore COMMENT
%ignore WHITESPACE
"""

_SAID = {
    "SEMICOLON": ";",
    "NAME": "a variable",
    "NUMBER": "a number",
    "TYPE": "int, bool, real or integer",
    "RELATION": "<, <=, ==, >= or >",
    "$END": "the end of the file",
    "DBLQUOTE": '"',
    "EQUAL": "=",
    "LPAR": "(",
    "RPAR": ")",
    "LBRACE": "{",
    "RBRACE": "}",
    "COLON": ":",
    "COMMA": ",",
    "THEN": "then",
    "DO": "do",
    "FI": "fi",
    "OD": "od",
    "ELSE": "else",
}


def parse(text: Text) -> File:
    """What the text says.  Raises `ProgramFileError` at what cannot be read."""
    from lark import UnexpectedInput

    from dpverdict.mechanism.dip_language.building import Builder

    try:
        found = _parser().parse(text.content)
    except UnexpectedInput as error:
        raise _unexpected(text, error) from None
    return Builder(text).file(found)


@lru_cache(1)
def _parser() -> Lark:
    from lark import Lark

    return Lark(GRAMMAR, start="file", parser="lalr", propagate_positions=True, maybe_placeholders=True)


def _unexpected(text: Text, error: UnexpectedInput) -> Exception:
    start: int = len(text.content) if getattr(error, "pos_in_stream", None) is None else int(str(error.pos_in_stream))
    token = str(getattr(error, "token", "") or text.content[start : start + 1])
    if getattr(getattr(error, "token", None), "type", "") == "$END":
        start, token = len(text.content.rstrip()), ""
    wanted = set(
        getattr(error, "accepts", None) or getattr(error, "expected", None) or getattr(error, "allowed", None) or ()
    )
    if not text.content[:start].strip() or not _has_range_line(text):
        return _no_range_line(text, At(start, start + max(1, len(token))))
    if "SEMICOLON" in wanted and wanted & {"PLUS", "SEMICOLON"} and _starts_anew(text, start):
        end = len(text.content[:start].rstrip())
        return text.error(
            "DIP-011",
            "a semicolon is missing",
            At(end, end + 1),
            why="every statement ends with one, also fi and od",
            fix=f"{text.content[text.content.rfind(chr(10), 0, end) + 1 : end].strip()[-60:]};",
        )
    said = [_SAID[name] for name in sorted(wanted) if name in _SAID]
    got = f"{token[:40]!r} cannot stand here" if token else "the file ends too early"
    return text.error(
        "DIP-010",
        got,
        At(start, start + max(1, len(token))),
        why="nothing that can be read goes on so" + (f"; it could be {', '.join(said[:6])}" if said else ""),
        fix=_fix(token, wanted),
    )


def _fix(token: str, wanted: set[str]) -> str:
    if token == "=" and "RELATION" in wanted:
        return "== compares, = assigns"
    if token in {'"', "eps", "Exp"}:
        return 'ε stands in quotes or braces: r = Lap "eps / 2" q;'
    return 'docs/dip-language.md has the grammar; r = Lap "eps / 2" q; and if b then … fi; are statements'


def _starts_anew(text: Text, start: int) -> bool:
    """Whether what cannot be read is the beginning of a line, or of another statement."""
    between = text.content[len(text.content[:start].rstrip()) : start]
    words = {"if", "while", "return", "exit", "int", "bool", "real", "integer", "fi", "od", "end", "else", "Prob"}
    word = "".join(letter for letter in text.content[start : start + 8].split(" ")[0] if letter.isalpha())
    return "\n" in between or word in words or start >= len(text.content.rstrip())


def _has_range_line(text: Text) -> bool:
    first = text.content.lstrip().partition("\n")[0].split()
    return len(first) >= 2 and all(word.removeprefix("-").isdigit() for word in first[:2])


def _no_range_line(text: Text, at: At) -> Exception:
    return text.error(
        "DIP-012",
        "the range line is missing",
        at if text.content.strip() else At(0, 1),
        why="the first line holds two whole numbers: the smallest and the largest value that int variables take",
        fix="-5 5",
    )
