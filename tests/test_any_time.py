"""Bets and wealth: that no kept promise lets wealth grow on average, and how it is multiplied out and read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import pytest
from flint import ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from dpverdict.claim import Approximate
from dpverdict.errors import EvidenceError
from dpverdict.evidence.allowance import Allowance
from dpverdict.evidence.any_time import AnyTimeBound, AnyTimeTest, Player, Round, log_growth
from dpverdict.evidence.bets import CoupledBet, EventBet, LearnedBet, PayoffBet, Stakes, product
from dpverdict.evidence.rates import ball, float_below

ALPHA = Fraction(1, 20)
SHARES = st.fractions(min_value=Fraction(1, 1000), max_value=Fraction(999, 1000), max_denominator=1000)
EPSILONS = st.fractions(min_value=0, max_value=3, max_denominator=100)
DELTAS = st.fractions(min_value=0, max_value=Fraction(1, 2), max_denominator=1000)
UNITS = st.floats(0, 1)
SLIGHTLY = 1e-9


def pure(epsilon: Fraction | int | str) -> Approximate:
    return Approximate(Fraction(epsilon), Fraction(0))


def mean(factors: Sequence[float], chances: Sequence[float]) -> float:
    assert math.fsum(chances) == pytest.approx(1)
    assert min(factors) >= 0
    return math.fsum(factor * chance for factor, chance in zip(factors, chances, strict=True))


# --- no bet wins on average against a kept promise -----------------------------------------------------------------


@settings(deadline=None)
@given(SHARES, EPSILONS, UNITS)
def test_learned_bet(share: Fraction, epsilon: Fraction, place: float) -> None:
    """In a bin, Pr[b = 1] is anything that ε allows, both ways."""
    theta = 1 / (1 + math.exp(-epsilon))
    right = (1 - theta) + place * (2 * theta - 1)
    factors = LearnedBet((share,)).factors(Stakes.rough(pure(epsilon), both_ways=True))
    assert mean(factors, [right, 1 - right]) <= 1 + SLIGHTLY
    one_way = LearnedBet((share,)).factors(Stakes.rough(pure(epsilon), both_ways=False))
    assert mean(one_way, [place * theta, 1 - place * theta]) <= 1 + SLIGHTLY


@settings(deadline=None)
@given(EPSILONS)
def test_learned_bet_wins_against_a_broken_promise(epsilon: Fraction) -> None:
    share = Fraction(1 / (1 + math.exp(-float(epsilon) - 0.5))).limit_denominator(10**6)
    factors = LearnedBet((share,)).factors(Stakes.rough(pure(epsilon), both_ways=False))
    assert mean(factors, [float(share), 1 - float(share)]) > 1


@st.composite
def kept(draw: st.DrawFn) -> tuple[Approximate, tuple[float, float], tuple[float, float]]:
    """A promise, and Pr[S⁺], Pr[S⁻] on a and on a′ that keep it both ways."""
    promise = Approximate(draw(EPSILONS), draw(DELTAS))
    growth, delta = math.exp(promise.epsilon), float(promise.delta)
    q, p_minus = draw(UNITS), draw(UNITS)
    p = draw(UNITS) * min(1.0, growth * q + delta)
    q_minus = draw(UNITS) * min(1.0, growth * p_minus + delta)
    # Smaller events keep the promise as well; they must be disjoint.
    shrink = 1 / max(1.0, p + p_minus, q + q_minus)
    return promise, (p * shrink, p_minus * shrink), (q * shrink, q_minus * shrink)


STAKES = st.tuples(st.integers(0, 31), st.integers(0, 32))


@settings(deadline=None)
@given(kept(), STAKES)
def test_event_bet(case: tuple[Approximate, tuple[float, float], tuple[float, float]], stakes: tuple[int, int]) -> None:
    promise, (p, p_minus), (q, q_minus) = case
    bet = EventBet(Fraction(2 * stakes[0], 64), Fraction(stakes[1], 33))
    chances = [p / 2, q / 2, p_minus / 2, q_minus / 2, (1 - p - p_minus) / 2, (1 - q - q_minus) / 2]
    assert mean(bet.factors(Stakes.rough(promise, both_ways=True)), chances) <= 1 + SLIGHTLY


@settings(deadline=None)
@given(kept(), STAKES, UNITS)
def test_coupled_bet(
    case: tuple[Approximate, tuple[float, float], tuple[float, float]], stakes: tuple[int, int], mixture: float
) -> None:
    """For mixtures of the independent and of the monotone coupling."""
    promise, (p, p_minus), (q, q_minus) = case
    bet = CoupledBet(Fraction(stakes[0], 64), Fraction(stakes[1], 65))
    x, y = [p, p_minus, 1 - p - p_minus], [q, q_minus, 1 - q - q_minus]

    def together(i: int, j: int) -> float:
        low = max(sum(x[:i]), sum(y[:j]))
        high = min(sum(x[: i + 1]), sum(y[: j + 1]))
        return mixture * x[i] * y[j] + (1 - mixture) * max(0.0, high - low)

    chances = [together(i, j) for i in range(3) for j in range(3)]
    assert mean(bet.factors(Stakes.rough(promise, both_ways=True)), chances) <= 1 + SLIGHTLY


@pytest.mark.parametrize("kind", [EventBet, CoupledBet])
def test_payoff_bets_win_against_a_broken_promise(kind: type[PayoffBet]) -> None:
    promise = Approximate(Fraction(1, 2), Fraction(1, 100))
    q, p = 0.1, 0.1 * math.exp(0.5) + 0.05
    if kind is EventBet:
        chances = [p / 2, q / 2, 0, 0, (1 - p) / 2, (1 - q) / 2]
    else:
        chances = [q, 0, p - q, 0, 0, 0, 0, 0, 1 - p]
    assert mean(kind(Fraction(1, 8)).factors(Stakes.rough(promise, both_ways=False)), chances) > 1


def test_factors_are_the_same_in_floats_and_in_balls() -> None:
    for promise in (pure("1/10"), Approximate(Fraction(1), Fraction(1, 100))):
        bets = [EventBet(Fraction(1, 3), Fraction(1, 5)), CoupledBet(Fraction(1, 3), Fraction(1, 5))]
        if promise.delta == 0:
            bets.append(LearnedBet((Fraction(3, 4), Fraction(1, 4), Fraction(1, 2))))  # type: ignore[arg-type]
        for bet in bets:
            rough = bet.factors(Stakes.rough(promise, both_ways=True))
            exact = bet.factors(Stakes.certified(promise, both_ways=True))
            assert [float(factor.mid()) for factor in exact] == pytest.approx(rough)


def test_a_share_too_close_to_the_promise_is_no_bet() -> None:
    """ε = 0 and a share of 1/2 exactly: nothing is certainly larger."""
    assert LearnedBet((Fraction(1, 2),)).factors(Stakes.certified(pure(0), both_ways=True)) == [1, 1]


# --- learning --------------------------------------------------------------------------------------------------------


def test_shares_follow_the_past_and_stay_inside() -> None:
    bet = LearnedBet.from_past([0, 0, 3, 1, 10**9, 0, 0, 10**9])
    assert bet.shares == (
        Fraction(1, 2),
        Fraction(45875, 2**16),
        1 - Fraction(1, 1024),
        Fraction(1, 1024),
    )


def test_stakes_follow_the_past() -> None:
    promise = pure("1/10")
    assert EventBet.from_past([0] * 6, promise) == EventBet(Fraction(0))
    assert EventBet.from_past([100, 100, 0, 0, 5, 5], promise).plus == 0
    strong = EventBet.from_past([900, 100, 100, 900, 0, 0], promise, both_ways=True)
    assert min(strong.plus, strong.minus) > Fraction(1, 2)
    assert EventBet.from_past([900, 100, 100, 900, 0, 0], promise).minus == 0
    coupled = CoupledBet.from_past([50, 0, 100, 0, 50, 0, 0, 100, 0], promise, both_ways=True)
    assert coupled.plus + coupled.minus < 1
    assert coupled.plus > 0


# --- what cannot be a bet --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shares", [(), (Fraction(0),), (Fraction(1),), (Fraction(1, 2),) * 33])
def test_shares_lie_inside(shares: tuple[Fraction, ...]) -> None:
    with pytest.raises(EvidenceError, match="1 to 32 shares"):
        LearnedBet(shares)


@pytest.mark.parametrize("stakes", [(-1, 0), (0, -1), (1, 0), (0, 1)])
def test_stakes_lie_inside(stakes: tuple[int, int]) -> None:
    with pytest.raises(EvidenceError, match="from 0 to below 1"):
        EventBet(Fraction(stakes[0]), Fraction(stakes[1]))


def test_coupled_stakes_lie_inside_together() -> None:
    with pytest.raises(EvidenceError, match="together below 1"):
        CoupledBet(Fraction(1, 2), Fraction(1, 2))


def test_a_bet_fits_its_promise() -> None:
    with pytest.raises(EvidenceError, match="pure differential privacy"):
        LearnedBet((Fraction(1, 2),)).factors(Stakes.rough(Approximate(Fraction(1), Fraction(1, 100)), both_ways=True))
    with pytest.raises(EvidenceError, match="promise for"):
        EventBet(Fraction(0), Fraction(1, 2)).factors(Stakes.rough(pure(1), both_ways=False))


@pytest.mark.parametrize(
    ("bets", "counts"),
    [
        ((EventBet(Fraction(0)),), (1, 2, 3)),
        ((EventBet(Fraction(0)),), (1, 2, 3, 4, 5, -6)),
        ((EventBet(Fraction(0)), LearnedBet((Fraction(1, 2),) * 3)), (1, 2, 3, 4, 5, 6)),
        ((), ()),
    ],
)
def test_a_round_counts_the_cells_of_its_bets(bets: tuple[EventBet, ...], counts: tuple[int, ...]) -> None:
    with pytest.raises(EvidenceError, match="a count of runs for each cell"):
        Round(bets, counts)


PAIR = Player("the pair", both_ways=True)


@pytest.mark.parametrize(
    "players",
    [
        [],
        [Player("one", Fraction(2, 3)), Player("two", Fraction(2, 3))],
        [Player("one", Fraction(0))],
        [Player("one", Fraction(1, 2)), Player("one", Fraction(1, 2))],
    ],
)
def test_weights_are_fixed_and_at_most_one(players: list[Player]) -> None:
    allowance = Allowance(ALPHA)
    with pytest.raises(EvidenceError, match="cannot begin"):
        AnyTimeTest.begin(players, [pure(1)] * len(players), allowance)
    assert allowance.spend("something else") == ALPHA


@pytest.mark.parametrize("grid", [[], [-1, 0], [0, 0], [1, 0]])
def test_a_grid_rises(grid: list[int]) -> None:
    with pytest.raises(EvidenceError, match="rising order"):
        AnyTimeBound.begin([PAIR], [Fraction(point) for point in grid], Allowance(ALPHA))


def test_each_player_has_a_promise() -> None:
    with pytest.raises(EvidenceError, match="1 players and 2 promises"):
        AnyTimeTest.begin([PAIR], [pure(1), pure(2)], Allowance(ALPHA))


# --- wealth ----------------------------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.integers(1, 1000), st.integers(0, 50)), min_size=1, max_size=6))
@settings(deadline=None)
def test_wealth_is_enclosed(parts: list[tuple[int, int]]) -> None:
    exact = math.prod((Fraction(value, 500) ** count for value, count in parts), start=Fraction(1))
    with ctx.workprec(128):
        found = product([ball(Fraction(value, 500)) for value, _ in parts], [count for _, count in parts])
        assert found.lower() <= ball(exact)
        assert found.upper() >= ball(exact)


def strong_round(player: int = 0, hits: int = 60) -> Round:
    """At ε = 0 a bet of 3/4 that is right `hits` times: wealth 1.5^hits."""
    return Round((LearnedBet((Fraction(3, 4),)),), (hits, 0), player)


def test_wealth_is_rejected_at_exactly_one_over_alpha() -> None:
    """Wealth (3/2)^3 against α = (2/3)^3 and a hair less.  The exact tie is rational, and is not decided."""
    for alpha, rejected in (
        (Fraction(8, 27) * (1 + Fraction(1, 10**20)), True),
        (Fraction(8, 27) * (1 - Fraction(1, 10**20)), False),
    ):
        test = AnyTimeTest.begin([PAIR], [pure(0)], Allowance(alpha))
        assert test.standing([strong_round(hits=3)]).rejected is rejected


def test_the_best_look_counts() -> None:
    """Losing everything afterwards takes nothing back: it was rejected at that time."""
    lost = Round((LearnedBet((Fraction(3, 4),)),), (0, 1000))
    test = AnyTimeTest.begin([PAIR], [pure(0)], Allowance("1e-6"))
    standing = test.standing([strong_round(), lost])
    assert standing.rejected
    assert standing.after == 1
    assert standing.log_wealth == pytest.approx(60 * math.log(1.5))
    assert not test.standing([lost, strong_round()]).rejected
    assert test.standing([]).log_wealth == 0


def test_naming_needs_the_weighted_wealth() -> None:
    players = [Player("one", Fraction(1, 2), True), Player("two", Fraction(1, 2), True)]
    test = AnyTimeTest.begin(players, [pure(0)] * 2, Allowance(Fraction(1, 20)))
    # log(20) = 7.39 factors of 1.5: with weight 1/2 each, 9.1 are needed alone, 7.4 for both together.
    assert test.standing([strong_round(0, 8), strong_round(1, 8)]).rejected
    assert test.standing([strong_round(0, 8), strong_round(1, 8)]).named == ()
    assert test.standing([strong_round(0, 10)]).named == ("one",)
    assert not test.standing([strong_round(0, 8)]).rejected


def test_a_tangent_for_each_player() -> None:
    """Players of one pair with different promises, and an idle one, whose wealth stays."""
    promises = [Approximate(Fraction(1), Fraction(1, 100)), Approximate(Fraction(0), Fraction(1, 10)), pure(0)]
    players = [Player(name, Fraction(1, 3)) for name in ("steep", "flat", "idle")]
    test = AnyTimeTest.begin(players, promises, Allowance("1e-6"))
    bet = (EventBet(Fraction(1, 2)),)
    standing = test.standing([Round(bet, (500, 10, 0, 0, 0, 490), 0), Round(bet, (400, 10, 0, 0, 100, 490), 1)])
    assert standing.named == ("steep", "flat")


# --- grids -----------------------------------------------------------------------------------------------------------


def test_a_bound_stops_at_the_first_point_that_stands() -> None:
    """One bet for each point: the first and the third are rejected, the second is not."""

    def bets(*shares: int) -> tuple[LearnedBet, ...]:
        return tuple(LearnedBet((Fraction(share, 100),)) for share in shares)

    grid = [Fraction(0), Fraction(1, 10), Fraction(1, 5)]
    bound = AnyTimeBound.begin([PAIR], grid, Allowance("1e-6"))
    gap = [Round(bets(90, 52, 90), (1000, 10))]
    assert [bound.standing(gap, point).rejected for point in range(3)] == [True, False, True]
    assert bound.lower_bound(gap)[0].epsilon == 0
    assert bound.lower_bound([Round(bets(90, 90, 90), (1000, 10))])[0].epsilon == float_below(Fraction(1, 5))
    assert bound.lower_bound([Round(bets(51, 90, 90), (10, 10))])[0].epsilon is None


def test_a_bound_with_names_is_about_the_named_pair() -> None:
    players = [Player("one", Fraction(1, 2), True), Player("two", Fraction(1, 2), True)]
    grid = [Fraction(0), Fraction(1, 5)]
    rounds = [strong_round(0, 8), strong_round(1, 8)]
    together = AnyTimeBound.begin(players, grid, Allowance(ALPHA))
    naming = AnyTimeBound.begin(players, grid, Allowance(ALPHA), naming=True)
    assert together.lower_bound(rounds)[0].epsilon == 0
    assert together.lower_bound(rounds)[1] == ()
    assert naming.lower_bound(rounds)[0].epsilon is None
    bound, names = naming.lower_bound([*rounds, strong_round(1, 100)])
    assert (bound.epsilon, names, bound.method, bound.alpha) == (
        float_below(Fraction(1, 5)),
        ("two",),
        "e-process",
        ALPHA,
    )


def test_a_bound_at_a_delta() -> None:
    bound = AnyTimeBound.begin([PAIR], [Fraction(0), Fraction(1)], Allowance("1e-6"), Fraction(1, 100))
    bet = (EventBet(Fraction(1, 2), Fraction(1, 2)),)
    reached, _ = bound.lower_bound([Round(bet, (450, 10, 10, 450, 40, 40))])
    assert (reached.epsilon, reached.delta) == (1.0, Fraction(1, 100))


def test_growth_in_floats_is_that_of_the_round() -> None:
    assert log_growth(strong_round(), pure(0), both_ways=True) == pytest.approx(60 * math.log(1.5))
    huge = Round((EventBet(Fraction(63, 64)),), (0, 1, 0, 0, 0, 0))
    assert log_growth(huge, pure(5000), both_ways=False) == pytest.approx(math.log(1 / 64))
