"""Cases that hold pairs of values: as many as have every legal pair, or few that have most.
pairs.py [--cases N] [--part I/PARTS] [--list]. The cases are the same everywhere: the greedy choice out of legal cases drawn
with one seed."""
import argparse
import itertools
import random
import sys

import numpy as np
from checking import run, text
from dimensions import PRODUCT, PRODUCTS, WGRAD, family
from drawing import draw, excluding
from legality import RULES, work

DRAWN, FEW = 200, 3  # cases of each op, and of what is wanted
MOST_SECONDS = 12  # of one of few
LARGE = 200  # draws, the smallest of which is taken, where no case is within the limits
FAMILIES = ((PRODUCT, PRODUCTS), (WGRAD, ("wgrad",)))
CONTRACT = [{name: value} for name in ("groups", "n", "k") for value in PRODUCT[name]] + [
    {"groups": "skewed", "aligned": 1}, {"groups": "least", "aligned": 1}, {"groups": "513", "aligned": 1},
    {"groups": "odd_tiles", "cluster": "2x1"}, {"n": 272, "cluster": "2x1"}]


def pairs_of(case):
    """Kernels of products and of weight gradients show nothing of each other."""
    return {(case["op"] == "wgrad", *pair) for pair in itertools.combinations(sorted(case.items()), 2)}


def all_pairs():
    """Of values that some op has, with these ops."""
    for dimensions, ops in FAMILIES:
        for one, two in itertools.combinations(sorted(dimensions), 2):
            for x, y in itertools.product(dimensions[one], dimensions[two]):
                fixed = {one: x, two: y}
                having = tuple(op for op in ops if fixed.keys() <= family(op).keys() and fixed.get("op", op) == op)
                if having:
                    yield (dimensions is WGRAD, *fixed.items()), having


def wanted():
    """Values that every choice of cases has, of products and of weight gradients, with the ops: where they are legal."""
    return [(ops, fixed) for dimensions, ops in FAMILIES for fixed in CONTRACT
            if fixed.keys() <= dimensions.keys() and excluding(fixed, ops) is None]


def drawn(rng):
    cases = [draw(rng, (op,)) for op in (*PRODUCTS, "wgrad") for _ in range(DRAWN)]
    return cases + [draw(rng, ops, fixed) for ops, fixed in wanted() for _ in range(FEW)]


def with_every_pair(rng):
    """Cases that together have every legal pair, these pairs, and of illegal ones the rules that exclude each."""
    cases, illegal = drawn(rng), {}
    seen = set().union(*map(pairs_of, cases))
    for pair, ops in all_pairs():
        if pair in seen:
            continue
        fixed = dict(pair[1:])
        rules = excluding(fixed, ops)
        if rules is not None:
            illegal.setdefault(tuple(rules), []).append(fixed)
            continue
        case = draw(rng, ops, fixed) or min((draw(rng, ops, fixed, RULES) for _ in range(LARGE)), key=work)
        cases.append(case)
        seen |= pairs_of(case)
    return cases, seen, illegal


def greedy(cases, pairs, most=None):
    """Cases in the order of new pairs, what is wanted first, until nothing is new or there are `most`; the number of their
    pairs."""
    first = wanted()
    number = {pair: i for i, pair in enumerate(sorted(pairs, key=repr))}
    has = np.zeros((len(cases), len(pairs) + len(first)), np.float32)
    for i, case in enumerate(cases):
        has[i, [number[pair] for pair in pairs_of(case)]] = 1
        has[i, len(pairs) :] = [case["op"] in ops and fixed.items() <= case.items() for ops, fixed in first]
    new = np.ones(has.shape[1], np.float32)
    new[len(pairs) :] = len(pairs)
    chosen = []
    while True:
        gains = has @ new
        best = int(gains.argmax())
        if gains[best] == 0 or len(chosen) == most:
            missing = [fixed for fixed, left in zip(first, new[len(pairs) :]) if left]
            assert not missing, f"no case has {missing}"
            return chosen, int((new[: len(pairs)] == 0).sum())
        chosen.append(cases[best])
        new *= 1 - has[best]


def complete_cover():
    """Cases with every legal pair; says why the other pairs are illegal."""
    cases, pairs, illegal = with_every_pair(random.Random(1))
    chosen, covered = greedy(cases, pairs)
    total = covered + sum(map(len, illegal.values()))
    print(f"{len(chosen)} cases; {covered} of {total} pairs covered, the others are illegal:")
    for rules, excluded in sorted(illegal.items(), key=lambda item: -len(item[1])):
        why = " and ".join(f"{rule.why} ({rule.label})" for rule in rules)
        print(f"  {len(excluded):4} like {text(excluded[0])}: {why}", flush=True)
    return chosen


def seconds(case):
    """Roughly; making the operands takes most of it."""
    return 1 + work(case)[1] / 1e6


def numbered(cases):
    return [(case, seed) for seed, case in enumerate(cases)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=40)
    parser.add_argument("--part", default="1/1")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    part, parts = map(int, options.part.split("/"))
    cases = [case for case in drawn(random.Random(1)) if seconds(case) <= MOST_SECONDS]
    pairs = set().union(*map(pairs_of, cases))
    chosen, covered = greedy(cases, pairs, options.cases)
    print(f"{len(chosen)} cases have {covered} of {len(pairs)} pairs", flush=True)
    if options.list:
        print("\n".join(map(text, chosen)))
        return 0
    return run(numbered(chosen)[part - 1 :: parts])


if __name__ == "__main__":
    sys.exit(main())
