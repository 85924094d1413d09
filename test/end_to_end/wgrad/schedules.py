"""No order of CTAs and warps has a hazard."""
from epilogues import ADDED, addends, alphas
from matrices import random_case
from splits import SIZES, schedule
from torchao import MAJORS
from wgrad import BF16, F32, Epilogue

REGION = Epilogue({"alpha": alphas(), "more": addends(256, 272, F32)}, ADDED, "%z", lambda acc, alpha, more: [acc * alpha + more])


def cases():
    for majors in MAJORS:
        yield random_case(SIZES, 256, 272, (BF16,), majors=majors)
    yield random_case([32, 0, 1024, 64], 256, 272, (F32, BF16), aligned=32)
    for how in (schedule(), schedule(256, 2, 1), schedule(128, 1, 1, None), schedule(128, 2, 2, None)):
        yield random_case(SIZES, 256, 272, (BF16,), schedule=how)
    yield random_case(SIZES, 256, 272, (BF16,), epilogue=REGION)
    for how in ("", schedule()):
        case = random_case(SIZES, 256, 272, (BF16,), schedule=how, accumulate=True)
        case.old = [addends(256, 272, F32, seed=2)]
        yield case
    yield random_case(SIZES, 256, 272, (BF16,), pointers=True)


for case in cases():
    for seed in (1, 2, 3):
        report = {}
        case.run("--hazards=full", f"--schedule-seed={seed}", report=report)
        assert not report["hazards"], f"{case.name()}, seed {seed}: {report['hazards']}"
        assert report["launches"] == 1, f"{case.name()}: {report['launches']} launches"
