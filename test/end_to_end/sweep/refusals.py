"""Every rule of legality.py: a case that breaks it is refused with its label."""
import random
import sys
from dataclasses import replace

from checking import run
from dimensions import MISTAKES, family
from drawing import OPS, STEPS, complete
from legality import RULES

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


if __name__ == "__main__":
    cases = [(breaking(random.Random(number), rule), number) for number, rule in enumerate(RULES)]
    without = [f"{rule.label}: {rule.why}" for rule, (case, _) in zip(RULES, cases) if not case]
    sys.exit(f"no case breaks {without}" if without else run(cases))
