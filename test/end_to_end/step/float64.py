"""The step against the chain in float64, for several splits of rows; rows past the last offset, experts without rows."""
import sys

import numpy as np
from chain import GATES, SIZES, quality, random_inputs
from example import Example

with open(sys.argv[1]) as file:
    EXAMPLE = Example(file.read())


def gated(inputs, values, what):
    reached = quality(values, inputs)
    print(what, {name: round(float(x), 1) for name, x in reached.items()})
    for name, x in reached.items():
        assert x >= GATES[name], f"{what}: {name} at {x:.1f} dB, expected {GATES[name]}"


def zeros(values, sizes):
    for name in ("dw13", "dw2"):
        for g, rows in enumerate(sizes):
            bits = values[name][g].view(np.uint16)
            assert bits.any() == (rows != 0), f"{name} of expert {g} with {rows} rows"


first = None
for seed, sizes in enumerate((SIZES, (512, 128, 0, 0), (0, 0, 0, 256), (128, 128, 128, 128))):
    inputs = random_inputs(seed, sizes)
    report = {}
    values = EXAMPLE.run(inputs, report=report)
    assert report["launches"] == len(EXAMPLE.ops), report["launches"]
    gated(inputs, values, str(sizes))
    zeros(values, sizes)
    first = first or values

# NaN in every row past the last offset changes no byte of what comes of the others.
for extra in (128, 57):
    inputs = random_inputs(0, SIZES, extra)
    values = EXAMPLE.run(inputs)
    gated(inputs, values, f"R > T by {extra}")
    zeros(values, SIZES)
    for name in ("y", "dx", "dw13", "dw2", "dprob", "z"):
        want = first[name]
        got = values[name][: len(want)]
        assert np.isfinite(got.astype(np.float32)).all(), name
        assert got.tobytes() == want.tobytes(), f"{name}: rows past the last offset changed bytes"

# No rows.
values = EXAMPLE.run(random_inputs(0, (0, 0, 0, 0), 128))
zeros(values, (0, 0, 0, 0))
