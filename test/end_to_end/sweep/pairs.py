"""Few cases that hold as many pairs of values as possible: pairs.py [--max N] [--part I/PARTS] [--list].
The cases are the same everywhere: the greedy choice, over and over the one with most new pairs, out of legal cases drawn with
one seed. Prints covered pairs of all that some legal case has."""
import argparse
import itertools
import random
import sys

import numpy as np
from dimensions import PRODUCT, PRODUCTS, WGRAD
from legality import broken, work
from sweep import draw, run, text

DRAWN = 240  # cases of each op
TRIES = 10   # to find a case with a pair that none of those has
SMALL = 2e8  # products of a case that costs a test about two seconds
# What changes no instruction but those of the host's code or of one input.
UNPAIRED = ("form", "norm", "c", "tail")


def pairs_of(case):
    named = [(name, value) for name, value in case.items() if name not in UNPAIRED]
    return set(itertools.combinations(sorted(named), 2))


def all_pairs(values):
    names = sorted(name for name in values if name not in UNPAIRED)
    for one, two in itertools.combinations(names, 2):
        for x, y in itertools.product(values[one], values[two]):
            yield (one, x), (two, y)


def pool():
    """Legal cases of every op, with every pair that is easily found, and all their pairs."""
    rng = random.Random(1)
    cases = [draw(rng, op) for op in (*PRODUCTS, "wgrad") for _ in range(DRAWN)]
    seen = set().union(*map(pairs_of, cases))
    for values in (PRODUCT, WGRAD):
        for pair in all_pairs(values):
            if pair not in seen and not broken(dict(pair, op=dict(pair).get("op", values["op"][0]))):
                case = draw(rng, "wgrad" if values is WGRAD else None, pair, TRIES)
                if case:
                    cases.append(case)
                    seen |= pairs_of(case)
    return cases, sorted(seen, key=repr)


def choose(most):
    """The cases, how many pairs they have, and how many there are."""
    cases, pairs = pool()
    number = {pair: i for i, pair in enumerate(pairs)}
    has = np.zeros((len(cases), len(pairs)), np.float32)
    for i, case in enumerate(cases):
        has[i, [number[pair] for pair in pairs_of(case)]] = 1
    has[[work(case)[0] > SMALL for case in cases]] = 0
    new, chosen = np.ones(len(pairs), np.float32), []
    while len(chosen) < most and (has @ new).max() > 0:
        best = int((has @ new).argmax())
        chosen.append(cases[best])
        new *= 1 - has[best]
    return chosen, len(pairs) - int(new.sum()), len(pairs)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--max", type=int, default=40)
    parser.add_argument("--part", default="1/1")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    part, parts = map(int, options.part.split("/"))
    chosen, covered, total = choose(options.max)
    print(f"{len(chosen)} cases have {covered} of {total} pairs", flush=True)
    if options.list:
        print("\n".join(map(text, chosen)))
        return 0
    return run([(case, seed) for seed, case in enumerate(chosen)][part - 1 :: parts])


if __name__ == "__main__":
    sys.exit(main())
