"""Draws cases: values for the dimensions of an op that break no rule, by search, so that there is none where none is found."""
import random

from dimensions import MISTAKES, PRODUCTS, family
from legality import LIMITS, RULES, broken

OPS = PRODUCTS + ("wgrad",)
STEPS, TRIES = 60, 20  # of a search that need not end


class Search:
    """For values of one op's dimensions, of which `fixed` has some, that break none of the rules; of at most so many steps."""

    def __init__(self, rng, op, fixed, rules, steps):
        self.rng, self.rules, self.left = rng, [(r, dims) for r in rules if (dims := r.of(op)) is not None], steps
        self.readers = {name: [(r, dims) for r, dims in self.rules if name in dims] for name in family(op)}
        self.case = {"op": op}
        self.values = {name: [fixed[name]] if name in fixed else rng.sample(values, len(values))
                       for name, values in family(op).items() if name != "op"}

    def narrow(self, rules, values):
        """The values that break none of the rules which read at most one open dimension; None if a dimension has none left."""
        values = dict(values)
        for rule, dims in rules:
            free = [d for d in dims if d not in self.case]
            if not free and rule.breaks(self.case):
                return None
            if len(free) == 1:
                name = free[0]
                values[name] = [x for x in values[name] if not rule.breaks({**self.case, name: x})]
                if not values[name]:
                    return None
        return values

    def run(self):
        values = self.narrow(self.rules, self.values)
        return self.case if values is not None and self.choose(values) else None

    def choose(self, values):
        """Gives every open dimension a value, those with few values for their rules first; whether it could."""
        if not values:
            return True
        self.left -= 1
        name = min(values, key=lambda name: (len(values[name]) / (1 + len(self.readers[name])), self.rng.random()))
        rest = {other: x for other, x in values.items() if other != name}
        for value in values[name]:
            self.case[name] = value
            narrowed = self.narrow(self.readers[name], rest)
            if narrowed is not None and self.choose(narrowed):
                return True
            if self.left < 0:
                break
        del self.case[name]
        return False


def complete(rng, fixed, rules, ops=OPS, steps=float("inf"), tries=1):
    """A case with these values that breaks none of the rules. None if there is none, or none was found in so many steps."""
    for op in rng.sample(ops, len(ops)):
        if fixed.keys() <= family(op).keys() and fixed.get("op", op) == op:
            for _ in range(tries):
                search = Search(rng, op, fixed, rules, steps)
                if case := search.run():
                    return {name: case[name] for name in family(op)}
                if search.left >= 0:
                    break  # it saw all cases


def draw(rng, ops=OPS, fixed={}, rules=RULES + LIMITS):
    """A legal case, small enough for a test of seconds. None if none with these values was found."""
    return complete(rng, fixed, rules, ops, STEPS, TRIES)


def excluding(fixed, ops=OPS):
    """The rules that together leave no case with these values, none of them dispensable; None if there is a case."""
    rng, rules = random.Random(0), []
    while case := complete(rng, fixed, rules, ops):
        breaks = broken(case)
        if not breaks:
            return None
        rules.append(breaks[0])
    for rule in list(rules):
        rest = [r for r in rules if r is not rule]
        rules = rules if complete(rng, fixed, rest, ops) else rest
    return rules


def spoil(rng, case):
    """The case with one value that makes it illegal, of which there is always one."""
    values = family(case["op"])
    while True:
        name = rng.choice(list(values))
        value = rng.choice(values[name] + MISTAKES.get(name, ()))
        if name != "op" and broken(dict(case, **{name: value})):
            return dict(case, **{name: value})
