"""Every rule of legality.py: a case that breaks it is refused with its label. What only a launch can see is refused there."""
import os
import random
import sys
import tempfile
from dataclasses import replace

from checking import run, tool
from dimensions import MISTAKES, family
from drawing import OPS, STEPS, complete, draw
from legality import RULES
from programs import text_of

TRIES = 40


def breaking(rng, rule):
    """A case that breaks the rule, and no other if one is found soon."""
    ops = [op for op in OPS if rule.of(op) is not None]
    kept = replace(rule, broken=lambda *values: not rule.broken(*values))
    for others in ([other for other in RULES if other is not rule], []):
        for _ in range(TRIES):
            op = rng.choice(ops)
            name = rng.choice(rule.of(op))
            value = rng.choice(family(op)[name] + MISTAKES.get(name, ()))
            case = complete(rng, {name: value}, [kept] + others, (op,), STEPS)
            if case:
                return case


def launches():
    """Of FP4 down columns R is a multiple of 32, of FP8 that is stored transposed of 16."""
    rng = random.Random(0)
    for fixed, rows in (({"columns": "e2m1_rceil"}, 528), ({"op": "wgrad", "format": "nvfp4"}, 528),
                        ({"op": "wgrad", "format": "e4m3", "layout": "row_column"}, 520)):
        program = text_of(draw(rng, fixed=dict(fixed, form="memref")))
        with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as folder:
            with open(f"{folder}/in.mlir", "w") as file:
                file.write(program)
            done = tool("gmoe-run", f"{folder}/in.mlir", "--device=emulator", f"--rows={rows}")
        assert done.returncode == 1 and "expected a multiple of " in done.stderr, f"{fixed}: exit {done.returncode}\n{done.stderr}"


if __name__ == "__main__":
    launches()
    cases = [(breaking(random.Random(number), rule), number) for number, rule in enumerate(RULES)]
    without = [f"{rule.label}: {rule.why}" for rule, (case, _) in zip(RULES, cases) if not case]
    sys.exit(f"no case breaks {without}" if without else run(cases))
