#!/bin/bash
# compare_docs.sh (KEPT MADE)...: each file of the tree is what TableGen makes now.
set -uo pipefail
failures=0
while [ $# -ge 2 ]; do
  if ! diff -u "$1" "$2"; then
    failures=$((failures + 1))
  fi
  shift 2
done
if [ "$failures" != 0 ]; then
  echo "$failures generated files differ: run tools/dev docs"
  exit 1
fi
