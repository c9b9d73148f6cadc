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
from types import FrameType
from typing import Any, NoReturn, TypeAlias

import numpy as np

from dpverdict.mechanism import algebra, decided_algebra
from dpverdict.mechanism.constants import ZERO, NoMeaningError, from_python, settled, to_python
from dpverdict.mechanism.numpy_callers import is_inside_numpy, may_read_booleans
from dpverdict.mechanism.place import is_users
from dpverdict.mechanism.properties import has_python_integers, is_random, kind_of, support
from dpverdict.mechanism.structure import Affine, Constant, Kind, Term
from dpverdict.mechanism.tracing import Tracing

_Build: TypeAlias = Callable[[Term, Term], Term]


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
        if self._path.is_taken and kind_of(self._term) is Kind.INTEGER and is_users(sys._getframe(1)):
            self._path.stop("the type of a number in a list that numpy has read", "look at types before using numpy")
        return (_NUMPY_TYPES if self._path.is_numpy else _PYTHON_TYPES).get(kind_of(self._term), float)

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
        return str(self._path.concrete(self._with_known_type(), "text"))

    def __repr__(self) -> str:
        if self._path.is_numpy:
            self._path.stop("repr() of a symbolic value", "use str()")
        return repr(self._path.concrete(self._with_known_type(), "text"))

    def _with_known_type(self) -> Term:
        """The term, if its texts are known with its values: is a 1 the whole number, or is it 1.0?"""
        kinds = {value.kind for value in support(self._term) or ()}
        if kinds & {Kind.INTEGER, Kind.REAL} and not has_python_integers(self._term):
            self._path.stop("the text of a symbolic number", "give a format, such as {x:.2f}")
        return self._term

    def __format__(self, spec: str) -> str:
        if sys._getframe(1).f_globals.get("__name__", "").startswith("dpverdict.mechanism."):
            return "a symbolic value"  # for the message of an error, which is no part of an outcome
        if spec[-1:] in ("e", "f", "g", "%") and kind_of(self._term).is_numeric:
            return format(float(self._path.concrete(self._term, "text")), spec)
        return format(self._path.concrete(self._with_known_type(), "text"), spec)

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

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        self._path.stop("pickling a symbolic value", "copy it instead: copy.copy, or a new list")

    # Arithmetic.
    def __add__(self, other: Any) -> Any:
        return combine(self, other, algebra.add)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return combine(self, other, algebra.subtract)

    def __rsub__(self, other: Any) -> Any:
        return combine(self, other, _subtract_from)

    def __mul__(self, other: Any) -> Any:
        return combine(self, other, algebra.multiply)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return combine(self, other, self._quotient_of(other), is_real=True)

    def __rtruediv__(self, other: Any) -> Any:
        divide = self._quotient_of(other)
        return combine(self, other, lambda mine, theirs: divide(theirs, mine), is_real=True)

    def _quotient_of(self, other: Any) -> Callable[[Term, Term], Term]:
        return lambda left, right: decided_algebra.quotient(side(self, other), left, right)

    def __pow__(self, other: Any) -> Any:
        return combine(self, other, self._power_of(other))

    def __rpow__(self, other: Any) -> Any:
        power = self._power_of(other)
        return combine(self, other, lambda mine, theirs: power(theirs, mine))

    def _power_of(self, other: Any) -> Callable[[Term, Term], Term]:
        return lambda base, exponent: decided_algebra.power(side(self, other), base, exponent)

    def __neg__(self) -> Any:
        self._check_sign()
        return combine(self, -1, algebra.multiply)

    def __pos__(self) -> Any:
        self._check_sign()
        return combine(self, 0, algebra.add)

    def _check_sign(self) -> None:
        if self._path.is_numpy and kind_of(self._term) is Kind.TRUTH:
            self._path.stop("a sign before a numpy boolean", "use ~ for not, or astype(int) for 0 and 1")

    def __abs__(self) -> Any:
        if self._path.is_numpy and kind_of(self._term) is Kind.TRUTH:
            return self
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

    def __invert__(self) -> Any:
        if not self._path.is_numpy or kind_of(self._term) is not Kind.TRUTH:
            self._no_meaning()
        return wrap(algebra.negate(self._term), self._path)

    # Functions that numpy and dpverdict call.
    def exp(self) -> Any:
        """e to the power of the symbol."""
        return combine(self, 0, lambda mine, _: algebra.elementary("exp", mine))

    def log(self) -> Any:
        """The natural logarithm of the symbol."""
        return combine(self, 0, lambda mine, _: decided_algebra.logarithm(self._path, mine))

    def sqrt(self) -> Any:
        """The square root of the symbol."""
        return combine(self, 0, lambda mine, _: decided_algebra.square_root(self._path, mine))

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        """The symbol as numpy takes it into an array, where its own rules hold from then on."""
        if dtype is None or np.dtype(dtype) != object:
            if kind_of(self._term) is not Kind.TRUTH:
                self._path = self._path.taken  # in place: of a list, numpy takes the symbols themselves
            elif not may_read_booleans(sys._getframe(1)):
                self._path.stop("numpy.array of symbolic booleans", "keep them in a list, or draw them with size=")
        single = np.empty((), dtype=object)
        single.fill(self)
        return single

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

    __matmul__ = __rmatmul__ = __divmod__ = __rdivmod__ = _no_meaning
    __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = _no_meaning


_PYTHON_TYPES: dict[Kind, type] = {Kind.TRUTH: bool, Kind.INTEGER: int, Kind.TEXT: str}
_NUMPY_TYPES: dict[Kind, type] = {
    Kind.TRUTH: np.bool_,
    Kind.INTEGER: np.int64,
    Kind.REAL: np.float64,
    Kind.TEXT: np.str_,
}

