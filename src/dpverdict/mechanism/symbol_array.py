"""Arrays of symbols: numpy arrays of objects whose numpy operations build terms instead of forking paths.

Being real numpy arrays they index, slice, broadcast, reshape and iterate as numpy does.  What numpy would do to
objects by asking each comparison for a decision (comparisons, logic, maxima, sorting) is done on terms here.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from dpverdict.mechanism import algebra
from dpverdict.mechanism.constants import FALSE, TRUE
from dpverdict.mechanism.primitives import (
    argmax,
    argmin,
    choose,
    extremum,
    has_symbol,
    numeric_terms,
    order_statistics,
    path_of,
)
from dpverdict.mechanism.properties import kind_of
from dpverdict.mechanism.structure import Constant, Kind, Term
from dpverdict.mechanism.symbol import Symbol, is_narrow, wrap

_Elementwise: TypeAlias = Callable[..., Any]


class SymbolArray(np.ndarray[Any, np.dtype[Any]]):
    """A numpy array of symbols and numbers."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return apply_ufunc(ufunc, method, inputs, options)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if func is np.where and len(args) == 3:
            return _broadcast(choose, [_as_objects(args[0]), *_alike([_as_objects(item) for item in args[1:]])])
        if func is np.count_nonzero and len(args) == 1 and not kwargs:
            return sum(_as_boolean(item) + 0 for item in args[0].flat)
        result = super().__array_function__(func, types, args, kwargs)
        return [_of_symbols(part) for part in result] if isinstance(result, list) else _of_symbols(result)

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(_decided(key))

    def __setitem__(self, key: Any, new: Any) -> None:
        super().__setitem__(_decided(key), self._fitting(new))

    def _fitting(self, new: Any) -> Any:
        """New items as the array's type holds them; one that it would have to round is refused."""
        widest = max((_width(item) for item in self.flat), default=3)
        items = _as_objects(new)
        wider = next((item for item in items.flat if _width(item) > widest), None)
        if wider is not None and not (type(wider) is float and wider.is_integer() and widest == 1):
            path_of([*self.flat, wider]).stop(
                "storing a number in an array of a narrower type", "make the array of the wider type: astype(float)"
            )
        return _array([item + 0 if _width(item) == 0 < widest else item for item in items.flat], items.shape)

    def tolist(self) -> Any:
        """The items as Python's own numbers, in nested lists."""
        if self.ndim == 0:
            return _of_python(self[()])
        return [row.tolist() if isinstance(row, SymbolArray) else _of_python(row) for row in self]

    def item(self, *at: Any) -> Any:
        """One item as Python's own number."""
        return _of_python(super().item(*at))

    def argmax(self, axis: Any = None, out: Any = None, **options: Any) -> Any:
        """The position of the first largest item, as one term."""
        return self._over(axis, {"out": out, **options}, argmax)

    def argmin(self, axis: Any = None, out: Any = None, **options: Any) -> Any:
        """The position of the first smallest item, as one term."""
        return self._over(axis, {"out": out, **options}, argmin)

    def max(self, axis: Any = None, out: Any = None, **options: Any) -> Any:
        """The largest item, as one term."""
        return self._over(axis, {"out": out, **options}, lambda items: extremum(items, largest=True))

    def min(self, axis: Any = None, out: Any = None, **options: Any) -> Any:
        """The smallest item, as one term."""
        return self._over(axis, {"out": out, **options}, lambda items: extremum(items, largest=False))

    def sort(self, axis: Any = -1, kind: Any = None, order: Any = None, **_: Any) -> None:
        """Ascending order statistics, in place."""
        if self.ndim != 1:
            path_of(list(self.flat)).stop("sorting an array of several dimensions", "sort one row at a time")
        super().__setitem__(slice(None), _array(order_statistics(list(self)), self.shape))

    def partition(self, *_: Any, **__: Any) -> None:
        """Not in the language: numpy's own order of the items around the pivot would have to be followed."""
        what = "a partition of symbolic values (numpy.partition, median, percentile)"
        path_of(list(self.flat)).stop(what, "sort the values and take items by position")

    def argsort(self, *_: Any, **__: Any) -> Any:
        """Not in the language: an order of n noisy values has n! forms."""
        path_of(list(self.flat)).stop("argsort of symbolic values", "use argmax, max, min or sort")

    def any(self, axis: Any = None, out: Any = None, **options: Any) -> Any:  # type: ignore[override]
        """Whether any item is true, as one term."""
        return self._over(axis, {"out": out, **options}, lambda items: _junction(items, algebra.disjunction))

    def all(self, axis: Any = None, out: Any = None, **options: Any) -> Any:  # type: ignore[override]
        """Whether every item is true, as one term."""
        return self._over(axis, {"out": out, **options}, lambda items: _junction(items, algebra.conjunction))

    def astype(self, dtype: Any, *_: Any, **__: Any) -> Any:
        """Items as numbers of a type: booleans become 0 and 1, reals stay what they are."""
        return _array([_convert(item, np.dtype(dtype)) for item in self.flat], self.shape)

    def _over(self, axis: Any, options: dict[str, Any], function: Callable[[list[Any]], Any]) -> Any:
        if _odd(options) or isinstance(axis, tuple):
            path_of(list(self.flat)).stop(f"a reduction with options {options}", "leave out all options but one axis")
        if axis is None or (self.ndim == 1 and axis in (0, -1)):
            return _of_numpy(function(list(self.flat)))
        moved = np.moveaxis(np.asarray(self), axis, -1)
        rows = [function(list(row)) for row in moved.reshape(-1, moved.shape[-1])]
        return _array(rows, moved.shape[:-1])


