"""Symbols: what a traced function computes with in the place of numbers.

A `Symbol` wraps a term and the path that it was made on.  Its operators build terms; where Python demands a
decision or a concrete value, the path answers (`trace.Path`).  An operation without a form in the language stops
the tracing with a reason that names the line: it must never give a wrong program.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NoReturn, Protocol

from dpverdict.mechanism import algebra
from dpverdict.mechanism.constants import ZERO, NoMeaningError, from_python
from dpverdict.mechanism.properties import is_random, kind_of
from dpverdict.mechanism.structure import Constant, Kind, Term


class Tracing(Protocol):
    """What symbols ask of the path that they stand on."""

    def decide(self, condition: Term) -> bool:
        """Answer a condition, now and for the rest of the path."""

    def concrete(self, term: Term, demand: str) -> Any:
        """A concrete value for the term, where there can be one."""

    def stop(self, what: str, fix: str) -> NoReturn:
        """Give up tracing: this has no meaning for symbols."""

    def read(self, content: object) -> Constant | None:
        """A Python scalar as a constant, noting floats that are read as decimals."""

    def known(self, term: Term) -> Term:
        """One object for equal terms."""


class Symbol:
    """A number or boolean that is not known while tracing."""

    __slots__ = ("_path", "_term")

    _path: Tracing
    _term: Term

    def __init__(self, term: Term, path: Tracing) -> None:
        self._term = term
        self._path = path

    # What it claims to be, so that isinstance checks go the way they go in a real run.
    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return _PYTHON_TYPES.get(kind_of(self._term), float)

    # Where Python demands a decision or a value.
    def __bool__(self) -> bool:
        if kind_of(self._term) is Kind.TRUTH:
            return self._path.decide(self._term)
        if not kind_of(self._term).is_numeric:
            return bool(self._path.concrete(self._term, "bool()"))
        return not self._path.decide(algebra.compare("==", self._term, ZERO))

    def __float__(self) -> float:
        return float(self._path.concrete(self._term, "float()"))

    def __int__(self) -> int:
        return int(self._path.concrete(self._term, "int()"))

    def __index__(self) -> int:
        return operator.index(self._path.concrete(self._term, "an index"))

    def __complex__(self) -> complex:
        return complex(self._path.concrete(self._term, "complex()"))

    def __hash__(self) -> int:
        return hash(self._path.concrete(self._term, "a hash (dictionary key or set member)"))

    def __str__(self) -> str:
        return str(self._path.concrete(self._term, "text"))

    __repr__ = __str__

    def __format__(self, spec: str) -> str:
        if sys._getframe(1).f_globals.get("__name__", "").startswith("dpverdict.mechanism."):
            return "a symbolic value"  # for the message of an error, which is no part of an outcome
        return format(self._path.concrete(self._term, "text"), spec)

    def __round__(self, digits: int | None = None) -> Any:
        return round(self._path.concrete(self._term, "round()"), digits)

    def __trunc__(self) -> Any:
        return math.trunc(self._path.concrete(self._term, "trunc()"))

    def __floor__(self) -> Any:
        return math.floor(self._path.concrete(self._term, "floor()"))

    def __ceil__(self) -> Any:
        return math.ceil(self._path.concrete(self._term, "ceil()"))

    def __copy__(self) -> Symbol:
        return self

    def __deepcopy__(self, memo: object) -> Symbol:
        return self

    # Arithmetic.
    def __add__(self, other: Any) -> Any:
        return combine(self, other, algebra.add)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return combine(self, other, algebra.subtract)

    def __rsub__(self, other: Any) -> Any:
        return combine(self, other, lambda mine, theirs: algebra.subtract(theirs, mine))

    def __mul__(self, other: Any) -> Any:
        return combine(self, other, algebra.multiply)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return combine(self, other, self._quotient)

    def __rtruediv__(self, other: Any) -> Any:
        return combine(self, other, lambda mine, theirs: self._quotient(theirs, mine))

    def _quotient(self, left: Term, right: Term) -> Term:
        if self._path.decide(algebra.compare("==", right, ZERO)):
            raise ZeroDivisionError("division by zero")
        return algebra.divide(left, right)

    def __pow__(self, other: Any) -> Any:
        return combine(self, other, _power)

    def __rpow__(self, other: Any) -> Any:
        return combine(self, other, lambda mine, theirs: _power(theirs, mine))

    def __neg__(self) -> Any:
        return combine(self, -1, algebra.multiply)

    def __pos__(self) -> Any:
        return combine(self, 0, algebra.add)

    def __abs__(self) -> Any:
        return combine(self, 0, lambda mine, _: algebra.ranked([mine, algebra.scale(mine, Fraction(-1))], 1))

    def __floordiv__(self, other: Any) -> Any:
        return divided_whole(self, other, operator.floordiv)

    def __rfloordiv__(self, other: Any) -> Any:
        return divided_whole(self, other, operator.floordiv, reverse=True)

    def __mod__(self, other: Any) -> Any:
        return divided_whole(self, other, operator.mod)

    def __rmod__(self, other: Any) -> Any:
        return divided_whole(self, other, operator.mod, reverse=True)

    # Comparisons.
    def __lt__(self, other: Any) -> Any:
        return self._compared("<", other)

    def __le__(self, other: Any) -> Any:
        return self._compared("<=", other)

    def __gt__(self, other: Any) -> Any:
        return self._compared(">", other)

    def __ge__(self, other: Any) -> Any:
        return self._compared(">=", other)

    def __eq__(self, other: Any) -> Any:
        return self._compared("==", other)

    def __ne__(self, other: Any) -> Any:
        same = self._compared("==", other)
        if same is NotImplemented:
            return same
        return (not same) if type(same) is not Symbol else wrap(algebra.negate(same._term), self._path)

    def _compared(self, relation: str, other: Any) -> Any:
        if relation == "==" and not _is_number_like(self, other):
            return _equal_values(self, other)
        if type(other) is not Symbol and isinstance(other, float) and not math.isfinite(other):
            return {"<": other > 0, "<=": other > 0, ">": other < 0, ">=": other < 0, "==": False}[relation]
        return combine(self, other, _COMPARISONS[relation])

    # Booleans.
    def __and__(self, other: Any) -> Any:
        return logical(self, other, algebra.conjunction)

    def __or__(self, other: Any) -> Any:
        return logical(self, other, algebra.disjunction)

    def __xor__(self, other: Any) -> Any:
        return logical(self, other, lambda pair: algebra.choose(pair[0], algebra.negate(pair[1]), pair[1]))

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    # Functions that numpy and dpverdict call.
    def exp(self) -> Any:
        """e to the power of the symbol."""
        return combine(self, 0, lambda mine, _: algebra.elementary("exp", mine))

    def log(self) -> Any:
        """The natural logarithm of the symbol."""
        if not self > 0:
            raise ValueError("math domain error: the logarithm of a number that is not positive")
        return combine(self, 0, lambda mine, _: algebra.elementary("log", mine))

    def sqrt(self) -> Any:
        """The square root of the symbol."""
        if not self >= 0:
            raise ValueError("math domain error: the square root of a negative number")
        return combine(self, 0, lambda mine, _: algebra.power(mine, Fraction(1, 2)))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        from dpverdict.mechanism.symbol_array import apply_ufunc

        return apply_ufunc(ufunc, method, inputs, options)

    # Everything else has no meaning.  (What floats lack as well, such as len() or indexing, stays undefined: numpy
    # would take a symbol for a sequence.)
    def __getattr__(self, name: str) -> Any:
        caller = sys._getframe(1).f_globals.get("__name__", "")
        if name.startswith("__") or caller.split(".")[0] in ("numpy", "dpverdict"):
            raise AttributeError(name)
        self._path.stop(f"the attribute .{name} of a symbolic value", "use arithmetic and comparisons on it")

    def _no_meaning(self, *_: Any) -> NoReturn:
        self._path.stop("this operation on a symbolic value", "use arithmetic, comparisons, and/or/not on it")

    __matmul__ = __rmatmul__ = __divmod__ = __rdivmod__ = __invert__ = _no_meaning
    __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = _no_meaning


_PYTHON_TYPES: dict[Kind, type] = {Kind.TRUTH: bool, Kind.INTEGER: int, Kind.TEXT: str}

_COMPARISONS: dict[str, Callable[[Term, Term], Term]] = {
    "<": lambda mine, theirs: algebra.compare("<", mine, theirs),
    "<=": lambda mine, theirs: algebra.compare("<=", mine, theirs),
    ">": lambda mine, theirs: algebra.compare("<", theirs, mine),
    ">=": lambda mine, theirs: algebra.compare("<=", theirs, mine),
    "==": lambda mine, theirs: algebra.compare("==", mine, theirs),
}


def wrap(term: Term, path: Tracing) -> Any:
    """A term as the traced function sees it: known constants are plain Python values."""
    if isinstance(term, Constant):
        content = term.content
        return content.numerator if isinstance(content, Fraction) and content.denominator == 1 else content
    return Symbol(path.known(term), path)


def lower(content: Any, path: Tracing) -> Term | None:
    """The term of a symbol or scalar, None for anything else."""
    return content._term if type(content) is Symbol else path.read(content)


def combine(mine: Symbol, other: Any, build: Callable[[Term, Term], Term]) -> Any:
    """build(mine, other) where both are numbers."""
    path = mine._path
    theirs = lower(other, path)
    if theirs is None:
        return NotImplemented
    for term in (mine._term, theirs):
        if not kind_of(term).is_numeric:
            path.stop("arithmetic with a value that is not a finite number", "use finite numbers and booleans")
    try:
        return wrap(build(mine._term, theirs), path)
    except NoMeaningError as error:
        _stop_or_concrete(path, (mine._term, theirs), error)


def logical(mine: Symbol, other: Any, build: Callable[[tuple[Term, Term]], Term]) -> Any:
    """build((mine, other)) where both are booleans."""
    path = mine._path
    theirs = lower(other, path)
    if theirs is None:
        return NotImplemented
    if kind_of(mine._term) is not Kind.TRUTH or kind_of(theirs) is not Kind.TRUTH:
        path.stop("a bitwise operation on numbers", "use &, | and ^ on comparisons only")
    return wrap(build((mine._term, theirs)), path)


def tabulate(mine: Symbol, other: Any, function: Callable[[Any, Any], Any]) -> Any:
    """function(mine, other) where both have finitely many values."""
    path = mine._path
    theirs = lower(other, path)
    if theirs is None:
        return NotImplemented

    def entry(*keys: Constant) -> Constant:
        try:
            result = path.read(function(*(wrap(key, path) for key in keys)))
        except ZeroDivisionError:  # decided against on this path, by `divided_whole`
            return ZERO
        assert result is not None
        return result

    try:
        return wrap(algebra.lookup((mine._term, theirs), entry), path)
    except NoMeaningError as error:
        _stop_or_concrete(path, (mine._term, theirs), error)


def divided_whole(mine: Symbol, other: Any, function: Callable[[Any, Any], Any], *, reverse: bool = False) -> Any:
    """Floor division or remainder of finite values, in either order."""
    divisor = mine if reverse else other
    if lower(divisor, mine._path) is not None and divisor == 0:
        raise ZeroDivisionError("integer division or modulo by zero")
    return tabulate(mine, other, (lambda a, b: function(b, a)) if reverse else function)


def _stop_or_concrete(path: Tracing, terms: tuple[Term, ...], error: NoMeaningError) -> NoReturn:
    """Known inputs would settle it where no noise is involved; otherwise there is no way."""
    if not any(is_random(term) for term in terms):
        for term in terms:
            path.concrete(term, error.what)
    path.stop(error.what, error.fix)


def _power(base: Term, exponent: Term) -> Term:
    if isinstance(exponent, Constant):
        assert isinstance(exponent.content, (Fraction, bool))
        return algebra.power(base, Fraction(exponent.content))
    if isinstance(base, Constant) and base == from_python(math.e):
        return algebra.elementary("exp", exponent)
    return algebra.elementary("exp", algebra.multiply(exponent, algebra.elementary("log", base)))


def _is_number_like(mine: Symbol, other: Any) -> bool:
    if not kind_of(mine._term).is_numeric:
        return False
    return (kind_of(other._term) if type(other) is Symbol else Kind.REAL if _is_scalar(other) else Kind.TEXT).is_numeric


def _is_scalar(other: Any) -> bool:
    constant = from_python(other)
    return constant is not None and (constant.kind.is_numeric or constant.kind is Kind.NONFINITE)


def _equal_values(mine: Symbol, other: Any) -> Any:
    """Equality where a side is no number: text, None, or an array or object that answers itself."""
    path = mine._path
    theirs = lower(other, path)
    if theirs is None:
        return NotImplemented
    if kind_of(mine._term).is_numeric and isinstance(theirs, Constant):
        return False
    return tabulate(mine, other, operator.eq)
