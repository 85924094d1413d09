"""Tiles far into arrays, each against the same tile in small ones: tiles.py NAME... See far.py."""
import re
import sys

import matrices
import numpy as np
import wgrad
from equations import BF16
from far import Far, folder
from named import ROW_SUM, assert_same, bytes_of, plain, quantized
from operands import exact
from quantizers import E4M3, E5M2

MOST = 2**31 - 1  # of any extent
DSRELU = dict(c_gates=(0.0, 1.0, -1.0, 2.0), hot=1, c_type=BF16)
TILE = 128


def is_near(case, i):
    """Whether argument i does not grow with the rows."""
    return [dynamic for *_, dynamic in case.fixed()][i] is None if i < 5 else list(case.inputs)[i - 5] in ("alpha", "bias")


def rows(aligned, count, tile=(TILE, TILE), schedule=""):
    """A group of `count` rows behind one of all others: C, prob, D, its quantizations with their scales, dprob."""
    grouped, n = aligned < TILE, 2 * TILE
    outs = [plain(), quantized(E4M3, "row_group_scales_rceil" if grouped else "row_scales_rceil"),
            quantized(E5M2, "column_group_scales_rceil"), ROW_SUM]
    case = exact("gemm_dsrelu", [0, count], n, 64, outs, ("alpha", "bias", "prob", "c"), aligned=aligned, schedule=schedule, **DSRELU)
    total = MOST // aligned * aligned
    begin = total - count
    before, own = -(-begin // TILE), -(-count // TILE)  # atoms of 128 rows
    with folder() as where:
        far = Far(where, case.program(), total)
        inputs = [x for _, _, x, _ in case.fixed()] + list(case.inputs.values())
        for i, x in enumerate(inputs):
            stored = bytes_of(x)
            if i == 4:
                far.window("argument", i, 0, np.array([begin, total], np.int32))
            elif is_near(case, i):
                far.window("argument", i, 0, stored)
            elif i == 1:  # scales of lhs
                far.window("argument", i, before * 512, stored.reshape(-1, 512)[:own])
            else:
                far.at_end("argument", i, stored)
        names = []
        for i, (x, (_, _, _, kind)) in enumerate(zip(case.garbage(), case.destinations()), len(inputs)):
            if "scales" in kind:  # two atoms wide
                names.append(far.window("argument", i, before * 1024, x.reshape(-1, 512)[: 2 * own]))
            else:
                names.append(far.at_end("argument", i, x))
        if tile[1] < n:  # parts of sums, of both tiles of columns; the other one has been here
            far.window("temporary", 0, before * TILE * 8, np.zeros(2 * TILE, np.float32))
            far.window("temporary", 1, before * 4, np.ones(1, np.int32))
        tiles = n // tile[1] * (-(-begin // tile[0]) + 1)
        check_rows(case, far.run(tiles - 1, names), n - tile[1], own, f"behind row {begin}")


def check_rows(case, got, first, own, where):
    """Columns from `first` on are those of the tile."""
    values, want = case.evaluate(), case.expected()
    for (dtype, _, _, kind), x, y, before in zip(case.destinations(), got, want, case.garbage()):
        what = f"{kind} {where}"
        if kind == "row_sum":
            assert_same(x, values["dprob"][0][:, first:].astype(np.float64).sum(1).astype(np.float32), dtype, what)
        elif "scales" in kind:  # row scales: row, column; column scales: column, row
            x, y = [z.reshape(-1, 512)[: 2 * own] for z in (x, y)]
            by_column = lambda z: z.reshape(own, 2, 512).swapaxes(0, 1) if kind.startswith("row") else z.reshape(2, own, 512)
            assert_same(by_column(x)[first // TILE :], by_column(y)[first // TILE :], dtype, what)
        else:
            assert_same(x[:, first:], y[:, first:], dtype, what)
            assert (x[:, :first] == before[:, :first]).all(), f"{what}: another tile is written"


def aligned_rows():
    rows(128, 128)


def ragged_rows():
    rows(1, 100)


def pair_rows():
    """A tile of 256 x 256 by two CTAs."""
    rows(256, 256, (256, 256), "#grouped_moe.schedule<tile = [256, 256, 128], stages = 2, accumulators = 1, cluster = [2, 1], "
         "scheduler = static_persistent>")


def columns():
    """N of 2^26 and 64 experts: the last 128 columns of the last one, for 128 rows; weights, biases, C and D pass 2^32 elements."""
    experts, n, k = 64, 2**26, 32
    case = exact("gemm_dsrelu", [0] * (experts - 1) + [TILE], TILE, k, [plain(), quantized(E4M3, "row_scales_rceil")],
                 ("alpha", "bias", "prob", "c"), **DSRELU)
    text = case.program().replace(f"{experts}x{TILE}x{k}x", f"{experts}x{n}x{k}x").replace(f"?x{TILE}x", f"?x{n}x")
    text = text.replace(f"{experts}x1x1x32", f"{experts}x{n // TILE}x1x32").replace(f"{experts}x{TILE}xf32", f"{experts}x{n}xf32")
    text = re.sub(r"(%d2 ?: memref<\?x)1x32", rf"\g<1>{n // TILE}x32", text)
    with folder() as where:
        far = Far(where, text, TILE)
        inputs = [bytes_of(x) for _, _, x, _ in case.fixed()] + [bytes_of(x) for x in case.inputs.values()]
        by_row = lambda i, x: [far.window("argument", i, (m * n + n - TILE) * x.itemsize, row) for m, row in enumerate(x)]
        for i, x in enumerate(inputs):
            if i in (2, 3, 6):  # of the last expert
                far.at_end("argument", i, x[-1])
            elif i == 8:
                by_row(i, x)
            else:
                far.window("argument", i, 0, x)
        d, q, sq = case.garbage()
        names = by_row(9, d) + by_row(10, q) + [far.at_end("argument", 11, sq)]
        got = far.run(n // TILE - 1, names)
        want = case.expected()
        for x, y, dtype, what in ((got[:TILE], want[0], np.float32, "D"), (got[TILE:-1], want[1], E4M3, "quantized D"),
                                  (got[-1:], want[2][None], "e8m0", "scales")):
            assert_same(np.stack(x), y, dtype, f"{what} of columns behind {n - TILE}")


def gradients():
    """The last tile of the last of 64 weight gradients of 2^13 x 2^13, of rows behind almost 2^31 of another expert."""
    experts, n = 64, 2**13
    case = matrices.exact([0] * (experts - 1) + [TILE], TILE, TILE, (np.float32,))
    total = MOST // TILE * TILE
    text = case.program().replace(f"{experts}x{TILE}x{TILE}x", f"{experts}x{n}x{n}x").replace(f"?x{TILE}x", f"?x{n}x")
    with folder() as where:
        far = Far(where, text, total)
        for i, operand in ((0, case.lhs), (2, case.rhs)):
            for m, row in enumerate(operand.stored().view(np.uint8)):
                far.window("argument", i, (total - TILE + m) * n + n - TILE, row)
            far.at_end("argument", i + 1, operand.scales)
        far.window("argument", 4, 0, np.array([total - TILE] * (experts - 1) + [total], np.int32))
        names = [far.window("argument", 5, (((experts - 1) * n + n - TILE + m) * n + n - TILE) * 4, row)
                 for m, row in enumerate(case.destinations()[0][-1])]
        got = np.stack(far.run(experts * (n // TILE) ** 2 - 1, names))
        wgrad.assert_same(got[None], case.expected()[0][-1:], [TILE], f"the gradient of rows behind {total - TILE}")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        globals()[name]()
