"""Draws cases, checks them, and prints how to repeat what failed: sweep.py [--seed S] [--cases N] [--case TEXT] [--pairs]."""
import argparse
import random
import sys
import time

import pairs
from checking import parse, run
from drawing import OPS, draw, spoil

ILLEGAL = 0.1  # of the cases


def main():
    parser = argparse.ArgumentParser(prog="tools/dev sweep")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--cases", type=int, default=50)
    parser.add_argument("--case", action="append", help="a case as a failure prints it")
    parser.add_argument("--pairs", action="store_true", help="as many cases as have every legal pair of values")
    parser.add_argument("--op", choices=OPS, help="of this op alone")
    parser.add_argument("--jobs", type=int, default=1, help="cases at once")
    parser.add_argument("--verbose", action="store_true", help="print every case and its time")
    options = parser.parse_args()
    if options.case:
        cases = [parse(words) for words in options.case]
        cases = [({d: v for d, v in case.items() if d != "seed"}, case.get("seed", 0)) for case in cases]
    elif options.pairs:
        cases = [x for x in pairs.numbered(pairs.complete_cover()) if options.op in (None, x[0]["op"])]
    else:
        print(f"--seed {options.seed} --cases {options.cases}", flush=True)
        cases = [drawn(options.seed, i, options.op) for i in range(options.cases)]
    return run(cases, options.verbose, options.jobs)


def drawn(seed, number, op=None):
    rng = random.Random(f"{seed} {number}")
    case = draw(rng, (op,) if op else OPS)
    return (spoil(rng, case) if rng.random() < ILLEGAL else case), rng.randrange(1, 1000)


if __name__ == "__main__":
    sys.exit(main())
