"""Every rule of legality.py: a legal case with one value changed, so that the rule is broken, is refused with its label."""
import random
import sys

from dimensions import MISTAKES, PRODUCTS, family
from legality import RULES, broken
from sweep import draw, run


def breaking(rng, rule):
    """A case that breaks the rule, and no other if one is found soon."""
    several = None
    for _ in range(400):
        case = draw(rng, "wgrad" if rule.family == "wgrad" or "split" in rule.reads else rng.choice(PRODUCTS))
        values = family(case["op"])
        name = rng.choice([name for name in rule.reads if name in values and name != "op"] or ["op"])
        case[name] = rng.choice(values[name] + MISTAKES.get(name, ()))
        rules = broken(case)
        if rules == [rule]:
            return case
        several = case if rule in rules else several
    return several


if __name__ == "__main__":
    cases = [(breaking(random.Random(number), rule), number) for number, rule in enumerate(RULES)]
    without = [f"{rule.label}: {rule.why}" for rule, (case, _) in zip(RULES, cases) if not case]
    sys.exit(f"no case breaks {without}" if without else run(cases))
