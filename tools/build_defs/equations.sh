#!/bin/bash
# equations.sh GMOE_OPT NAMED_OPS OUT: the region that each named op stands for, as Markdown. The arguments of a region get
# the names that a comment of the input gives them.
set -euo pipefail
{
  echo "# The equations of the named ops"
  echo
  echo "What \`--grouped-moe-generalize\` makes of each named op with every operand it may have. Of pairs two values are"
  echo "yielded. Made from the equations in dialect/GroupedMoe/IR/Equations.cpp; do not edit."
  sed -n 's/^\/\/ \(gemm.*\): \(.*\)/names \1|\2/p' "$2" > "$3.names"
  "$1" --grouped-moe-generalize --canonicalize --cse "$2" | awk -v names="$3.names" '
    BEGIN {
      while ((getline line < names) > 0) {
        sub(/^names /, "", line)
        split(line, part, "|")
        title[++count] = part[1]
        list[count] = part[2]
      }
    }
    /\^bb0\(/ {
      inside = 1
      ++op
      n = split(list[op], name, " ")
      text = $0
      sub(/.*\^bb0\(/, "", text)
      m = split(text, argument, ",")
      for (i = 1; i <= m; ++i) {
        sub(/:.*/, "", argument[i])
        gsub(/[ ]/, "", argument[i])
        from[i] = argument[i]
        to[i] = "%" name[i]
      }
      print "\n## " title[op] "\n\n```mlir"
    }
    inside && /^    }/ { inside = 0; print "```" }
    inside {
      line = $0 " "
      for (i = 1; i <= m; ++i) {
        gsub(from[i] ":", to[i] "\001:", line)
        gsub(from[i] ",", to[i] "\001,", line)
        gsub(from[i] " ", to[i] "\001 ", line)
      }
      gsub(/\001/, "", line)
      sub(/^    /, "", line)
      sub(/ +$/, "", line)
      print line
    }'
} > "$3"
rm -f "$3.names"
