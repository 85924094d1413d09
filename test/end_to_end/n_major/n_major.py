"""Products whose weights lie as (L, K, N): the bytes of the product with (L, N, K) of the same values."""
import sys
from dataclasses import dataclass, fields

import numpy as np
from equations import BF16
from groups import DATA
from named import AMAX, LAYOUT, ROW_SUM, Case, column_sum, plain, quantized
from operands import exact, random_case
from quantizers import E4M3, E5M2

COLUMN = "layout <column, whole, block = 32>"
SIZES = [128, 0, 256, 128]


@dataclass
class NMajor(Case):
    """b is still (L, N, K); what the program gets is its transpose. The bytes of the scales are the same."""

    def fixed(self):
        swap = lambda name, x: np.ascontiguousarray(x.swapaxes(1, 2)) if name == "b" else x
        return [(name, dtype, swap(name, x), dynamic) for name, dtype, x, dynamic in super().fixed()]

    def program(self):
        head, rhs = super().program().split("rhs(", 1)
        return head + "rhs(" + rhs.replace(LAYOUT, COLUMN, 1)

    def name(self):
        return "n-major " + super().name()


@dataclass
class Generic(NMajor):
    """`gemm` itself: every output takes the accumulator."""

    def program(self):
        values = len(self.outs)
        region = f"""epilogue {{
  ^bb0(%acc: f32):
    grouped_moe.yield {", ".join(["%acc"] * values)} : {", ".join(["f32"] * values)}
  }}"""
        text = super().program().replace("grouped_moe.gemm_quant", "grouped_moe.gemm")
        at = text.index("}", text.index("attributes {")) + 1
        return text[:at] + " " + region + text[at:]


def turned(case, kind=NMajor):
    return kind(**{field.name: getattr(case, field.name) for field in fields(Case)})


def check(case, kind=NMajor):
    """NumPy, the reference executor, and the kernel that reads the other major."""
    straight, across = case.check(), turned(case, kind).check()
    for x, y, what in zip(straight, across, case.destinations()):
        assert x.tobytes() == y.tobytes(), f"{case.name()}: {what[3]} differs"


PLAIN = [plain(), plain(BF16)]
FP8 = [quantized(E4M3, "row_scales_rceil"), quantized(E5M2, "column_group_scales_rceil")]


def gemm():
    """One block of K, partial tiles of both extents, several steps; both formats, both tiles."""
    for i, (n, k) in enumerate(((272, 160), (272, 32), (16, 288), (48, 64), (80, 512), (320, 160))):
        for dtype in (E4M3, E5M2):
            check(exact("gemm_quant", SIZES, n, k, PLAIN, dtype=dtype, extra_rows=57, seed=i, memrefs=i % 2 == 0), Generic)
    check(exact("gemm_quant", SIZES, 320, 160, PLAIN + FP8, extra_rows=128, tile_n=256), Generic)
    check(exact("gemm_quant", SIZES, 288, 160, FP8 + [AMAX, column_sum()], ("alpha", "bias", "prob")))


def swiglu():
    for i, (n, k, attributes) in enumerate(((192, 160, {}), (320, 64, {}), (256, 160, {"concatenated": True}),
                                            (512, 288, {"concatenated": True}))):
        outs = [plain(BF16, "preactivation"), *FP8]
        check(exact("gemm_swiglu", SIZES, n, k, outs, ("prob",), attributes, extra_rows=128, hot=1, seed=i, **DATA["gemm_swiglu"]))


def dswiglu():
    for i, (n, k, attributes) in enumerate(((96, 160, {}), (320, 64, {}), (128, 160, {"concatenated": True}),
                                            (256, 288, {"concatenated": True}))):
        outs = [*FP8, ROW_SUM]
        check(exact("gemm_dswiglu", SIZES, n, k, outs, ("prob", "c"), attributes, c_type=BF16, extra_rows=128, hot=1, seed=i,
                    **DATA["gemm_dswiglu"]))


def schedules():
    for columns, stages, accumulators in ((128, 1, 1), (128, 2, 2), (256, 2, 1)):
        schedule = (f"#grouped_moe.schedule<tile = [128, {columns}, 128], stages = {stages}, accumulators = {accumulators}, "
                    "cluster = [1, 1], scheduler = static_persistent>")
        check(exact("gemm_quant", SIZES, 320, 416, PLAIN, schedule=schedule), Generic)


def experts():
    """Every expert's weights are its own: 130 of them, N no multiple of a tile."""
    check(exact("gemm_quant", [128 if g % 9 == 4 else 0 for g in range(130)], 48, 160, PLAIN, hot=1), Generic)
    for sizes, extra in (([0, 0], 128), ([0, 0], 0), ([128], 256)):
        check(exact("gemm_quant", sizes, 272, 160, PLAIN, extra_rows=extra), Generic)


def random():
    """The bytes of the other major also where sums are rounded; within the bounds of --check; no order has a hazard."""
    for op, inputs in (("gemm_quant", ()), ("gemm_swiglu", ("prob",)), ("gemm_dswiglu", ("prob", "c"))):
        straight = random_case(op, SIZES, 320, 416, [plain(), plain(BF16)], inputs)
        across = turned(straight)
        assert all(x.tobytes() == y.tobytes() for x, y in zip(straight.run(), across.run())), across.name()
        for seed in (1, 2, 3):
            report = {}
            across.run("--hazards=full", f"--schedule-seed={seed}", report=report)
            assert report["launches"] == 1 and not report["hazards"], f"{across.name()}: {report['hazards']}"
        across.outs = [plain()]
        across.run("--check")


def told_apart():
    """Weights of N = K read the other way around give something else."""
    case = exact("gemm_quant", [128, 128], 128, 128, [plain()])
    want = case.expected()[0]
    wrong = turned(case, NMajor)
    wrong.b = np.ascontiguousarray(wrong.b.swapaxes(1, 2))
    assert (wrong.run()[0] != want).any(), "the transpose is not detected"


if __name__ == "__main__":
    for name in sys.argv[1:]:
        globals()[name]()
