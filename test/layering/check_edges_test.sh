#!/bin/bash
# The table refuses what it should, and names both sides.
set -uo pipefail
cd "$(dirname "$0")"
edges="${TEST_TMPDIR:-/tmp}/edges"

accepts() {
  echo "$1" > "$edges"
  ./check_edges.sh "$edges" layers.txt || { echo "refused: $1"; exit 1; }
}
refuses() {
  echo "$1" > "$edges"
  out=$(./check_edges.sh "$edges" layers.txt) && { echo "accepted: $1"; exit 1; }
  grep -q "$2" <<< "$out" || { echo "wrong message: $out"; exit 1; }
}

accepts "//lib/Transforms:Transforms //dialect/GroupedMoe/IR:GroupedMoe"
accepts "//lib/Conversion/MoeKernelToNVVM:X //lib/Conversion:Common"
accepts "//lib/Translate:Translate //runtime/abi:abi"
accepts "//dialect/GroupedMoe/IR:GroupedMoe @llvm//:mlir"
accepts "//lib/Target:Target @bazel_tools//tools/cpp:malloc"
refuses "//dialect/GroupedMoe/IR:GroupedMoe //lib/Target:Target" "must not import //lib/Target:Target"
refuses "//dialect/GroupedMoe/IR:GroupedMoe //dialect/MoeKernel/IR:MoeKernel" "must not import"
refuses "//lib/Target:Target @llvm//:mlir" "//lib/Target:Target must not import @llvm"
refuses "//lib/Transforms:Transforms //lib/Conversion/GroupedMoeToMoeKernel:X" "row //lib/Transforms"
refuses "//lib/Reference:Reference //lib/Transforms:Transforms" "must not import"
refuses "//lib/Reference:Reference //runtime/numerics:numerics" "must not import"
refuses "//lib/Translate:Translate //runtime/core:core" "must not import"
refuses "//runtime/core:core @llvm//:mlir" "must not import @llvm"
refuses "//runtime/core:core //lib/Target:Target" "must not import"
refuses "//runtime/emulator:emulator //runtime/cuda:cuda" "must not import"
refuses "//runtime/cuda:cuda //runtime/emulator:emulator" "must not import"
refuses "//elsewhere:x //lib/Target:Target" "no row of the table fits //elsewhere:x"
