"""Few cases that hold as many pairs of values as possible: pairs.py [--max N] [--part I/PARTS] [--print].
Runs part I of them. The cases are the same everywhere: a greedy choice, over and over the one of most new pairs, out of legal
cases that are drawn with one seed."""
import argparse
import itertools
import sys

import numpy as np
from dimensions import PRODUCT, PRODUCTS, WGRAD
from legality import work
from sweep import draw, passes, text

DRAWN = 6000
SMALL = 2e8  # products of a case that costs a test about a second
# What changes no instruction but those of the host's code or of one input.
UNPAIRED = ("form", "norm", "c", "tail")


def pairs_of(case):
    named = [(name, value) for name, value in case.items() if name not in UNPAIRED]
    return {pair for pair in itertools.combinations(sorted(named, key=str), 2)}


def pool():
    """Cases of every op, and pairs in none of them that some case has."""
    rng = np.random.default_rng(1)
    cases = [draw(rng, op) for op in (*PRODUCTS, "wgrad") for _ in range(DRAWN // (len(PRODUCTS) + 1))]
    seen = set().union(*map(pairs_of, cases))
    for values in (PRODUCT, WGRAD):
        names = [name for name in values if name not in UNPAIRED]
        for one, two in itertools.combinations(names, 2):
            for x, y in itertools.product(values[one], values[two]):
                if tuple(sorted(((one, x), (two, y)), key=str)) not in seen:
                    case = draw_with(rng, values, {one: x, two: y})
                    if case:
                        cases.append(case)
                        seen |= pairs_of(case)
    return cases, sorted(seen, key=str)
