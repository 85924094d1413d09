"""Twenty orders of CTAs and warps: the same bytes of every value; no order has a hazard."""
import os
import sys
import tempfile

from chain import random_inputs
from example import Example, compiled

with open(sys.argv[1]) as file:
    EXAMPLE = Example(file.read())

with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as folder:
    bundle = folder + "/step.gmoe"
    status, errors = compiled(EXAMPLE.everything(), bundle)
    assert status == 0 and not errors, errors
    # R is the last offset: of no array are bytes left as they were.
    inputs = random_inputs(7, (256, 0, 128, 128))
    first = EXAMPLE.run(inputs, "--schedule-seed=1", bundle=bundle)
    for seed in range(2, 22):
        for name, x in EXAMPLE.run(inputs, f"--schedule-seed={seed}", bundle=bundle).items():
            assert x.tobytes() == first[name].tobytes(), f"{name} depends on the order, seed {seed}"
    for seed in (1, 2, 3):
        report = {}
        EXAMPLE.run(random_inputs(8, (256, 0, 128, 0), 128), "--hazards=full", f"--schedule-seed={seed}", report=report, bundle=bundle)
        assert not report["hazards"], report["hazards"]
