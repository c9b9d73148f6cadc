"""Random programs in DiPC's language, nearly all of them well typed."""

from __future__ import annotations

from hypothesis import strategies as st

HEAD = """-3 3
input int q0 -1 1;
input int q1 -1 1;
input bool p0;
int x;
int y;
int n;
bool b;
bool c;
real r;
real s;
integer z;
x = 1;
y = q0;
b = p0;
c = q0 < q1;
r = Lap "eps / 2" q0;
s = Lap "eps" x;
z = DLap "eps" q1;
"""

NAMES = {"int": ("x", "y", "q0", "q1"), "bool": ("b", "c", "p0"), "real": ("r", "s"), "integer": ("z",)}
TARGETS = {"int": ("x", "y"), "bool": ("b", "c"), "real": ("r", "s"), "integer": ("z",)}

RATES = ("eps", "eps / 2", "2 * eps / 3", "eps * ( q0 + 2 )", "1 / eps", "x * eps", "3", "eps - 1", "Sqrt[eps]")
CHANCES = ("1/2", "1/(Exp[eps]+1)", "Exp[-eps]", "E^(-eps/2)", "(1-eps)/2", "q0 * q0", "0.25", "1/(x*x+1)")


def _atom(kind: str) -> st.SearchStrategy[str]:
    literals = {"int": ("0", "1", "-1", "2"), "bool": ("true", "false"), "real": ("0.5", "-1.25"), "integer": ()}
    atoms = st.sampled_from(NAMES[kind] + literals[kind])
    return st.one_of(atoms, _atom("int")) if kind in ("real", "integer") else atoms


def expressions(kind: str, depth: int = 2) -> st.SearchStrategy[str]:
    """An expression of this type."""
    if depth == 0:
        return _atom(kind)
    inner = expressions(kind, depth - 1)
    ints = expressions("int", depth - 1)
    atom = _atom(kind)
    if kind == "bool":
        relation = st.sampled_from(("<", "<=", "==", ">=", ">"))
        sides = st.sampled_from(("int", "int", "real", "integer")).flatmap(
            lambda of: st.tuples(expressions(of, depth - 1), relation, expressions(of, depth - 1))
        )
        joined = st.tuples(inner, st.sampled_from(("&&", "||", "and", "or")), inner)
        return st.one_of(atom, sides.map(_in_brackets), joined.map(_in_brackets), inner.map(lambda e: f"! ( {e} )"))
    operators = ("+", "-", "*", "/", "%") if kind == "int" else ("+", "-")
    both = st.tuples(inner, st.sampled_from(operators), inner).map(_in_brackets)
    scaled = st.tuples(ints, st.just("*"), inner).map(_in_brackets)
    return st.one_of(atom, both, scaled, inner.map(lambda e: f"- ( {e} )"))


def _in_brackets(parts: tuple[str, ...]) -> str:
    return f"( {' '.join(parts)} )"


def _assignment(kinds: tuple[str, ...]) -> st.SearchStrategy[str]:
    def of(kind: str) -> st.SearchStrategy[str]:
        return st.tuples(st.sampled_from(TARGETS[kind]), expressions(kind)).map(lambda p: f"{p[0]} = {p[1]};")

    return st.sampled_from(kinds).flatmap(of)


def _draw(looping: bool) -> st.SearchStrategy[str]:
    rate, x = st.sampled_from(RATES), st.sampled_from(TARGETS["int"])
    ints, chance = expressions("int", 1), st.sampled_from(CHANCES)
    finite = [
        st.tuples(x, rate, ints).map(lambda p: f'{p[0]} = TDLap "{p[1]}" ( {p[2]} ) -1 1;'),
        st.tuples(x, rate).map(lambda p: f'{p[0]} = Exp "{p[1]}" {{ 0 : q0 , 1 : q1 / 2 , -1 : 0.5 }};'),
        st.tuples(x, chance).map(lambda p: f"{p[0]} = choose {{ 0 : {p[1]} , 1 : 1 - {p[1]} }};"),
    ]
    if looping:
        return st.one_of(finite)
    real = st.tuples(st.sampled_from(("r = Lap", "s = Lap", "z = DLap")), rate, ints)
    return st.one_of(*finite, real.map(lambda p: f'{p[0]} "{p[1]}" ( {p[2]} );'))


def statements(depth: int, looping: bool = False) -> st.SearchStrategy[str]:
    """A statement; inside a loop it assigns no noise."""
    kinds = ("int", "bool") if looping else ("int", "bool", "bool", "real", "integer")
    simple = st.one_of(_assignment(kinds), _draw(looping))
    chance = st.tuples(st.sampled_from(CHANCES), simple).map(lambda p: f"Prob{{{p[0]}}} {p[1]}")
    if depth == 0:
        return st.one_of(simple, chance)
    block = st.lists(statements(depth - 1, looping), max_size=3).map(" ".join)
    test = expressions("bool", 1)
    ways = st.tuples(test, block, block).map(lambda p: f"if {p[0]} then {p[1]} else {p[2]} fi;")
    early = test.map(lambda e: f"if {e} then return b x; fi;")
    inner = st.lists(statements(depth - 1, True), max_size=3).map(" ".join)
    loop = inner.map(lambda body: f"n = 0; while n < 2 do {body} n = n + 1; od;")
    open_loop = inner.map(lambda body: f"while b do {body} od;")
    return st.one_of(simple, chance, ways, early, *([] if looping else [loop, loop, open_loop]))


def programs() -> st.SearchStrategy[str]:
    """A whole file."""
    body = st.lists(statements(2), max_size=6).map("\n".join)
    return body.map(lambda lines: f"{HEAD}{lines}\nreturn b x;\n")
