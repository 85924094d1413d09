#!/bin/bash
# The launching runtime stays under 300 KB stripped.
set -euo pipefail
out="${TEST_TMPDIR:-/tmp}/stripped.so"
strip -o "$out" "$1"
size=$(stat -c %s "$out")
echo "libgrouped_moe.so has $size bytes stripped, limit 300000"
test "$size" -lt 300000
