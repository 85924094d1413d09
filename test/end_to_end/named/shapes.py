"""Rows past the last offset that fill no atom, static shapes, narrow and odd N and K, both tiles, inputs of 16 bits."""
import sys

import numpy as np
from equations import BF16
from groups import DATA, FORWARD, GRADIENTS, inputs_of, outs_of
from named import AMAX, ROW_SUM, Out, column_sum, plain, quantized
from operands import exact
from quantizers import E2M1, E4M3, E5M2

MORE = [quantized(E5M2, "column_scales_floor"), quantized(E2M1, "row_group_scales_nearest")]


def check(op, n, outs=None, sizes=(128, 0, 256, 0), k=64, attributes=None, **rest):
    case = exact(op, list(sizes), n, k, outs or outs_of(op), inputs_of(op), attributes, hot=1, **DATA.get(op, {}), **rest)
    case.check()


def tails():
    """R is no multiple of 128: the last atoms of whole scales hold rows of no group."""
    for i, op in enumerate(FORWARD + GRADIENTS):
        check(op, 192, outs_of(op) + MORE, extra_rows=(1, 57, 200)[i % 3], seed=i)
    check("gemm_swiglu", 192, sizes=(0, 0), extra_rows=57)


def static():
    """Shapes without a dynamic extent, on memrefs and tensors."""
    for i, op in enumerate(("gemm_quant", "gemm_swiglu", "gemm_dswiglu")):
        check(op, 192, outs_of(op) + MORE, extra_rows=57, static=True, memrefs=i != 1)


def narrow():
    """One block of 32 columns, less than one, K of one block and of no whole number of atoms."""
    check("gemm_dswiglu", 32, [plain(), ROW_SUM, AMAX], sizes=(128, 0, 128))
    check("gemm_quant", 32, [quantized(), quantized(E5M2, "column_group_scales_floor"), quantized(E2M1, "row_scales_nearest")])
    for n in (16, 48, 80):
        check("gemm_quant", n, [plain(), plain(BF16), plain(E4M3), AMAX])
        check("gemm_dsrelu", n, [plain(), ROW_SUM, AMAX], c_type=E4M3)
    for k in (32, 160, 288):
        check("gemm_quant", 64, k=k)


def tiles():
    for i, op in enumerate(FORWARD + GRADIENTS):
        for n in (256, 320):
            check(op, n, tile_n=256, extra_rows=128, seed=i)
    for op in ("gemm_geglu", "gemm_dgeglu"):
        check(op, 256, attributes={"concatenated": True}, tile_n=256)


def schedules():
    """A schedule in the IR decides how and never what; one stage means no overlap at all."""
    for op in ("gemm_quant", "gemm_swiglu", "gemm_dswiglu", "gemm_dsrelu"):
        for columns, stages, accumulators in ((128, 1, 1), (128, 2, 2), (256, 2, 1)):
            schedule = (f"#grouped_moe.schedule<tile = [128, {columns}, 128], stages = {stages}, accumulators = {accumulators}, "
                        "cluster = [1, 1], scheduler = static_persistent>")
            check(op, 320, outs_of(op)[:4], k=256, schedule=schedule)


def inputs():
    """alpha, bias and prob of 16 bits; every value of dsrelu in every kind; a quantized pre-activation; many outputs."""
    for dtype in (np.float16, BF16):
        for op in ("gemm_quant", "gemm_swiglu", "gemm_dgeglu"):
            check(op, 128, input_type=dtype)
    kinds = [Out(kind, value) for kind in ("row_sum", "group_amax", "group_column_sum") for value in ("result", "activation")]
    check("gemm_dsrelu", 64, kinds + [Out("group_amax", "dprob"), Out("group_column_sum", "dprob"), plain(BF16, "dprob"),
                                      quantized(value="activation")])
    z = "preactivation"
    check("gemm_swiglu", 128, [quantized(value=z), quantized(E5M2, "column_group_scales_floor", z), Out("group_amax", z),
                               quantized(E2M1, "row_scales_nearest", z)])
    check("gemm_dswiglu", 128, outs_of("gemm_dswiglu") + [quantized(E5M2), quantized(E4M3, "column_scales_floor"), plain(BF16)])


if __name__ == "__main__":
    for name in sys.argv[1:]:
        globals()[name]()
