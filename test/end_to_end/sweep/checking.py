"""What a case must show: of a legal one kernel, reference executor and NumPy agree on every byte, those that are not to be
written included; the kernel has no hazard in a drawn order, and ptxas spills nothing. An illegal one is refused with the label
of its constraint."""
import os
import re
import subprocess
import tempfile
import time
import traceback
from concurrent.futures import ProcessPoolExecutor

from legality import broken
from programs import build, text_of


def text(case):
    return ",".join(f"{name}={value}" for name, value in case.items())


def parse(words):
    case = {}
    for word in words.split(","):
        name, _, value = word.partition("=")
        case[name] = int(value) if re.fullmatch(r"\d+", value) and name != "groups" else value
    return case


def tool(*command):
    return subprocess.run(command, capture_output=True, text=True)


def check_refused(rules, source, folder):
    """One of the labels is named, by the verifier where it can."""
    early = [rule for rule in rules if not rule.late]
    for name, *options in (("gmoe-opt",), ("gmoe-compile", "--emit=ptx")):
        if name == "gmoe-opt" and not early:
            continue
        done = tool(name, source, *options, "-o", f"{folder}/out")
        named = any(f"({rule.label})" in done.stderr for rule in early or rules)
        expected = "; ".join(f"{rule.label}: {rule.why}" for rule in early or rules)
        assert done.returncode == 1 and "error: " in done.stderr and named, (
            f"{name}: exit {done.returncode}, expected a refusal by {expected}\n{done.stderr}")


def check_assembled(source, folder):
    done = tool("gmoe-compile", source, "-o", f"{folder}/out.gmoe")
    assert done.returncode == 0 and not done.stderr, f"gmoe-compile: exit {done.returncode}\n{done.stderr}"
    kernels = re.findall(r"^kernel .*", tool("gmoe-bundle", f"{folder}/out.gmoe").stdout, re.M)
    assert kernels and all(" 0 bytes spilled" in kernel for kernel in kernels), kernels
    calls = re.findall(r"^.*(?:\bcall\b|\.local\b).*", tool("gmoe-bundle", f"{folder}/out.gmoe", "--extract=ptx").stdout, re.M)
    assert not calls, f"calls or local memory: {calls[:3]}"


def check(case, seed):
    rules = broken(case)
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as folder:
        source = f"{folder}/in.mlir"
        made = None if rules else build(case, seed)
        with open(source, "w") as file:
            file.write(made.program() if made else text_of(case))
        if rules:
            return check_refused(rules, source, folder)
        made.check("--hazards=full", f"--schedule-seed={seed}", "--check-inputs")
        if os.environ.get("GMOE_PTXAS"):
            check_assembled(source, folder)


def passes(case, seed, verbose=False):
    started = time.monotonic()
    try:
        check(case, seed)
    except (SystemExit, AssertionError, subprocess.CalledProcessError) as failed:
        print(f"failed: tools/dev sweep --case '{text(case)},seed={seed}'\n  {failed}\n", flush=True)
        return False
    except Exception:
        print(f"failed: tools/dev sweep --case '{text(case)},seed={seed}'\n{traceback.format_exc()}", flush=True)
        return False
    if verbose:
        print(f"{time.monotonic() - started:6.1f} s  {text(case)},seed={seed}", flush=True)
    return True


def run(cases, verbose=True, jobs=1):
    """Checks (case, seed) pairs; prints the count and returns the exit status."""
    if jobs == 1:
        results = [passes(case, seed, verbose) for case, seed in cases]
    else:
        with ProcessPoolExecutor(jobs) as pool:
            results = list(pool.map(passes, *zip(*cases), [verbose] * len(cases)))
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return not all(results)
