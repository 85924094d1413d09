#!/bin/bash
# check_edges.sh EDGES LAYERS: every `importer imported` line of EDGES is allowed by the table LAYERS.
set -euo pipefail
test -s "$1"
awk '
  function inside(label, folder) {
    if (folder ~ /\/\/$/) { return index(label, folder) == 1 }
    return index(label, folder ":") == 1 || index(label, folder "/") == 1
  }
  FNR == NR {
    if ($0 ~ /^#/ || NF == 0) { next }
    row = $1
    sub(/:$/, "", row)
    $1 = ""
    allowed[row] = row " " $0
    next
  }
  # The build system itself is imported by all.
  $2 ~ /^@(bazel_tools|local_config|rules_cc|platforms)/ { next }
  {
    best = ""
    for (row in allowed) { if (inside($1, row) && length(row) > length(best)) { best = row } }
    if (best == "") { print "no row of the table fits " $1; failures++; next }
    ok = 0
    count = split(allowed[best], folders, " ")
    for (i = 1; i <= count; i++) { if (inside($2, folders[i])) { ok = 1 } }
    if (!ok) { print $1 " must not import " $2 " (row " best ")"; failures++ }
  }
  END { exit failures != 0 }
' "$2" "$1"
