// A refused run exits with 1 and leaves no result; a wrong command line exits with 2.

// RUN: sh -c 'gmoe-run --device=reference; test $? -eq 2' 2>&1 | FileCheck %s --check-prefix=USAGE
// USAGE: error: no input file
// USAGE-NEXT: usage: gmoe-run IN.mlir|IN.gmoe
// RUN: sh -c 'gmoe-run %s; test $? -eq 2' 2>&1 | FileCheck %s --check-prefix=NO-DEVICE
// NO-DEVICE: error: no --device, expected --device=reference
// RUN: sh -c 'gmoe-run %s --device=gpu; test $? -eq 2' 2>&1 | FileCheck %s --check-prefix=DEVICE
// DEVICE: error: --device=gpu: expected one of reference, emulator, cuda
// RUN: sh -c 'gmoe-run %s --device=reference --wrong; test $? -eq 2' 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: error: unknown option '--wrong'
// RUN: sh -c 'gmoe-run %s --device=reference --arg 0=random:x; test $? -eq 2' 2>&1 | FileCheck %s --check-prefix=SEED
// SEED: error: --arg 0=random:x: seed is 'x', expected a number
// RUN: sh -c 'gmoe-run %s --device=reference --rows; test $? -eq 2' 2>&1 | FileCheck %s --check-prefix=VALUE
// VALUE: error: option '--rows' has no value

// RUN: sh -c 'gmoe-run %t.none.mlir --device=reference; test $? -eq 1' 2>&1 | FileCheck %s --check-prefix=FILE
// FILE: error: {{.*}}none.mlir
// RUN: not gmoe-run %s --device=reference 2>&1 | FileCheck %s --check-prefix=ENTRIES
// ENTRIES: error: the module has several entries, choose one with --entry: dequantize, unknown, control
// RUN: not gmoe-run %s --device=reference --entry=none 2>&1 | FileCheck %s --check-prefix=ENTRY
// ENTRY: error: no entry "none"; the module has: dequantize, unknown, control
// RUN: not gmoe-run %s --device=reference --entry=dequantize --arg 7=const:1 2>&1 | FileCheck %s --check-prefix=INDEX
// INDEX: error: --arg 7: entry "dequantize" has 2 arguments
// RUN: not gmoe-run %s --device=reference --entry=dequantize --result 3=%t.r.npy 2>&1 | FileCheck %s --check-prefix=RESULT
// RESULT: error: --result 3: entry "dequantize" has 1 results
// RUN: not gmoe-run %s --device=reference --entry=dequantize --arg 1=const:3 2>&1 | FileCheck %s --check-prefix=SCALE
// SCALE: error: argument #1: const:3{{.*}} is no value of e8m0, expected a power of two from 2^-127 to 2^127
// RUN: not gmoe-run %s --device=reference --entry=dequantize --arg 0=offsets:128 2>&1 | FileCheck %s --check-prefix=OFFSETS
// OFFSETS: error: argument #0: is no offsets operand

// A result is the argument of the next run: as f32 it is no FP8 data.
// RUN: gmoe-run %s --device=reference --entry=dequantize --arg 1=const:4 --arg 0=const:1.5 --rows 3 --result 0=%t.y.npy
// RUN: not gmoe-run %s --device=reference --entry=dequantize --arg 0=%t.y.npy 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: error: argument #0: {{.*}}y.npy: stored type is <f4, expected |u1 for e4m3
// RUN: not gmoe-run %s --device=reference --entry=unknown --arg 0=%t.y.npy --rows 4 2>&1 | FileCheck %s --check-prefix=ROWS
// ROWS: error: --rows 4: the arguments have 3 rows
// RUN: not gmoe-run %s --device=reference --entry=unknown --arg 0=%t.y.npy --result 0=%t.none.npy 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: test ! -e %t.none.npy
// UNKNOWN: error: 'tensor.cast' op is not known to the reference executor
// RUN: not gmoe-run %s --device=reference --entry=control 2>&1 | FileCheck %s --check-prefix=CONTROL
// CONTROL: error: entry "control": expected a body of one block
// RUN: not gmoe-run %s --device=reference --entry=dequantize --json --arg 9=const:1 | FileCheck %s --check-prefix=JSON
// JSON: "findings": [
// JSON-NEXT: "--arg 9: entry \"dequantize\" has 2 arguments"
// JSON: "passed": false

func.func @dequantize(%q: tensor<?x32xf8E4M3FN>, %s: tensor<?x1x32x4x4xf8E8M0FNU>) -> tensor<?x32xf32> {
  %c0 = arith.constant 0 : index
  %r = tensor.dim %q, %c0 : tensor<?x32xf8E4M3FN>
  %y0 = tensor.empty(%r) : tensor<?x32xf32>
  %y = grouped_moe.dequantize ins(%q : tensor<?x32xf8E4M3FN> scales %s : tensor<?x1x32x4x4xf8E8M0FNU>)
      outs(%y0 : tensor<?x32xf32>) layout <row, whole, block = 32> -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

func.func @unknown(%x: tensor<?x32xf32>) -> tensor<?x?xf32> {
  %y = tensor.cast %x : tensor<?x32xf32> to tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

func.func @control(%x: tensor<?x32xf32>) -> tensor<?x32xf32> {
  cf.br ^next
^next:
  return %x : tensor<?x32xf32>
}
