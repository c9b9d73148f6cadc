"""Exact probabilities of published programs and of orders of noise, as expressions and as digits."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from dpverdict import discretise, maximum, mechanism
from dpverdict.catalog.randomised_response import randomised_response
from dpverdict.catalog.selection import noisy_maximum, noisy_maximum_exponential
from dpverdict.catalog.sparse_vector import svt1, svt2, svt4, svt5, svt6
from dpverdict.mechanism import Mechanism
from dpverdict.mechanism.outcome import key
from dpverdict.reading.exact.exact_program import ExactProgram
from dpverdict.reading.exact.exponential import Quotient


@mechanism
def svt3_discrete(noise: Any, queries: Any, epsilon: Any, scale: int = 4, edges: Any = (-1, 0, 1)) -> Any:
    limit, answers = noise.laplace(0, scale=2 / epsilon), []
    for query in queries:
        noisy = noise.laplace(query, scale=scale / epsilon)
        if noisy >= limit:
            answers.append(discretise(noisy, edges))
            break
        answers.append(False)
    return answers


@mechanism
def svt1_discrete(noise: Any, queries: Any, epsilon: Any) -> Any:
    limit, answers = noise.discrete_laplace(0, scale=2 / epsilon), []
    for query in queries:
        above = noise.discrete_laplace(query, scale=4 / epsilon) >= limit
        answers.append(above)
        if above:
            break
    return answers


@mechanism
def discrete_maximum(noise: Any, queries: Any, epsilon: Any) -> Any:
    return discretise(maximum([noise.laplace(query, scale=2 / epsilon) for query in queries]), (-1, 0, 1))


@mechanism
def discrete_histogram(noise: Any, counts: Any, epsilon: Any) -> Any:
    return [discretise(noise.laplace(count, scale=1 / epsilon), (-1, 0, 1)) for count in counts]


@mechanism
def sparse(noise: Any, queries: Any, epsilon: Any) -> Any:
    limit, hits, answers = noise.laplace(0, scale=2 / epsilon), 0, []
    for query in queries:
        above = noise.laplace(query, scale=4 / epsilon) >= limit
        answers.append(above)
        if above:
            hits += 1
            if hits == 2:
                break
            limit = noise.laplace(0, scale=2 / epsilon)
    return answers


# (mechanism, arguments, input, output, probability, its digits at ε = 1/2 and at ε = 2)
PUBLISHED: list[tuple[Mechanism, dict[str, Any], list[int], Any, str, str, str]] = [
    (
        svt1,
        {},
        [1, 1, 1],
        (False, False, False),
        "23/80*exp(-1/2*eps) - 1/10*exp(-3/4*eps)",
        "0.155176297253931679765966217842",
        "0.0834523233219466845653850368450",
    ),
    (
        svt1,
        {},
        [-1, 1, 0],
        (False, True),
        "1 - 4/3*exp(-1/4*eps) + 7/12*exp(-1/2*eps) - 1/24*exp(-eps)",
        "0.252365809190832576673001484141",
        "0.400249824264971260630072840315",
    ),
    (
        svt1,
        {},
        [0],
        (True,),
        "1/2",
        "0.500000000000000000000000000000",
        "0.500000000000000000000000000000",
    ),
    (
        svt1,
        {},
        [0, 1, -1, 1, 0],
        (False, False, False, False, True),
        "13/120*exp(-1/2*eps) - 17/192*exp(-3/4*eps) + 1/120*exp(-eps) + 1/120*exp(-5/4*eps) - "
        "1/560*exp(-3/2*eps) + 1/960*exp(-7/4*eps) - 1/3360*exp(-2*eps)",
        "0.0325125123153035281114169153425",
        "0.0218462245914356099718208275413",
    ),
    (
        svt1,
        {"stop_after": 2},
        [-1, 0, 1],
        (False, True, False),
        "29/120*exp(-1/8*eps) - 1/8*exp(-1/4*eps) - 1/120*exp(-5/8*eps) + 1/120*exp(-3/4*eps)",
        "0.116343324438884976349032289036",
        "0.111865734805578996280511164680",
    ),
    (
        svt2,
        {"stop_after": 2},
        [0, 1, 0],
        (True, False, True),
        "11/96*exp(-1/8*eps) - 1/96*exp(-3/8*eps)",
        "0.0990053601329982635864809745990",
        "0.0843171048025462379537377748523",
    ),
    (
        svt2,
        {"stop_after": 2},
        [-1, 0, 1],
        (False, True, False),
        "1/3*exp(-1/8*eps) - 3/8*exp(-1/4*eps) + 53/288*exp(-3/8*eps) - 1/24*exp(-1/2*eps) + 1/288*exp(-5/8*eps)",
        "0.104856034884056852465547277455",
        "0.104746328902663608756323136235",
    ),
    (
        svt2,
        {"stop_after": 2},
        [1, -1, 1, 0],
        (False, True, False, True),
        "11/192*exp(-3/8*eps) - 17/1152*exp(-5/8*eps) + 1/1152*exp(-7/8*eps)",
        "0.0372605074950012189467035148857",
        "0.0229855771508109236912055011874",
    ),
    (
        svt3_discrete,
        {"scale": 4},
        [1, 0, -1],
        (False, False, 1),
        "11/96*exp(-1/2*eps) - 1/48*exp(-eps) + 1/240*exp(-5/4*eps)",
        "0.0788317902684144041694991965624",
        "0.0396753883943979132482351453294",
    ),
    (
        svt3_discrete,
        {"scale": 4},
        [0, 0, 0],
        (False, False, False),
        "3/16",
        "0.187500000000000000000000000000",
        "0.187500000000000000000000000000",
    ),
    (
        svt3_discrete,
        {"scale": 4, "edges": (0, 1)},
        [1, 1, 1, 1, 0],
        (False, False, False, False, 0),
        "1/1344*exp(-eps)",
        "0.000451287693238566535419493701630",
        "0.000100695895265336824325892481378",
    ),
    (
        svt3_discrete,
        {"scale": 4, "edges": (0, 1)},
        [-1, -1, -1, -1, -1],
        (False, False, False, False, 0),
        "1/4*exp(-1/4*eps) + 767/672*exp(-1/2*eps) - 61/48*exp(-3/4*eps) - 1/8*exp(-eps) + "
        "1/192*exp(-5/4*eps) - 1/4*eps*exp(-1/2*eps) - 3/16*eps*exp(-3/4*eps)",
        "0.00128122828067753704007685305080",
        "0.00385471213654589975728907579770",
    ),
    (
        svt3_discrete,
        {"scale": 4, "edges": (0, 1)},
        [-1, 0],
        (False, 1),
        "5/12 - 5/16*exp(-1/4*eps) + 1/12*exp(-1/2*eps)",
        "0.205786449864931008958485394156",
        "0.257782455604088915256772959495",
    ),
    (
        svt3_discrete,
        {"scale": 2},
        [-1, -1, -1],
        (False, False, -1),
        "1/192*exp(-1/2*eps)",
        "0.00405625407849690035544359514051",
        "0.00191603875610126209164335296959",
    ),
    (
        svt4,
        {},
        [-1, 0],
        (False, True),
        "1/2 - 9/16*exp(-1/4*eps) + 13/56*exp(-3/4*eps) - 9/112*exp(-eps)",
        "0.114405718288589874725471964102",
        "0.199749420114587103912320768577",
    ),
    (
        svt5,
        {},
        [-1, -1],
        (False, True),
        "0",
        "0",
        "0",
    ),
    (
        svt5,
        {},
        [1, -1, 0],
        (True, False, False),
        "1/2 - 1/2*exp(-1/2*eps)",
        "0.110599608464297565877414866511",
        "0.316060279414278839202238114919",
    ),
    (
        svt6,
        {},
        [0, 0, -1],
        (False, False, True),
        "17/192*exp(-1/2*eps) - 1/192*exp(-3/2*eps)",
        "0.0664960768722545211095304582692",
        "0.0323133512059721641882529254015",
    ),
    (
        svt1,
        {"threshold": 1},
        [0, 1, 0],
        (False, False, True),
        "11/48*exp(-1/4*eps) - 13/80*exp(-1/2*eps) + 3/80*exp(-3/4*eps)",
        "0.101457094214527946178809368824",
        "0.0875835813326852342349294651046",
    ),
    (
        noisy_maximum,
        {},
        [0, 1],
        0,
        "1/2*exp(-1/2*eps) + 1/8*eps*exp(-1/2*eps)",
        "0.438075440477665238387908275175",
        "0.275909580878581741196642827621",
    ),
    (
        noisy_maximum,
        {},
        [-1, 0, 1],
        1,
        "1/2*exp(-1/2*eps) - 1/4*exp(-eps) + 1/12*exp(-3/2*eps) + 1/8*eps*exp(-1/2*eps)",
        "0.325806654944591441415128937339",
        "0.246224682433417230138088155182",
    ),
    (
        noisy_maximum,
        {},
        [0, 0, 0, 1],
        3,
        "1 - 33/64*exp(-1/2*eps) - 1/4*exp(-eps) + 1/64*exp(-3/2*eps) - 3/8*eps*exp(-1/2*eps)",
        "0.308153761861338450913196749642",
        "0.501346684401488012866217579891",
    ),
    (
        noisy_maximum,
        {},
        [1, -1, 0, 1, 0],
        2,
        "5/12*exp(-1/2*eps) - 1/6*exp(-eps) - 7/192*exp(-3/2*eps) - 7/480*exp(-2*eps) + 1/960*exp(-3*eps) - "
        "1/32*eps*exp(-eps) - 1/32*eps*exp(-3/2*eps)",
        "0.184199935547446458476142508655",
        "0.117077398405530676742503210993",
    ),
    (
        noisy_maximum_exponential,
        {},
        [-1, 0, 1],
        1,
        "1/2*exp(-1/2*eps) - 1/6*exp(-3/2*eps)",
        "0.310672632745533316266244041665",
        "0.175641875857743836967871482472",
    ),
    (
        noisy_maximum_exponential,
        {},
        [1, -1, 0, 1, 0],
        2,
        "1/3*exp(-1/2*eps) - 1/12*exp(-eps) - 1/12*exp(-3/2*eps) + 1/30*exp(-2*eps)",
        "0.181954808025045689239753707504",
        "0.107810139053065526968853364878",
    ),
    (
        discrete_maximum,
        {},
        [-1],
        0,
        "1/2 - 1/2*exp(-1/2*eps)",
        "0.110599608464297565877414866511",
        "0.316060279414278839202238114919",
    ),
    (
        discrete_histogram,
        {},
        [0, 1],
        (0, 1),
        "1/2 - 3/4*exp(-eps) + 1/4*exp(-2*eps)",
        "0.137071865508385512696031291297",
        "0.403077447294724026152929884089",
    ),
    (
        sparse,
        {},
        [0, 0, 1],
        (False, False, True),
        "7/24 - 19/60*exp(-1/4*eps) + 1/6*exp(-1/2*eps) - 1/24*exp(-3/4*eps) + 1/240*exp(-eps)",
        "0.115899602492624398125944933072",
        "0.152178671626874446135389087227",
    ),
    (
        randomised_response,
        {},
        [0, 1],
        (False, False),
        "(exp(-eps)) / (1 + 2*exp(-eps) + exp(-2*eps))",
        "0.235003712201594489069302695021",
        "0.104993585403506517348624184760",
    ),
    (
        randomised_response,
        {},
        [1, 0, 1],
        (True, True, True),
        "(exp(-eps)) / (1 + 3*exp(-eps) + 3*exp(-2*eps) + exp(-3*eps))",
        "0.146280253526957614814343308553",
        "0.0924780432298297899360928279617",
    ),
    (
        svt1_discrete,
        {},
        [1, -1, 0],
        (False, False, True),
        "(exp(-1/2*eps) + exp(-3/4*eps) + 3*exp(-eps) + 3*exp(-5/4*eps) + 5*exp(-3/2*eps) + 5*exp(-7/4*eps) + "
        "4*exp(-2*eps) + 2*exp(-9/4*eps) + exp(-5/2*eps)) / (1 + 4*exp(-1/4*eps) + 10*exp(-1/2*eps) + "
        "19*exp(-3/4*eps) + 29*exp(-eps) + 37*exp(-5/4*eps) + 40*exp(-3/2*eps) + 37*exp(-7/4*eps) + "
        "29*exp(-2*eps) + 19*exp(-9/4*eps) + 10*exp(-5/2*eps) + 4*exp(-11/4*eps) + exp(-3*eps))",
        "0.0995118167970735263080923324398",
        "0.0784684625070319969763552775041",
    ),
]


@pytest.mark.parametrize(("program", "arguments", "given", "output", "expression", "half", "two"), PUBLISHED)
def test_published(
    program: Mechanism, arguments: Any, given: Any, output: Any, expression: str, half: str, two: str
) -> None:
    exact = ExactProgram.of(program.program_for(given, arguments))
    found = exact.probability(output, given)
    assert found == Quotient.parse(expression)
    for epsilon, digits in ((Fraction(1, 2), half), (Fraction(2), two)):
        assert Fraction(found.digits(epsilon)) == Fraction(digits)
    assert {key(one.output): one.probability for one in exact.distribution(given).outputs}[key(output)] == found


def five(noise: Any, epsilon: Any) -> list[Any]:
    return [
        noise.laplace(0, scale=2 / epsilon),
        noise.laplace(1, scale=1 / epsilon),
        noise.laplace(-1, scale=4 / epsilon),
        noise.exponential(loc=1, scale=2 / epsilon),
        noise.laplace(0, scale=2 / epsilon),
    ]


def chain(r: list[Any]) -> Any:
    return (r[0] <= r[1]) & (r[1] <= r[2]) & (r[2] <= r[3]) & (r[3] <= r[4])


def diamond(r: list[Any]) -> Any:
    return (r[0] <= r[1]) & (r[0] <= r[2]) & (r[1] <= r[3]) & (r[2] <= r[3]) & (r[4] <= r[3])


def tree(r: list[Any]) -> Any:
    box = (r[2] >= -1) & (r[2] <= 1) & (r[0] <= 0.5)
    return (r[0] <= r[1]) & (r[2] <= r[1]) & (r[2] <= r[3]) & (r[4] <= r[3]) & box


def three_at_once(r: list[Any]) -> Any:
    return r[0] + r[1] <= r[2]


def circle(r: list[Any]) -> Any:
    return (r[0] + r[1] - 2 * r[2] <= 1) & (r[0] - r[1] <= 0.5)


CONDITIONS = [
    (
        chain,
        "7/180*exp(-eps) - 17/220*exp(-3/2*eps) + 1/15*exp(-7/4*eps) - 1/60*exp(-2*eps) - 1/840*exp(-3*eps)",
    ),
    (
        diamond,
        "5/9*exp(-1/4*eps) - 101/252*exp(-1/2*eps) - 1/8*exp(-3/4*eps) - 91/1440*exp(-eps) + 1/5*exp(-5/4*eps) "
        "- 47/1980*exp(-3/2*eps) - 1/20*exp(-7/4*eps) + 1/60*exp(-2*eps) + 1/420*exp(-5/2*eps) - 1/1680*exp(-3*eps)",
    ),
    (
        tree,
        "1/2 - 1/4*exp(-1/4*eps) - 17/24*exp(-1/2*eps) + 11/48*exp(-3/4*eps) + 11/48*exp(-eps) + 1/3*exp(-9/8*eps) "
        "- 37/120*exp(-5/4*eps) - 1/48*exp(-3/2*eps) - 1/12*exp(-13/8*eps) + 1/15*exp(-7/4*eps) + 1/60*exp(-5/2*eps) "
        "- 1/240*exp(-3*eps)",
    ),
    (three_at_once, "32/45*exp(-1/2*eps) - 2/9*exp(-eps) + 1/90*exp(-2*eps)"),
    (
        circle,
        "512/945*exp(-1/4*eps) - 2/45*exp(-eps) - 16/35*exp(-19/16*eps) + 8/35*exp(-25/16*eps) + 1/105*exp(-15/8*eps)",
    ),
]


@pytest.mark.parametrize(("condition", "expression"), CONDITIONS)
def test_orders_and_linear_comparisons(condition: Callable[[list[Any]], Any], expression: str) -> None:
    @mechanism
    def program(noise: Any, value: Any, epsilon: Any) -> Any:
        return condition(five(noise, epsilon))

    assert ExactProgram.of(program.program_for(0)).probability(True, 0) == Quotient.parse(expression)
