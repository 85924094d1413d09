#!/usr/bin/env bash
# Compiles the programs beside this script to ptx/NAME.ptx, which the tests run.
# usage: compile.sh [--check]     with nvcc 13.0 in PATH, in NVCC, or in /usr/local/cuda/bin
# --check compares with the files that are there and changes nothing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

nvcc="${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}"
out=ptx
if [ "${1:-}" = --check ]; then
  out="$(mktemp -d)"
  trap 'rm -rf "$out"' EXIT
fi
mkdir -p "$out"
for source in *.cu; do
  name="${source%.cu}"
  case "$name" in
  gemm_* | launch_control) arch=sm_100a ;;
  *) arch=sm_90a ;;
  esac
  "$nvcc" -ptx -std=c++17 -O3 -arch="$arch" "$source" -o "$out/$name.ptx"
  if [ "${1:-}" = --check ] && ! cmp "$out/$name.ptx" "ptx/$name.ptx"; then
    echo "ptx/$name.ptx is not what $source compiles to: run test/runtime/programs/compile.sh" >&2
    exit 1
  fi
done
