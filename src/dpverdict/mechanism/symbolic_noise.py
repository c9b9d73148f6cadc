"""The noise source that a traced function sees: draws are symbols, checks are those of the real source."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from dpverdict.mechanism import laws, noise
from dpverdict.mechanism.abilities import FiniteSupport
from dpverdict.mechanism.constants import NOTHING, ZERO, from_python, number
from dpverdict.mechanism.properties import has_few_values, is_random, kind_of, support
from dpverdict.mechanism.structure import Constant, Kind, Law, Term
from dpverdict.mechanism.symbol import Symbol, lower
from dpverdict.mechanism.symbol_array import symbol_array
from dpverdict.mechanism.trace import Path


class SymbolicNoise(noise.Noise):
    """Draws on a path of a tracing."""

    __slots__ = ("_path",)

    def __init__(self, path: Path) -> None:
        self._path = path

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """See `Noise.laplace`."""
        return self._placed(laws.Laplace, loc, scale, size)

    def exponential(self, scale: Any = 1.0, size: Any = None, loc: Any = 0.0) -> Any:
        """See `Noise.exponential`."""
        return self._placed(laws.Exponential, loc, scale, size)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """See `Noise.normal`."""
        return self._placed(laws.Gaussian, loc, scale, size)

    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """See `Noise.gumbel`."""
        return self._placed(laws.Gumbel, loc, scale, size)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        """See `Noise.uniform`."""
        noise.check_range(low, high)
        return self._each(laws.Uniform, size, low, high)

    def discrete_laplace(self, loc: Any = 0, scale: Any = 1.0, size: Any = None) -> Any:
        """See `Noise.discrete_laplace`."""
        return self._placed_whole(laws.DiscreteLaplace, loc, scale, size)

    def discrete_gaussian(self, loc: Any = 0, scale: Any = 1.0, size: Any = None) -> Any:
        """See `Noise.discrete_gaussian`."""
        return self._placed_whole(laws.DiscreteGaussian, loc, scale, size)

    def truncated_discrete_laplace(self, low: Any, high: Any, loc: Any = 0, scale: Any = 1.0, size: Any = None) -> Any:
        """See `Noise.truncated_discrete_laplace`."""
        return self._truncated(laws.TruncatedDiscreteLaplace, (low, high, loc, scale), size)

    def truncated_geometric(self, low: Any, high: Any, loc: Any = 0, scale: Any = 1.0, size: Any = None) -> Any:
        """See `Noise.truncated_geometric`."""
        return self._truncated(laws.TruncatedGeometric, (low, high, loc, scale), size)

    def bernoulli(self, p: Any = 0.5, size: Any = None) -> Any:
        """See `Noise.bernoulli`."""
        noise.check_probability(p)
        return self._each(laws.Bernoulli, size, p)

    def choice(self, a: Any, size: Any = None, replace: bool = True, p: Any = None) -> Any:
        """See `Noise.choice`."""
        noise.check_replace(replace)
        options = tuple(self._constant(option) for option in noise.options_of(a))
        if p is None:
            weights: tuple[Term, ...] = (number(Fraction(1, len(options))),) * len(options)
        else:
            noise.check_weights(p, len(options))
            self._check_sum(p)
            weights = self._terms(p)
        return self._each(lambda: laws.FiniteChoice(options, weights), size)

    def exponential_mechanism(self, scores: Any, rate: Any, values: Any = None, size: Any = None) -> Any:
        """See `Noise.exponential_mechanism`."""
        noise.check_scores(scores)
        listed = range(len(scores)) if values is None else values
        noise.check_one_each(scores, listed, "scores", "values")
        noise.check_number(rate, "rate")
        options = tuple(self._constant(option) for option in noise.options_of(list(listed)))
        law = laws.ExponentialMechanism(options, self._term(rate), self._terms(scores))
        return self._each(lambda: law, size)

    # From calls to laws.
    def _placed(self, law: Callable[..., Law], loc: Any, scale: Any, size: Any) -> Any:
        noise.check_number(loc, "loc")
        noise.check_scale(scale)
        return self._each(law, size, loc, scale)

    def _placed_whole(self, law: Callable[..., Law], loc: Any, scale: Any, size: Any) -> Any:
        noise.check_whole(loc, "loc")
        noise.check_whole_scale(scale)
        self._check_symbols_whole(loc)
        return self._each(law, size, loc, scale)

    def _truncated(self, law: Callable[..., Law], parameters: tuple[Any, Any, Any, Any], size: Any) -> Any:
        low, high, loc, scale = parameters
        noise.check_whole_range(low, high)
        noise.check_whole(loc, "loc")
        noise.check_whole_scale(scale)
        for given in (low, high, loc):
            self._check_symbols_whole(given)
        return self._each(law, size, loc, scale, low, high)

    def _check_symbols_whole(self, given: Any) -> None:
        for item in given if isinstance(given, (list, tuple, np.ndarray)) else (given,):
            if type(item) is Symbol and not kind_of(item._term).is_integral:
                noise.check_whole(self._path.concrete(item._term, "a whole number"), "a whole number")

    def _check_sum(self, weights: Any) -> None:
        """What the check of real noise asks of the sum, where it depends on symbols."""
        gap = sum(weights) - 1
        if type(gap) is Symbol and not (gap <= noise.TOLERANCE and gap >= -noise.TOLERANCE):
            raise ValueError("p must sum to 1")

    def _each(self, law: Callable[..., Law], size: Any, *parameters: Any) -> Any:
        """One draw, or an array of them over broadcast parameters."""
        shape = noise.shape_of(size, *parameters)
        if shape is None:
            return self._draw(law, parameters)
        broadcast = [np.broadcast_to(_objects(given), shape) for given in parameters]
        draws = [self._draw(law, tuple(array[at] for array in broadcast)) for at in np.ndindex(*shape)]
        return symbol_array(draws, shape)

    def _draw(self, law: Callable[..., Law], parameters: tuple[Any, ...]) -> Any:
        """A draw whose law has settled parameters; a noisy location is added instead."""
        settled = _law(law, *(self._term(given) for given in parameters))
        location = getattr(settled, "location", ZERO)
        if is_random(location) and not isinstance(settled, FiniteSupport):
            at_zero = settled.with_parameters((ZERO, *settled.parameters[1:]))  # the location comes first
            return self._draw_settled(at_zero) + Symbol(location, self._path)
        return self._draw_settled(settled)

    def _draw_settled(self, law: Law) -> Any:
        for parameter in law.parameters:
            if not has_few_values(parameter):
                self._path.stop(
                    f"the law {law.name} with a parameter that depends on continuous noise",
                    "let scales and probabilities depend on constants, ε, parameters, inputs or counts only",
                )
        drawn = self._path.draw(law)
        if law.kind is Kind.MIXED and NOTHING in (support(drawn._term) or ()):  # `is None` asks no symbol
            return self._path.concrete(drawn._term, "whether it is None")
        return drawn

    def _term(self, given: Any) -> Term:
        term = lower(given, self._path)
        if term is None or not kind_of(term).is_numeric:
            self._path.stop(f"a law's parameter {given!r}", "give finite numbers")
        return term

    def _terms(self, given: Any) -> tuple[Term, ...]:
        return tuple(self._term(item) for item in given)

    def _constant(self, option: Any) -> Constant:
        constant = from_python(option)
        if type(option) is Symbol or constant is None:
            self._path.stop("a choice among symbolic values", "choose an index, and use it to look the value up")
        return constant


@lru_cache(1 << 12)
def _law(build: Callable[..., Law], *parameters: Term) -> Law:
    return build(*parameters)


def _objects(given: Any) -> Any:
    if type(given) is Symbol or not isinstance(given, (list, tuple, np.ndarray)):
        single = np.empty((), dtype=object)
        single[()] = given
        return single
    if isinstance(given, np.ndarray):
        return np.asarray(given).astype(object)
    return np.asarray(symbol_array(list(given)))
