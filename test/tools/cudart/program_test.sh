#!/usr/bin/env bash
# Compiles program.cu and runs it on the emulator, where nvcc 13.0 is found.
set -euo pipefail
nvcc="${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}"
if ! "$nvcc" --version 2>/dev/null | grep -q 'release 13\.0'; then
  echo "no nvcc 13.0 here: nothing run"
  exit 0
fi
library="$PWD/tools/cudart"
"$nvcc" -std=c++17 -gencode arch=compute_100a,code=compute_100a --no-compress --cudart none \
  test/tools/cudart/program.cu -o "$TEST_TMPDIR/program" -L"$library" -lgmoe_cudart
export LD_LIBRARY_PATH="$library"
mkdir "$TEST_TMPDIR/record"
GMOE_HAZARDS=full GMOE_RECORD="$TEST_TMPDIR/record" "$TEST_TMPDIR/program"
# The recorded launch gives the same bytes in gmoe-emulate.
tools/gmoe-emulate "$TEST_TMPDIR/record/0/launch.json" --schedule-seed=3
printf '%s\n' "$TEST_TMPDIR"/record/0/*.out
