#!/usr/bin/env bash
# The committed PTX is what the sources compile to, where nvcc 13.0 is found.
set -euo pipefail
nvcc="${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}"
if ! "$nvcc" --version 2>/dev/null | grep -q 'release 13\.0'; then
  echo "no nvcc 13.0 here: nothing compared"
  exit 0
fi
exec bash test/runtime/programs/compile.sh --check
