"""Products whose right operand is an array of addresses, one array for each expert. gmoe-run puts them in no order with poison
between them, equal ones at one address, and gives experts without rows the address 0."""
import re
import sys
from dataclasses import dataclass, fields

import numpy as np
from equations import BF16
from named import AMAX, ROW_SUM, bytes_of, column_sum, plain, quantized
from oracle import ALL, E2M1, E4M3, E5M2, E8M0, FP4, Format
from products import SIZES, Product, exact, random_product, schedule

FP8 = Format("e4m3", E4M3, E4M3, E8M0, 32)


@dataclass
class Discrete(Product):
    launches = 2

    def program(self):
        text = re.sub(r"%(b|sb): (memref|tensor)<(\d+)x[^>]*>", r"%\1: \2<\3xi64>", super().program())
        return re.sub(r"%(b|sb) : (memref|tensor)<(\d+)x([^>]*)>", r"%\1 : \2<\3xi64> of tensor<\4>", text)

    def spec(self, folder, i, x):
        if i not in (2, 3):
            return super().spec(folder, i, x)
        # Short names: a list of many is one word of the command.
        files = [f"a{i}.{g}.npy" for g in range(self.groups)]
        for file, part in zip(files, x):
            np.save(f"{folder}/{file}", bytes_of(part))
        return "pointers:" + ",".join(files)

    def name(self):
        return "discrete " + super().name()


def apart(case):
    """The same product, its experts apart."""
    return Discrete(**{field.name: getattr(case, field.name) for field in fields(Product)} | {
        "op": "gemm" if case.generic else case.op})


def formats():
    """Every format and major, N and K around tiles and atoms, tiles of both widths."""
    for seed, form in enumerate((FP8,) + ALL):
        kernels = ("", schedule(form, 128, 2, 2), schedule(form, 256, 2, 1))
        for i, (n, k) in enumerate(((16, 64), (272, 832), (256, 320))):
            case = exact(form, n, k, [plain(), plain(BF16)], seed=seed + i, memrefs=i != 1, extra_rows=57 * i,
                         schedule=kernels[(seed + i) % 3], n_major=form not in FP4 and (seed + i) % 2 == 1)
            apart(case).check()


def majors():
    for form in (FP8, ALL[3], ALL[4]):
        for kernel in ((128, 3, 2), (256, 2, 1)):
            for n_major in (False, True):
                apart(exact(form, 320, 416, [plain()], schedule=schedule(form, *kernel), n_major=n_major)).check()


def experts():
    """1, 4, 130: more than a CTA of the kernel that builds the maps; with rows, without, all without."""
    for sizes in ([128], [128, 0, 256, 128], [128 if g % 9 == 4 else 0 for g in range(130)], [0, 0], [0, 0, 256]):
        for extra_rows in (0, 128):
            if sum(sizes) + extra_rows:
                apart(exact(FP8, 48, 160, [plain()], sizes=sizes, extra_rows=extra_rows, seed=len(sizes))).check()
    apart(exact(ALL[1], 48, 192, [plain()], sizes=[128 if g % 43 == 1 else 0 for g in range(130)])).check()


def shared():
    """Two experts at one address."""
    for form in (FP8, ALL[1]):
        case = exact(form, 160, 320, [plain()], sizes=[128, 256, 128])
        case.b[2], case.sb[2] = case.b[0], case.sb[0]
        apart(case).check()


def as_dense():
    """Byte for byte the product of one array, with every epilogue."""
    rows, columns = quantized(E4M3, "row_scales_rceil"), quantized(E5M2, "column_group_scales_rceil")
    fine = quantized(E2M1, "row_scales_nearest")
    cases = (("gemm_quant", FP8, ("alpha", "bias", "prob"), [rows, columns, AMAX], {}),
             ("gemm_swiglu", FP8, ("prob",), [rows, columns, plain(BF16, "preactivation")], {}),
             ("gemm_swiglu", FP8, ("prob",), [rows, plain(BF16, "preactivation")], {"concatenated": True}),
             ("gemm_geglu", ALL[0], ("alpha",), [plain()], {}), ("gemm_situglu", ALL[2], (), [plain()], {}),
             ("gemm_srelu", ALL[1], ("alpha",), [fine], {}),
             ("gemm_dswiglu", FP8, ("prob", "c"), [rows, ROW_SUM, column_sum()], {}),
             ("gemm_dgeglu", ALL[3], ("c",), [plain()], {}))
    for i, (op, form, inputs, outs, attributes) in enumerate(cases):
        n = 512 if attributes else 320
        dense = random_product(form, n, 320, outs, op, inputs=inputs, attributes=attributes, seed=i, memrefs=i % 2 == 0,
                               n_major=form not in FP4 and i % 2 == 1)
        for x, y, what in zip(dense.run(), apart(dense).run("--check"), dense.destinations()):
            assert x.tobytes() == y.tobytes(), f"{dense.name()}: {what[3]} differs"


def hazards():
    """Several tiles of several experts for a CTA, in any order."""
    for form, kernel, n_major in ((FP8, (128, 2, 2), False), (FP8, (256, 2, 1), True), (ALL[1], (128, 2, 2), False)):
        case = apart(random_product(form, 272, 832, [plain()], sizes=[256, 0, 128, 384], schedule=schedule(form, *kernel),
                                    n_major=n_major))
        for seed in (1, 2, 3):
            report = {}
            case.run("--hazards=full", f"--schedule-seed={seed}", report=report)
            assert report["launches"] == 2 and not report["hazards"], f"{case.name()}: {report['hazards']}"


def clusters():
    """CTAs that share tiles of one expert, and pairs of them."""
    for form in (FP8, ALL[0], ALL[1]):
        for rows, columns, of_cluster in ((256, 256, "4, 1"), (128, 128, "2, 1"), (128, 192, "2, 2"), (128, 64, "2, 2")):
            for n_major in (False,) if form in FP4 else (False, True):
                scheduler = "cluster_launch_control" if n_major else "static_persistent"
                how = (f"#grouped_moe.schedule<tile = [{rows}, {columns}, {form.tile_k}], stages = 2, accumulators = 1, "
                       f"cluster = [{of_cluster}], scheduler = {scheduler}>")
                case = exact(form, 320, 832, [plain()], sizes=[256, 0, 128, 384], schedule=how, n_major=n_major)
                apart(case).check("--hazards=full")


def ragged():
    """Groups that start at any row."""
    for i, form in enumerate((FP8, ALL[1], ALL[3])):
        how = dict(sizes=[100, 0, 7, 0, 261], aligned=1, per_group=True, extra_rows=57 * i, seed=i)
        apart(exact(form, 160, 320, [plain(), plain(BF16)], **how)).check("--hazards=full")


def told_apart():
    """The weights of another expert give another result."""
    case = exact(FP8, 128, 128, [plain()], sizes=[128, 128])
    want, wrong = case.expected()[0], apart(case)
    wrong.b = wrong.b[::-1].copy()
    assert (wrong.run()[0] != want).any(), "exchanged experts are not detected"


if __name__ == "__main__":
    for name in sys.argv[1:]:
        globals()[name]()
