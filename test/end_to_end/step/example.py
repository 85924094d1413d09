"""The example of a training step, taken apart: a variant that returns every value, and each op as a program of its own."""
import json
import os
import re
import subprocess
import tempfile
from dataclasses import dataclass

import ml_dtypes
import numpy as np

BF16 = ml_dtypes.bfloat16
ELEMENTS = {"f32": np.float32, "bf16": BF16, "i32": np.int32, "f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E8M0FNU": np.uint8}
STORED = {BF16: np.uint16, ml_dtypes.float8_e4m3fn: np.uint8}


@dataclass
class Op:
    text: str
    name: str
    results: list
    operands: list


class Example:
    """`types` of every tensor by its name; `ops` of grouped_moe in order."""

    def __init__(self, text):
        text = re.sub(r"^ *//.*\n", "", text, flags=re.M)
        signature, body = re.fullmatch(r"\n*func\.func @\w+\((.*?)\)\s*-> \(.*?\) \{\n(.*)\n\}\n", text, re.S).groups()
        self.types = dict(re.findall(r"%(\w+): (tensor<[^>]+>)", signature))
        self.arguments = list(self.types)
        statements = re.findall(r"^  \S.*(?:\n    .*)*", body, re.M)
        self.statements, self.returned = statements[:-1], re.findall(r"%(\w+)", statements[-1])
        self.ops = []
        for statement in self.statements:
            results = re.findall(r"%(\w+)", statement.split(" = ")[0])
            if "grouped_moe." in statement:
                self.types.update(zip(results, re.findall(r"tensor<[^>]+>", statement.rsplit("-> ", 1)[1])))
                used = dict.fromkeys(re.findall(r"%(\w+)", statement.split(" = ", 1)[1]))
                self.ops.append(Op(statement, re.search(r"grouped_moe\.(\w+)", statement)[1], results, list(used)))
            elif "tensor.empty" in statement:
                self.types[results[0]] = re.search(r"tensor<[^>]+>", statement)[0]

    def function(self, arguments, statements, results):
        types = ", ".join(self.types[r] for r in results)
        signature = ", ".join(f"%{a}: {self.types[a]}" for a in arguments)
        body = "\n".join(statements)
        return f"func.func @entry({signature}) -> ({types}) {{\n{body}\n  return {', '.join('%' + r for r in results)} : {types}\n}}\n"

    def results(self):
        """Every value that an op makes."""
        return [result for op in self.ops for result in op.results]

    def everything(self):
        return self.function(self.arguments, self.statements, self.results())

    def run(self, inputs, *options, device="emulator", report=None, bundle=None):
        """All values by name. `bundle` is everything(), compiled before."""
        arrays = execute(bundle or self.everything(), [inputs[name] for name in self.arguments], self.elements(self.results()),
                         *options, device=device, report=report)
        return dict(zip(self.results(), arrays))

    def alone(self, op, values, *options, device="emulator", report=None):
        """One op on `values`, its destinations all ones."""
        destinations = {name: np.full_like(values[result].view(np.uint8), 0xFF).view(values[result].dtype)
                        for name, result in zip(self.destinations(op), op.results)}
        text = self.function(op.operands, [op.text], op.results)
        arrays = execute(text, [destinations.get(name, values.get(name)) for name in op.operands], self.elements(op.results),
                         *options, device=device, report=report)
        return dict(zip(op.results, arrays))

    def destinations(self, op):
        return re.findall(r"%(\w+)", re.search(r"outs\((.*?)\)\s", op.text, re.S)[1])

    def elements(self, names):
        return [ELEMENTS[re.search(r"(\w+)>$", self.types[name].split("x")[-1])[1]] for name in names]

    def making(self, result):
        return next(op for op in self.ops if result in op.results)


def compiled(text, bundle=None):
    """Exit status and messages."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as folder:
        with open(folder + "/in.mlir", "w") as file:
            file.write(text)
        command = ["gmoe-compile", folder + "/in.mlir", "-o", bundle or folder + "/out.gmoe"]
        done = subprocess.run(command, capture_output=True, text=True)
        return done.returncode, done.stderr


def execute(program, arguments, elements, *options, device, report=None):
    """`program` is the text of one, or the path of a bundle."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as folder:
        source = program
        if not program.endswith(".gmoe"):
            source = folder + "/in.mlir"
            with open(source, "w") as file:
                file.write(program)
        command = ["gmoe-run", source, f"--device={device}", "--json", *options]
        for i, x in enumerate(arguments):
            np.save(f"{folder}/a{i}.npy", x.view(STORED.get(x.dtype.type, x.dtype)))
            command.append(f"--arg={i}={folder}/a{i}.npy")
        command += [f"--result={i}={folder}/r{i}.npy" for i in range(len(elements))]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, f"exit {done.returncode}\n{done.stdout[-4000:]}{done.stderr}"
        if report is not None:
            report.update(json.loads(done.stdout))
        return [np.load(f"{folder}/r{i}.npy").view(element) for i, element in enumerate(elements)]
