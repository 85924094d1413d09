"""Each op of the example on what the ops before it made: the kernel against the reference executor."""
import sys

import numpy as np
from chain import random_inputs
from example import BF16, Example

with open(sys.argv[1]) as file:
    EXAMPLE = Example(file.read())


def order_of(codes):
    """Codes of FP8, or bits of bf16, in the order of their values."""
    sign = 1 << (8 * codes.dtype.itemsize - 1)
    codes = codes.astype(np.int64)
    return np.where(codes & sign, -(codes & (sign - 1)), codes)


def close(name, got, want, scales):
    """Sums in another order move a value by a unit or two of f32: few codes, and by no more than one."""
    if got.dtype == np.float32:
        noise = ((got.astype(np.float64) - want) ** 2).sum()
        assert noise == 0 or 10 * np.log10((want.astype(np.float64) ** 2).sum() / noise) >= 85, name
        return
    bits = np.uint16 if got.dtype == BF16 else np.uint8
    steps = np.abs(order_of(got.view(bits)) - order_of(want.view(bits)))
    if got.dtype == np.uint8:
        assert steps.max() <= 1 and (steps != 0).mean() <= 1e-4, f"{name}: {np.count_nonzero(steps)} scales differ"
        return
    moved = np.count_nonzero(scales[0] != scales[1]) if scales else 0
    limit = 1e-2 if got.dtype == BF16 else 1e-3
    assert np.count_nonzero(steps) <= limit * steps.size + 32 * moved, f"{name}: {np.count_nonzero(steps)} differ"
    assert moved or steps.max() <= 1, f"{name}: {steps.max()} steps"


values = random_inputs()
values.update(EXAMPLE.run(values))
for op in EXAMPLE.ops:
    exact = op.name == "quantize"
    report = {}
    kernel = EXAMPLE.alone(op, values, *(["--check", "--tolerance=bitwise"] if exact else []), report=report)
    assert report["launches"] == 1, f"{op.results}: {report['launches']} launches"
    reference = EXAMPLE.alone(op, values, device="reference")
    for name in op.results:
        assert kernel[name].tobytes() == values[name].tobytes(), f"{name}: alone it has other bytes than in the step"
        scales = [x.get("sf_" + name) for x in (kernel, reference)] if "sf_" + name in kernel else None
        if exact:
            assert kernel[name].tobytes() == reference[name].tobytes(), name
        else:
            close(name, kernel[name], reference[name], scales)
assert len(EXAMPLE.ops) == 14
