"""Mistakes in reading operands that the exact data tells from the right product, in most elements."""
import numpy as np
from oracle import ALL, FP4
from products import exact
from shapes_of_formats import DEPTHS


def permuted(scales, change):
    """`change` of the indices of blocks of lhs or rhs."""
    return scales[..., change(np.arange(scales.shape[-1])) % scales.shape[-1]]


def mistakes(case):
    """(name, the case with the mistake made on its operands)."""
    form, blocks = case.format, case.k // case.format.block
    in_stage = form.tile_k // form.block
    changes = {f"{step} blocks on": lambda j, step=step: j + step for step in (1, 2, 4, 8, 16) if step < blocks}
    if min(blocks, in_stage) > 4:
        changes["the first atom of a stage again"] = lambda j: j // in_stage * in_stage + j % 4
    if blocks > in_stage:
        changes["the first stage again"] = lambda j: j % in_stage
    changes["pairs of blocks swapped"] = lambda j: j ^ 1
    changes["scales of pairs of blocks"] = lambda j: j & ~1
    for side in ("sa", "sb"):
        right = getattr(case, side)
        for name, change in changes.items():
            yield f"{side}: {name}", {side: permuted(right, change)}
    rows = np.arange(len(case.sa)) ^ 32
    yield "sa: another quarter of the atom", {"sa": case.sa[rows]}
    if form in FP4:
        yield "a: halves of a byte swapped", {"a": case.a.reshape(-1, case.k // 2, 2)[..., ::-1].reshape(case.a.shape)}
        yield "b: halves of a byte swapped", {"b": case.b.reshape(-1, case.k // 2, 2)[..., ::-1].reshape(case.b.shape)}
    else:
        yield "both of the format of lhs", {"b": case.b.view(np.uint8).view(form.lhs)}


for form in ALL:
    for k in DEPTHS:
        case = exact(form, 48, k, [], sizes=[0, 128, 128], seed=k)
        right = case.accumulate()
        for name, changed in mistakes(case):
            kept = {field: getattr(case, field) for field in changed}
            vars(case).update(changed)
            apart = (case.accumulate() != right).mean()
            assert apart > 0.7, f"{form.name} K {k}: {name}: {apart:.3f} differ"
            vars(case).update(kept)
