"""Draws cases, runs them, and prints how to repeat what failed: sweep.py [--seed S] [--cases N] [--case TEXT].
Of a legal case, kernel, reference executor and NumPy agree on every byte, those that are not to be written included; the kernel
has no hazard in a drawn order, and ptxas spills nothing. An illegal one is refused with the label of its constraint."""
import argparse
import itertools
import os
import random
import re
import subprocess
import sys
import tempfile
import time
import traceback

from dimensions import MISTAKES, PRODUCTS, family
from legality import broken, is_too_big, is_unclear
from programs import build, text_of

ILLEGAL = 0.1  # of the cases


def text(case):
    return ",".join(f"{name}={value}" for name, value in case.items())


def parse(words):
    case = {}
    for word in words.split(","):
        name, _, value = word.partition("=")
        case[name] = int(value) if re.fullmatch(r"\d+", value) and name != "groups" else value
    return case


def draw(rng, op=None, fixed=(), tries=None):
    """A legal case: dimensions in any order, each with a value that fits those before it. None if no try succeeds."""
    for _ in range(tries) if tries else itertools.count():
        case = dict(fixed, op=dict(fixed).get("op") or op or rng.choice(PRODUCTS + ("wgrad", "wgrad")))
        values = family(case["op"])
        if not case.keys() <= values.keys() or broken(case):
            continue
        names = [name for name in values if name not in case]
        rng.shuffle(names)
        if all(choose(rng, case, name, values[name]) for name in names) and not is_unclear(case):
            return {name: case[name] for name in values}


def choose(rng, case, name, values):
    """Gives the case a value of that name that fits; whether there is one."""
    for value in rng.sample(values, len(values)):
        case[name] = value
        if not broken(case, name) and not is_too_big(case):
            return True
    return False


def spoil(rng, case):
    """The case with one value that makes it illegal, of which there is always one."""
    values = family(case["op"])
    while True:
        name = rng.choice(list(values))
        value = rng.choice(values[name] + MISTAKES.get(name, ()))
        if name != "op" and broken(dict(case, **{name: value})) and (case["op"], name) != ("wgrad", "format"):
            return dict(case, **{name: value})


def tool(*command):
    return subprocess.run(command, capture_output=True, text=True)


def check_refused(rules, source, folder):
    """One of the labels is named, by the verifier where it can."""
    early = [rule for rule in rules if not rule.late]
    for name, *options in (("gmoe-opt",), ("gmoe-compile", "--emit=ptx")):
        if name == "gmoe-opt" and not early:
            continue
        done = tool(name, source, *options, "-o", f"{folder}/out")
        named = any(f"({rule.label})" in done.stderr for rule in early or rules)
        expected = "; ".join(f"{rule.label}: {rule.why}" for rule in early or rules)
        assert done.returncode == 1 and "error: " in done.stderr and named, (
            f"{name}: exit {done.returncode}, expected a refusal by {expected}\n{done.stderr}")


def check_assembled(source, folder):
    done = tool("gmoe-compile", source, "-o", f"{folder}/out.gmoe")
    assert done.returncode == 0 and not done.stderr, f"gmoe-compile: exit {done.returncode}\n{done.stderr}"
    kernels = re.findall(r"^kernel .*", tool("gmoe-bundle", f"{folder}/out.gmoe").stdout, re.M)
    assert kernels and all(" 0 bytes spilled" in kernel for kernel in kernels), kernels
    calls = re.findall(r"^.*(?:\bcall\b|\.local\b).*", tool("gmoe-bundle", f"{folder}/out.gmoe", "--extract=ptx").stdout, re.M)
    assert not calls, f"calls or local memory: {calls[:3]}"


def check(case, seed):
    rules = broken(case)
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as folder:
        source = f"{folder}/in.mlir"
        made = None if rules else build(case, seed)
        with open(source, "w") as file:
            file.write(made.program() if made else text_of(case))
        if rules:
            return check_refused(rules, source, folder)
        made.check("--hazards=full", f"--schedule-seed={seed}", "--check-inputs")
        if os.environ.get("GMOE_PTXAS"):
            check_assembled(source, folder)


def passes(case, seed, verbose=False):
    started = time.monotonic()
    try:
        check(case, seed)
    except (SystemExit, AssertionError, subprocess.CalledProcessError) as failed:
        print(f"failed: tools/dev sweep --case '{text(case)},seed={seed}'\n  {failed}\n", flush=True)
        return False
    except Exception:
        print(f"failed: tools/dev sweep --case '{text(case)},seed={seed}'\n{traceback.format_exc()}", flush=True)
        return False
    if verbose:
        print(f"{time.monotonic() - started:6.1f} s  {text(case)},seed={seed}", flush=True)
    return True


def run(cases, verbose=True):
    """Checks (case, seed) pairs; prints the count and returns the exit status."""
    results = [passes(case, seed, verbose) for case, seed in cases]
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return not all(results)


def main():
    parser = argparse.ArgumentParser(prog="tools/dev sweep")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--cases", type=int, default=50)
    parser.add_argument("--case", action="append", help="a case as a failure prints it")
    parser.add_argument("--op", choices=PRODUCTS + ("wgrad",), help="of this op alone")
    parser.add_argument("--verbose", action="store_true", help="print every case and its time")
    options = parser.parse_args()
    if options.case:
        cases = [parse(words) for words in options.case]
        return run([({d: v for d, v in case.items() if d != "seed"}, case.get("seed", 0)) for case in cases], options.verbose)
    print(f"--seed {options.seed} --cases {options.cases}", flush=True)
    return run((drawn(options.seed, i, options.op) for i in range(options.cases)), options.verbose)


def drawn(seed, number, op=None):
    rng = random.Random(f"{seed} {number}")
    case = draw(rng, op)
    return (spoil(rng, case) if rng.random() < ILLEGAL else case), rng.randrange(1, 1000)


if __name__ == "__main__":
    sys.exit(main())
