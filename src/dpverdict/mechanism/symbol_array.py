"""Arrays of symbols: numpy arrays of objects whose numpy operations build terms instead of forking paths.

Being real numpy arrays they index, slice, broadcast, reshape and iterate as numpy does.  What numpy would do to
objects by asking each comparison for a decision (comparisons, logic, maxima, sorting) is done on terms here.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from dpverdict.mechanism import algebra
from dpverdict.mechanism.constants import FALSE, TRUE, ZERO
from dpverdict.mechanism.properties import kind_of
from dpverdict.mechanism.structure import Constant, Kind, Term
from dpverdict.mechanism.symbol import Symbol, Tracing, lower, wrap

_Elementwise: TypeAlias = Callable[..., Any]


class SymbolArray(np.ndarray[Any, np.dtype[Any]]):
    """A numpy array of symbols and numbers."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return apply_ufunc(ufunc, method, inputs, options)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if func is np.where and len(args) == 3:
            return _broadcast(choose, [_as_objects(item) for item in args])
        if func is np.count_nonzero and len(args) == 1 and not kwargs:
            return sum(_as_boolean(item) + 0 for item in args[0].flat)
        return super().__array_function__(func, types, args, kwargs)

    def argmax(self, axis: Any = None, out: Any = None, **_: Any) -> Any:
        """The position of the first largest item, as one term."""
        return self._over(axis, argmax)

    def argmin(self, axis: Any = None, out: Any = None, **_: Any) -> Any:
        """The position of the first smallest item, as one term."""
        return self._over(axis, argmin)

    def max(self, axis: Any = None, out: Any = None, **_: Any) -> Any:
        """The largest item, as one term."""
        return self._over(axis, lambda items: extremum(items, largest=True))

    def min(self, axis: Any = None, out: Any = None, **_: Any) -> Any:
        """The smallest item, as one term."""
        return self._over(axis, lambda items: extremum(items, largest=False))

    def sort(self, axis: Any = -1, kind: Any = None, order: Any = None, **_: Any) -> None:
        """Ascending order statistics, in place."""
        if self.ndim != 1:
            _path_of(list(self.flat)).stop("sorting an array of several dimensions", "sort one row at a time")
        self[:] = order_statistics(list(self))

    def partition(self, *_: Any, **__: Any) -> None:
        """Not in the language, for the same reason as argsort."""
        self.argsort()

    def argsort(self, *_: Any, **__: Any) -> Any:
        """Not in the language: an order of n noisy values has n! forms."""
        _path_of(list(self.flat)).stop("argsort of symbolic values", "use argmax, max, min or sort")

    def any(self, axis: Any = None, out: Any = None, **_: Any) -> Any:  # type: ignore[override]
        """Whether any item is true, as one term."""
        return self._over(axis, lambda items: _junction(items, algebra.disjunction))

    def all(self, axis: Any = None, out: Any = None, **_: Any) -> Any:  # type: ignore[override]
        """Whether every item is true, as one term."""
        return self._over(axis, lambda items: _junction(items, algebra.conjunction))

    def astype(self, dtype: Any, *_: Any, **__: Any) -> Any:
        """Items as numbers of a type: booleans become 0 and 1, reals stay what they are."""
        return _array([_convert(item, np.dtype(dtype)) for item in self.flat], self.shape)

    def _over(self, axis: Any, function: Callable[[list[Any]], Any]) -> Any:
        if axis is None or self.ndim == 1:
            return function(list(self.flat))
        moved = np.moveaxis(np.asarray(self), axis, -1)
        rows = [function(list(row)) for row in moved.reshape(-1, moved.shape[-1])]
        return _array(rows, moved.shape[:-1])


def symbol_array(items: Sequence[Any], shape: tuple[int, ...] | None = None) -> Any:
    """An array of symbols and scalars."""
    return _array(list(items), (len(items),) if shape is None else shape)


def _array(items: list[Any], shape: tuple[int, ...]) -> Any:
    made = np.empty(len(items), dtype=object)
    for position, item in enumerate(items):
        made[position] = item
    return made.reshape(shape).view(SymbolArray)


def _path_of(items: Sequence[Any]) -> Tracing:
    return next(item._path for item in items if type(item) is Symbol)