def symbol_array(items: Sequence[Any], shape: tuple[int, ...] | None = None) -> Any:
    """An array of symbols and scalars."""
    return _array(list(items), (len(items),) if shape is None else shape)


def _array(items: list[Any], shape: tuple[int, ...]) -> Any:
    made = np.empty(len(items), dtype=object)
    widths = {_width(item) for item in items}
    for position, item in enumerate(items):
        made[position] = _of_numpy(item + 0 if len(widths) > 1 and _width(item) == 0 and 3 not in widths else item)
    return made.reshape(shape).view(SymbolArray)


def _width(item: Any) -> int:
    """Which type of array it takes to hold the item: 0 booleans, 1 whole numbers, 2 reals, 3 anything."""
    if type(item) is Symbol:
        return {Kind.TRUTH: 0, Kind.INTEGER: 1, Kind.REAL: 2}.get(kind_of(item._term), 3)
    if isinstance(item, (bool, np.bool_)):
        return 0
    return 1 if isinstance(item, (int, np.integer)) else 2 if isinstance(item, (float, np.floating, Fraction)) else 3


def _of_symbols(result: Any) -> Any:
    """What numpy made of such arrays, as one of them; booleans among numbers have become numbers."""
    if not isinstance(result, np.ndarray) or result.dtype != object:
        return result
    widths = {_width(item) for item in result.flat}
    return _array(list(result.flat), result.shape) if 0 in widths and len(widths) > 1 else result.view(SymbolArray)


def _alike(arrays: list[Any]) -> list[Any]:
    """Arrays that numpy would give one type: beside numbers, booleans become numbers."""
    widths = {_width(item) for array in arrays for item in array.flat}
    if 0 not in widths or len(widths) == 1:
        return arrays
    return [_array([item + 0 if _width(item) == 0 else item for item in a.flat], a.shape) for a in arrays]


def _of_numpy(item: Any) -> Any:
    """The same symbol under numpy's rules, as an item of an array or what numpy makes of some."""
    if type(item) is not Symbol or item._path.is_numpy:
        return item
    return Symbol(item._term, item._path.numpy)


def _of_python(item: Any) -> Any:
    return Symbol(item._term, item._path.python) if type(item) is Symbol else _unwrapped(item)


def _decided(key: Any) -> Any:
    """An index or mask without symbols: the path decides about each."""
    if type(key) is Symbol:
        return bool(key) if kind_of(key._term) is Kind.TRUTH else operator.index(key)
    if type(key) is tuple:
        return tuple(map(_decided, key))
    if isinstance(key, (list, np.ndarray)) and has_symbol(list(_as_objects(key).flat)):
        objects = _as_objects(key)
        return np.asarray([_decided(item) for item in objects.flat]).reshape(objects.shape)
    return key


