"""One tile of a kernel whose arrays are far larger than memory: behind 2^31 rows, in D and C of more than 2^32 elements, in
weights and biases of more than 2^32. Only what the tile reads and writes exists, at the addresses that it has in whole arrays, so
that a product of extents in 32 bits reads or writes elsewhere, where nothing is. far.py NAME...

The kernel's PTX runs as it is, but for the number of its cluster: the tile is the last one, which the last of many clusters takes."""
import json
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

BYTES = {"e4m3": 1, "e5m2": 1, "e8m0": 1, "i32": 4, "f32": 4, "bf16": 2, "f16": 2}
# cuTensorMapEncodeTiled's types, and their bytes.
MAP_BYTES = {0: 1, 1: 2, 7: 4, 6: 2, 9: 2}


def evaluate(text, rows):
    """An extent as gmoe-bundle prints it."""
    ceildiv, floordiv = lambda x, y: -(-x // y), lambda x, y: x // y
    return int(eval(text, {"R": rows, "sms": 16, "ceildiv": ceildiv, "floordiv": floordiv, "min": min}))


def extents(text, rows, by):
    return [evaluate(x, rows) for x in re.split(by + r"(?![^(]*\))", text)]


class Far:
    """A compiled entry of one kernel, to be run on windows of its arrays."""

    def __init__(self, folder, program, rows):
        self.folder, self.rows = folder, rows
        with open(f"{folder}/in.mlir", "w") as file:
            file.write(program)
        run("gmoe-compile", f"{folder}/in.mlir", "-o", f"{folder}/out.gmoe", "--no-cubin")
        self.ptx, self.text = run("gmoe-bundle", f"{folder}/out.gmoe", "--extract=ptx"), run("gmoe-bundle", f"{folder}/out.gmoe")
        shape = re.findall(r"argument (\d+) \w+: [\w-]+ (\w+) \[(.*)\], aligned", self.text)
        self.sizes = {("argument", int(i)): BYTES[t] * int(np.prod(extents(x, rows, ", "), dtype=object)) for i, t, x in shape}
        self.sizes.update({("temporary", int(i)): evaluate(x, rows)
                           for i, x in re.findall(r"temporary (\d+): (.*) bytes", self.text)})
        self.buffers = {}

    def base(self, kind, number):
        return (2 * number + 8 + (kind == "temporary")) << 45  # above the windows of shared memory

    def window(self, kind, number, offset, array):
        """`array` lies that many bytes into the argument or temporary; from its end if negative. Its name."""
        assert -self.sizes[kind, number] <= offset <= self.sizes[kind, number] - array.nbytes, (kind, number, offset)
        name = f"{kind}{number}.{len(self.buffers)}"
        array.tofile(f"{self.folder}/{name}")
        at = offset if offset >= 0 else self.sizes[kind, number] + offset
        self.buffers[name] = (self.base(kind, number) + at, array)
        return name

    def at_end(self, kind, number, array):
        return self.window(kind, number, -array.nbytes, array)

    def map(self, offset, number, type_, dims, box, swizzle):
        """Of a dense array, as its parameter says."""
        dims, size = extents(dims, self.rows, " x "), MAP_BYTES[int(type_)]
        strides = [int(x) for x in np.cumprod(np.array(dims[:-1], object)) * size]
        buffer = next(name for name in self.buffers if name.startswith(f"argument{number}."))
        back = (self.base("argument", int(number)) - self.buffers[buffer][0]) % 2**64
        return {"name": f"map{offset}", "buffer": buffer, "offset": hex(back), "type": int(type_), "rank": len(dims), "dims": dims,
                "strides": strides, "box": [int(x) for x in box.split(" x ")], "swizzle": int(swizzle)}

    def run(self, tile, dumped):
        """Executes the tile; what the named windows hold then."""
        maps, params = [], {}
        for at, *rest in re.findall(r"byte (\d+): tensor map of argument (\d+) \w+, type (\d+), dimensions (.*), box ([\d x]+), "
                                    r"swizzle (\d)", self.text):
            maps.append(self.map(at, *rest))
            params[int(at)] = f"{{map{at}}}"
        for at, kind, number in re.findall(r"byte (\d+): pointer to (argument|temporary) (\d+)", self.text):
            params[int(at)] = self.base(kind, int(number)).to_bytes(8, "little").hex()
        for at, bits, value in re.findall(r"byte (\d+): i(32|64) (.*)", self.text):
            params[int(at)] = evaluate(value, self.rows).to_bytes(int(bits) // 8, "little").hex()
        launch = re.search(r"launch (\w+): .* cluster (\d+)x1x1, block (\d+)x1x1, (\d+) bytes of dynamic shared memory, (\d+) bytes of "
                           r"parameters", self.text)
        kernel, *counts = launch.groups()
        ctas, threads, shared, bytes_ = map(int, counts)
        assert self.text.count("  launch ") == 1, self.text
        assert len(params) == self.text.count("    parameter at byte "), self.text
        at, packed = 0, []
        for offset in sorted(params):
            packed += ["00" * (offset - at), params[offset]]
            at = offset + (128 if params[offset][0] == "{" else len(params[offset]) // 2)
        ptx = self.ptx
        for name, value in (("id", tile), ("n", tile + 1)):
            register = {"id": r"%(cta|cluster)id\.x", "n": r"%n(cta|cluster)id\.x"}[name]
            ptx, count = re.subn(register, str(value), ptx)
            assert count, "the kernel finds its tile in another way"
        with open(f"{self.folder}/k.ptx", "w") as file:
            file.write(ptx)
        described = {"ptx": "k.ptx", "kernel": kernel, "grid": [ctas], "cluster": [ctas], "block": [threads], "dynamic_smem": shared,
                     "params": packed + ["00" * (bytes_ - at)], "tensor_maps": maps,
                     "buffers": [{"name": name, "file": name, "address": hex(address)} for name, (address, _) in self.buffers.items()],
                     "dump": [{"buffer": name, "file": name + ".out"} for name in dumped]}
        with open(f"{self.folder}/launch.json", "w") as file:
            json.dump(described, file)
        run("gmoe-emulate", f"{self.folder}/launch.json")
        return [np.fromfile(f"{self.folder}/{name}.out", self.buffers[name][1].dtype).reshape(self.buffers[name][1].shape)
                for name in dumped]


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stdout[-2000:]}{done.stderr}")
    return done.stdout


def folder():
    return tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR"))
