#!/bin/bash
# check_deps.sh LABELS PREFIX...: every label in the file starts with a prefix.
set -euo pipefail
file=$1
shift
failures=0
while read -r label; do
  for prefix in "$@"; do
    [[ "$label" == "$prefix"* ]] && continue 2
  done
  echo "must not be reached: $label"
  failures=$((failures + 1))
done < "$file"
test -s "$file"
test "$failures" -eq 0
