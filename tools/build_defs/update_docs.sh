#!/bin/bash
# update_docs.sh (KEPT MADE)...: writes what TableGen makes into the source tree; run by `bazel run`.
set -euo pipefail
root="${BUILD_WORKSPACE_DIRECTORY:?run it with tools/dev docs}"
while [ $# -ge 2 ]; do
  if ! cmp -s "$root/$1" "$2"; then
    cat "$2" > "$root/$1"
    echo "wrote $1"
  fi
  shift 2
done
