"""What must fail: halves swapped, scales in the other layout, scales of the other rounding."""
import sys

import numpy as np
from chain import F, GATES, SIZES, decibels, halves, pairs, random_inputs, step
from column_scales import places, whole_places
from example import Example, compiled

with open(sys.argv[1]) as file:
    TEXT = file.read()
EXAMPLE = Example(TEXT)


def swapped():
    """Gate and up taken for each other."""
    inputs = random_inputs(1)
    want = step(inputs)
    w13 = inputs["w13"].swapaxes(1, 2).reshape(-1, 2 * F)
    wrong = pairs(*halves(w13)[::-1]).reshape(len(SIZES), -1, 2 * F).swapaxes(1, 2)
    values = EXAMPLE.run({**inputs, "w13": np.ascontiguousarray(wrong)})
    for name in ("z", "y", "dx", "dw13", "dw2"):
        assert decibels(values[name], want[name]) < GATES[name], f"swapped halves are not seen in {name}"


def whole_matrix_scales():
    """As many bytes at other places: each weight gradient misses its gate, and is right with the bytes that belong there."""
    inputs = random_inputs(2, columns_differ=True)
    want, values = step(inputs), dict(inputs)
    values.update(EXAMPLE.run(inputs))
    for result, scales, width in (("dw13", "sf_x_col", 256), ("dw13", "sf_dz_col", 512), ("dw2", "sf_dy_col", 256)):
        op = EXAMPLE.making(result)
        right = EXAMPLE.alone(op, values)[result]
        source, begin = values[scales].reshape(-1), 0
        wrong = source.copy()
        for g, rows in enumerate(SIZES):
            wrong[whole_places(width, sum(SIZES), begin, begin + rows)] = source[places(width, SIZES, g)]
            begin += rows
        got = EXAMPLE.alone(op, {**values, scales: wrong.reshape(values[scales].shape)})[result]
        assert decibels(right, want[result]) >= GATES[result], f"{result}: {decibels(right, want[result]):.1f} dB"
        assert decibels(got, want[result]) < GATES[result], f"{result}: whole-matrix {scales} is not seen"


def refused(text, what):
    assert text != TEXT, what
    status, errors = compiled(text)
    assert status == 1 and "error: " in errors, f"{what}: exit {status}\n{errors}"


def layouts():
    status, errors = compiled(TEXT)
    assert status == 0 and not errors, errors
    head, wgrads = TEXT.split("grouped_moe.wgrad", 1)
    refused(head + "grouped_moe.wgrad" + wgrads.replace("per_group", "whole", 1), "whole-matrix scales as an operand of wgrad")
    refused(TEXT.replace("column_group_scales_rceil", "column_scales_rceil", 1), "whole-matrix scales of h")
    at = TEXT.index("%w2_col, %sf_w2_col = ")
    refused(TEXT[:at] + TEXT[at:].replace("<column, whole", "<row, whole", 1), "w2 quantized along rows, read down columns")


def roundings():
    """Scales of FLOOR and of RCEIL are told apart."""
    inputs = random_inputs(3)
    at = TEXT.index("%x_row, %sf_x_row = ")
    floor = Example(TEXT[:at] + TEXT[at:].replace("rounding rceil", "rounding floor", 1)).run(inputs)
    rceil = EXAMPLE.run(inputs)
    for name in ("sf_x_row", "x_row", "z"):
        assert (floor[name].view(np.uint8) != rceil[name].view(np.uint8)).any(), f"{name}: the rounding is not seen"
    assert (floor["sf_x_col"] == rceil["sf_x_col"]).all()


for name in sys.argv[2:]:
    globals()[name]()