def _terms(items: Sequence[Any]) -> tuple[Tracing, list[Term]]:
    path = _path_of(items)
    terms = [lower(item, path) for item in items]
    if not all(term is not None and kind_of(term).is_numeric for term in terms):
        path.stop("this operation on values that are not all finite numbers", "use finite numbers and booleans")
    return path, [term for term in terms if term is not None]


def _has_symbol(items: Sequence[Any]) -> bool:
    return any(type(item) is Symbol for item in items)


# --- primitives over several values, for plain numbers and symbols alike -------------------------------------


def argmax(items: Sequence[Any]) -> Any:
    """The position of the first largest item."""
    items = list(items)
    if not _has_symbol(items):
        return int(np.argmax(np.asarray(items)))
    path, terms = _terms(items)
    return wrap(algebra.argmax(terms), path)


def argmin(items: Sequence[Any]) -> Any:
    """The position of the first smallest item."""
    items = list(items)
    return argmax([-item for item in items]) if _has_symbol(items) else int(np.argmin(np.asarray(items)))


def extremum(items: Sequence[Any], *, largest: bool) -> Any:
    """The largest or the smallest item."""
    items = list(items)
    if not _has_symbol(items):
        return max(items) if largest else min(items)
    path, terms = _terms(items)
    return wrap(algebra.ranked(terms, len(terms) - 1 if largest else 0), path)


def order_statistics(items: Sequence[Any]) -> list[Any]:
    """The items in ascending order."""
    items = list(items)
    if not _has_symbol(items):
        return sorted(items)
    path, terms = _terms(items)
    return [wrap(algebra.ranked(terms, rank), path) for rank in range(len(terms))]


def choose(condition: Any, yes: Any, no: Any) -> Any:
    """`yes` where the condition holds, else `no`, without forking."""
    if type(condition) is not Symbol:
        return yes if condition else no
    path = condition._path
    terms = [lower(side, path) for side in (yes, no)]
    if terms[0] is None or terms[1] is None or not all(kind_of(t).is_numeric for t in terms if t is not None):
        return yes if condition else no
    test = condition._term
    if kind_of(test) is not Kind.TRUTH:
        test = algebra.negate(algebra.compare("==", test, ZERO))
    return wrap(algebra.choose(test, terms[0], terms[1]), path)


def _junction(items: list[Any], build: Callable[[list[Term]], Term]) -> Any:
    if not _has_symbol(items):
        return build([_truth_of(item) for item in items]) == TRUE
    path, terms = _terms(items)
    if not all(kind_of(term) is Kind.TRUTH for term in terms):
        path.stop("any or all of symbolic numbers", "compare the numbers first")
    return wrap(build(terms), path)


def _convert(item: Any, dtype: np.dtype[Any]) -> Any:
    if type(item) is not Symbol:
        return dtype.type(item).item()
    kind = kind_of(item._term)
    if (
        dtype.kind in "fO"
        or (dtype.kind in "iu" and kind is Kind.INTEGER)
        or (dtype.kind == "b" and kind is Kind.TRUTH)
    ):
        return item
    if dtype.kind in "iu" and kind is Kind.TRUTH:
        return item + 0
    if dtype.kind == "b":
        return item != 0
    return dtype.type(item._path.concrete(item._term, f"astype({dtype})"))


# --- numpy's ufuncs ------------------------------------------------------------------------------------------


def _logical(build: Callable[[list[Term]], Term]) -> _Elementwise:
    return lambda left, right: _junction([_as_boolean(left), _as_boolean(right)], build)


def _truth_of(item: Any) -> Constant:
    return TRUE if item else FALSE


def _as_boolean(item: Any) -> Any:
    if type(item) is Symbol:
        return item if kind_of(item._term) is Kind.TRUTH else item != 0
    return bool(item)


def _not(item: Any) -> Any:
    if type(item) is not Symbol:
        return not item
    return wrap(algebra.negate(_as_boolean(item)._term), item._path)


def _is_boolean(item: Any) -> bool:
    return kind_of(item._term) is Kind.TRUTH if type(item) is Symbol else isinstance(item, (bool, np.bool_))


def _method(name: str, plain: Callable[[Any], Any]) -> _Elementwise:
    return lambda item: getattr(item, name)() if type(item) is Symbol else plain(item)