_COMPARISONS: dict[str, Callable[[Term, Term], Term]] = {
    "<": lambda mine, theirs: algebra.compare("<", mine, theirs),
    "<=": lambda mine, theirs: algebra.compare("<=", mine, theirs),
    ">": lambda mine, theirs: algebra.compare("<", theirs, mine),
    ">=": lambda mine, theirs: algebra.compare("<=", theirs, mine),
    "==": lambda mine, theirs: algebra.compare("==", mine, theirs),
}


_NARROW = frozenset(("f2", "f4", "i1", "i2", "i4", "u1", "u2", "u4", "u8"))


def wrap(term: Term, path: Tracing) -> Any:
    """A term as the traced function sees it: known constants are plain values."""
    if isinstance(term, Constant):
        return settled(term, is_real=False, is_numpy=path.is_numpy)
    return Symbol(path.known(term), path)


def side(mine: Symbol, other: Any) -> Tracing:
    """The side of the path that a result of both stands on."""
    path = mine._path
    if is_narrow(other):
        path.stop(f"arithmetic with {type(other).__name__}", "convert the number first: float(x) or int(x)")
    if path.is_numpy:
        return path
    of_numpy = other._path.is_numpy if type(other) is Symbol else isinstance(other, np.generic)
    return path.numpy if of_numpy else path


def is_narrow(given: Any) -> bool:
    """Whether it is numpy's, of a type that rounds or wraps around where Python's numbers do not."""
    return type(given) is not Symbol and isinstance(given, (np.generic, np.ndarray)) and given.dtype.str[1:] in _NARROW


def lower(content: Any, path: Tracing) -> Term | None:
    """The term of a symbol or scalar, None for anything else."""
    if type(content) is not Symbol:
        return path.read(content)
    if content._path.python is not path.python:
        path.stop("a symbolic value that an earlier run left behind", "keep no state between calls (globals, caches)")
    return content._term


def _subtract_from(mine: Term, theirs: Term) -> Term:
    return algebra.subtract(theirs, mine)


_OF_NUMPY_BOOLEANS: dict[_Build, _Build] = {
    algebra.add: lambda mine, theirs: algebra.disjunction((mine, theirs)),
    algebra.multiply: lambda mine, theirs: algebra.conjunction((mine, theirs)),
}


def _of_numpy_booleans(build: _Build, path: Tracing, caller: FrameType) -> _Build:
    if build in (algebra.subtract, _subtract_from):
        path.stop("the difference of numpy booleans", "use ^ for either-or, or astype(int) for 0 and 1")
    if build in _OF_NUMPY_BOOLEANS and is_inside_numpy(caller):
        path.stop(
            "a sum or product of symbolic booleans in a plain numpy array",
            "use the array as the noise source gave it, without numpy.asarray or numpy.array",
        )
    return _OF_NUMPY_BOOLEANS.get(build, build)


def combine(mine: Symbol, other: Any, build: _Build, *, is_real: bool = False) -> Any:
    """build(mine, other) where both are numbers; `is_real` if the result is a float also of whole numbers."""
    path = side(mine, other)
    theirs = lower(other, path)
    if theirs is None:
        return NotImplemented
    if type(mine._term) is Affine:  # perhaps a count: what is decided by now leaves it, so that it does not grow
        mine._term = path.without_decided(mine._term)
    for term in (mine._term, theirs):
        if not kind_of(term).is_numeric:
            path.stop("arithmetic with a value that is not a finite number", "use finite numbers and booleans")
    if path.is_numpy and kind_of(mine._term) is kind_of(theirs) is Kind.TRUTH:
        build = _of_numpy_booleans(build, path, sys._getframe(2))
    try:
        made = build(mine._term, theirs)
    except NoMeaningError as error:
        _stop_or_concrete(path, (mine._term, theirs), error)
    if not isinstance(made, Constant):
        return Symbol(path.known(made), path)
    is_real = is_real or isinstance(other, float) or Kind.REAL in (kind_of(mine._term), kind_of(theirs))
    return settled(made, is_real=is_real, is_numpy=path.is_numpy)


def logical(mine: Symbol, other: Any, build: Callable[[tuple[Term, Term]], Term]) -> Any:
    """build((mine, other)) where both are booleans."""
    path = side(mine, other)
    theirs = lower(other, path)
    if theirs is None:
        return NotImplemented
    if kind_of(mine._term) is not Kind.TRUTH or kind_of(theirs) is not Kind.TRUTH:
        path.stop("a bitwise operation on numbers", "use &, | and ^ on comparisons only")
    return wrap(build((mine._term, theirs)), path)


def tabulate(mine: Symbol, other: Any, function: Callable[[Any, Any], Any]) -> Any:
    """function(mine, other) where both have finitely many values."""
    path = side(mine, other)
    theirs = lower(other, path)
    if theirs is None:
        return NotImplemented

    def entry(*keys: Constant) -> Constant:
        try:
            result = path.read(function(*map(to_python, keys)))
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
    term = lower(divisor, mine._path)
    if term is not None and divisor == 0:
        decided_algebra.divided_by_zero(side(mine, other), term)
    return tabulate(mine, other, (lambda a, b: function(b, a)) if reverse else function)


def _stop_or_concrete(path: Tracing, terms: tuple[Term, ...], error: NoMeaningError) -> NoReturn:
    """Known inputs would settle it where no noise is involved; otherwise there is no way."""
    if not any(is_random(term) for term in terms):
        for term in terms:
            path.concrete(term, error.what)
    path.stop(error.what, error.fix)


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
