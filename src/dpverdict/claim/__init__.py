"""What is claimed, and about which inputs: guarantee, neighbourhood, domain, range of ε."""

from dpverdict.claim.arguments import from_arguments, from_options, from_toml
from dpverdict.claim.claim import Claim, EpsilonRange, Proportional
from dpverdict.claim.compound_domain import Record, Vector
from dpverdict.claim.curve import ProfileFunction, ProfilePoints, TradeOffFunction, TradeOffPoints
from dpverdict.claim.divergence import Renyi, ZeroConcentrated
from dpverdict.claim.domain import Anything, Domain, Outside
from dpverdict.claim.gaussian import Gaussian
from dpverdict.claim.guarantee import Approximate, Guarantee, Pure
from dpverdict.claim.listed_domain import Boolean, Category, Text
from dpverdict.claim.lists import AddRemove, Substitute
from dpverdict.claim.neighbours import EuclideanNorm, MaxNorm, Monotone, Neighbourhood, SumNorm
from dpverdict.claim.number_domain import Integer, Real
from dpverdict.claim.patterns import Pattern
from dpverdict.claim.relations import AnyPair, Generator, PairList, Predicate
from dpverdict.claim.values import plain

__all__ = [
    "AddRemove",
    "AnyPair",
    "Anything",
    "Approximate",
    "Boolean",
    "Category",
    "Claim",
    "Domain",
    "EpsilonRange",
    "EuclideanNorm",
    "Gaussian",
    "Generator",
    "Guarantee",
    "Integer",
    "MaxNorm",
    "Monotone",
    "Neighbourhood",
    "Outside",
    "PairList",
    "Pattern",
    "Predicate",
    "ProfileFunction",
    "ProfilePoints",
    "Proportional",
    "Pure",
    "Real",
    "Record",
    "Renyi",
    "Substitute",
    "SumNorm",
    "Text",
    "TradeOffFunction",
    "TradeOffPoints",
    "Vector",
    "ZeroConcentrated",
    "from_arguments",
    "from_options",
    "from_toml",
    "plain",
]
