#!/usr/bin/env bash
# Compiles the kernels of the mutation score into a folder and lists them there: every role structure that exists, with
# one k-tile more than the pipeline has stages, and three tiles for a CTA.
#   make_subjects.sh GMOE_COMPILE WORKSPACE OUT
set -euo pipefail
compile="$1" workspace="$2" out="$3"
template="$workspace/test/end_to_end/gemm.mlir.in"
mkdir -p "$out"
: > "$out/list"

# gemm NAME N K TYPE OFFSETS [OPTIONS OF GMOE-COMPILE]
gemm() {
  local name="$1" n="$2" k="$3" type="$4" offsets="$5"
  shift 5
  sed -e "s/@L@/2/g; s/@N@/$n/g; s/@K@/$k/g; s/@F@/f8E4M3FN/g; s/@T@/$type/g" \
      -e "s/@RN@/$(((n + 127) / 128))/g; s/@RK@/$((k / 128))/g" "$template" > "$out/$name.mlir"
  "$compile" "$out/$name.mlir" -o "$out/$name.gmoe" --no-cubin "$@"
  echo "$name run $name.gmoe --arg 4=offsets:$offsets" >> "$out/list"
}

gemm two_accumulators 128 896 f32 128,384
gemm one_accumulator 256 896 bf16 128,384 --tile-n=256
entry() { # NAME, NUMBER OF THE OFFSETS ARGUMENT, OFFSETS, MULTIPROCESSORS
  "$compile" "$workspace/test/mutation/$1.mlir" -o "$out/$1.gmoe" --no-cubin
  echo "$1 run:${4:-1} $1.gmoe --arg $2=offsets:$3" >> "$out/list"
}

entry epilogue_loads 4 128,384
entry three_launches 2 128,384
entry backward 4 128,640 3 # the parts of every sum come from several CTAs
entry forward 4 128,384
# Structures that the compiler does not make yet, from CUDA C++.
for name in gemm_one_cta gemm_pair tma_pipeline cluster_reduction launch_control; do
  echo "$name emulate $workspace/test/mutation/$name.json" >> "$out/list"
done
