#!/bin/bash
# A dependency outside the table is found and named.
set -uo pipefail
cd "$(dirname "$0")"
out=$(./check_deps.sh self_deps //runtime/abi: @ //external:) && exit 1
grep -q "must not be reached: //runtime/core:core" <<< "$out"