_ELEMENTWISE: dict[str, _Elementwise] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "power": operator.pow,
    "float_power": operator.pow,
    "floor_divide": operator.floordiv,
    "remainder": operator.mod,
    "negative": operator.neg,
    "positive": operator.pos,
    "absolute": abs,
    "fabs": abs,
    "square": lambda item: item * item,
    "reciprocal": lambda item: 1 / item,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "equal": operator.eq,
    "not_equal": operator.ne,
    "logical_and": _logical(algebra.conjunction),
    "logical_or": _logical(algebra.disjunction),
    "logical_not": _not,
    "invert": lambda item: _not(item) if _is_boolean(item) else ~item,
    "bitwise_and": operator.and_,
    "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor,
    "logical_xor": lambda left, right: _as_boolean(left) ^ _as_boolean(right),
    "maximum": lambda left, right: extremum([left, right], largest=True),
    "minimum": lambda left, right: extremum([left, right], largest=False),
    "fmax": lambda left, right: extremum([left, right], largest=True),
    "fmin": lambda left, right: extremum([left, right], largest=False),
    "clip": lambda item, low, high: extremum([extremum([item, low], largest=True), high], largest=False),
    "exp": _method("exp", np.exp),
    "log": _method("log", np.log),
    "sqrt": _method("sqrt", np.sqrt),
    "isnan": lambda item: False if type(item) is Symbol else np.isnan(item),
    "isinf": lambda item: False if type(item) is Symbol else np.isinf(item),
    "isfinite": lambda item: True if type(item) is Symbol else np.isfinite(item),
    "sign": lambda item: (item > 0) * 1 - (item < 0) * 1,
}


def apply_ufunc(ufunc: Any, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """numpy's ufunc on arguments of which some are symbols or arrays of them."""
    arrays = [_as_objects(item) for item in inputs]
    items = [item for array in arrays for item in array.flat]
    if not _has_symbol(items):
        return getattr(ufunc, method)(*(np.asarray(array.tolist()) for array in arrays), **options)
    path = _path_of(items)
    function = _ELEMENTWISE.get(ufunc.__name__)
    if function is None or method not in ("__call__", "reduce", "accumulate") or _odd(options):
        path.stop(f"numpy.{ufunc.__name__} ({method}) on symbolic values", "use arithmetic and comparisons")
    if method == "__call__":
        return _store(_broadcast(function, arrays), options.get("out"))
    return _fold(ufunc.__name__, function, arrays[0], method, options)


def _odd(options: dict[str, Any]) -> bool:
    """Whether an option changes the meaning (a condition, a start value); types and shapes do not."""
    return any(options.get(name) is not None for name in ("where", "initial")) and options.get("where") is not True


def _as_objects(item: Any) -> Any:
    if isinstance(item, np.ndarray):
        return np.asarray(item).astype(object) if item.dtype != object else np.asarray(item)
    if type(item) is not Symbol and isinstance(item, (list, tuple)):
        return np.asarray(symbol_array(list(item)))
    single = np.empty((), dtype=object)
    single[()] = item
    return single


def _broadcast(function: _Elementwise, arrays: list[Any]) -> Any:
    shaped = np.broadcast_arrays(*arrays)
    results = [function(*items) for items in zip(*(array.flat for array in shaped), strict=True)]
    return results[0] if shaped[0].shape == () else _array(results, shaped[0].shape)


def _store(result: Any, out: Any) -> Any:
    if out is None:
        return result
    target = out[0] if isinstance(out, tuple) else out
    target[...] = result
    return target


def _fold(name: str, function: _Elementwise, array: Any, method: str, options: dict[str, Any]) -> Any:
    axis = options.get("axis", 0)
    if method == "accumulate":
        if array.ndim != 1:
            _path_of(list(array.flat)).stop("an accumulation over several dimensions", "accumulate one row at a time")
        running = list(array)
        for position in range(1, len(running)):
            running[position] = function(running[position - 1], running[position])
        return symbol_array(running)
    folds: dict[str, Callable[[list[Any]], Any]] = {
        "maximum": lambda items: extremum(items, largest=True),
        "minimum": lambda items: extremum(items, largest=False),
    }

    def fold(items: list[Any]) -> Any:
        if name in folds:
            return folds[name](items)
        result = items[0]
        for item in items[1:]:
            result = function(result, item)
        return result

    return array.view(SymbolArray)._over(axis, fold)