def _junction(items: list[Any], build: Callable[[list[Term]], Term]) -> Any:
    if not has_symbol(items):
        return build([_truth_of(item) for item in items]) == TRUE
    path, terms = numeric_terms(items)
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
    if not has_symbol(items):
        return getattr(ufunc, method)(*(np.asarray(array.tolist()) for array in arrays), **options)
    path = path_of(items)
    if ufunc is np.matmul and method == "__call__" and max(array.ndim for array in arrays) < 3:
        return _store(_dotted(*arrays), options.get("out"))
    function = _ELEMENTWISE.get(ufunc.__name__)
    out = options.get("out") if method == "__call__" else None
    odd = _odd({name: option for name, option in options.items() if name != "out" or method != "__call__"})
    narrow = any(is_narrow(item) for item in inputs)
    if function is None or method not in ("__call__", "reduce", "accumulate") or odd or narrow:
        path.stop(f"numpy.{ufunc.__name__} ({method}) on symbolic values", "use arithmetic and comparisons")
    if method == "__call__":
        return _store(_broadcast(_as_numpy(ufunc, function), arrays), out)
    return _fold(ufunc.__name__, function, arrays[0], method, options)


def _as_numpy(ufunc: Any, function: _Elementwise) -> _Elementwise:
    """The function; items that are plain numbers follow numpy's rules (True + True is True, 1 / 0 is no error)."""
    return lambda *row: function(*row) if any(type(item) in (Symbol, Fraction) for item in row) else ufunc(*row)


def _dotted(left: Any, right: Any) -> Any:
    """The matrix product of vectors or matrices."""
    product = np.dot(left, right)
    return product.view(SymbolArray) if isinstance(product, np.ndarray) else product


def _odd(options: dict[str, Any]) -> bool:
    """Whether an option of a reduction changes the meaning: a condition, a start value, a shape, a narrower type."""
    given = {name for name, option in options.items() if option is not None and option is not np._NoValue}
    return bool(
        given & {"initial", "out"}
        or ("where" in given and options["where"] is not True)
        or ("keepdims" in given and options["keepdims"] is not False)
        or ("dtype" in given and np.dtype(options["dtype"]) not in (np.dtype(float), np.dtype(object)))
    )


def _as_objects(item: Any) -> Any:
    if isinstance(item, np.ndarray):
        return np.asarray(item).astype(object) if item.dtype != object else np.asarray(item)
    if type(item) is not Symbol and isinstance(item, (list, tuple)):
        return np.asarray(symbol_array(list(item)))
    single = np.empty((), dtype=object)
    single[()] = item
    return single


def _unwrapped(item: Any) -> Any:
    """A numpy scalar as Python's own: its operators would hand a symbol back to numpy, and so on for ever."""
    return item.item() if type(item) is not Symbol and isinstance(item, np.generic) else item


def _broadcast(function: _Elementwise, arrays: list[Any]) -> Any:
    shaped = np.broadcast_arrays(*arrays)
    rows = zip(*(array.flat for array in shaped), strict=True)
    results = [_of_numpy(function(*(_of_numpy(_unwrapped(item)) for item in row))) for row in rows]
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
            path_of(list(array.flat)).stop("an accumulation over several dimensions", "accumulate one row at a time")
        running = [_counted(name, item) for item in array]
        for position in range(1, len(running)):
            running[position] = function(running[position - 1], running[position])
        return symbol_array(running)
    folds: dict[str, Callable[[list[Any]], Any]] = {
        "maximum": lambda items: extremum(items, largest=True),
        "minimum": lambda items: extremum(items, largest=False),
    }

    def fold(items: list[Any]) -> Any:
        items = [_counted(name, item) for item in items]
        if name in folds:
            return folds[name](items)
        result = items[0]
        for item in items[1:]:
            result = function(result, item)
        return result

    return array.view(SymbolArray)._over(axis, options, fold)


def _counted(name: str, item: Any) -> Any:
    """An item of a sum or product: numpy adds the booleans of an array up as 0 and 1."""
    item = _unwrapped(item)
    return item + 0 if name in ("add", "multiply") and _width(item) == 0 else item
