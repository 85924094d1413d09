#!/usr/bin/env bash
# Compiles the kernels of the mutation score into a folder and lists them there: every role structure that exists, with
# more k-tiles than the pipeline has stages, and three tiles or more for a CTA or cluster.
#   make_subjects.sh GMOE_COMPILE WORKSPACE OUT
set -euo pipefail
compile="$1" workspace="$2" out="$3"
template="$workspace/test/end_to_end/gemm.mlir.in"
# What a subject is for must not change with the choice of schedules.
plain="--schedule=tile-m=128 tile-n=128 cluster=1,1"
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

gemm two_accumulators 128 896 f32 128,384 "$plain"
gemm overlapping_accumulators 256 896 bf16 128,384 "--schedule=tile-m=128 tile-n=256 cluster=1,1"

# Clusters: tiles past their group or N come at the beginning, several in a row, and in the end.
dynamic="scheduler=cluster_launch_control"
gemm pair 512 384 bf16 128,512 "--schedule=tile-m=256 tile-n=128 cluster=2,1 stages=2"
gemm pair_overlapping 768 384 bf16 128,512 "--schedule=tile-m=256 tile-n=256 cluster=2,1 stages=2"
gemm multicast 640 384 bf16 128,512 "--schedule=tile-m=128 tile-n=128 cluster=2,2 stages=2"
gemm multicast_along_m 512 384 bf16 128,1024 "--schedule=tile-m=128 tile-n=128 cluster=4,1 stages=2"
gemm multicast_pairs 512 384 bf16 128,1024 "--schedule=tile-m=256 tile-n=128 cluster=4,1 stages=2"
gemm dynamic 512 384 bf16 128,512 "--schedule=tile-m=128 tile-n=128 cluster=1,1 stages=2 $dynamic"
gemm dynamic_multicast 640 384 bf16 128,512 "--schedule=tile-m=128 tile-n=128 cluster=2,2 stages=2 $dynamic"

# entry FILE NUMBER_OF_OFFSETS_ARGUMENT OFFSETS [MULTIPROCESSORS [NAME SCHEDULE]]
entry() {
  local argument="$2" offsets="$3" sms="${4:-1}" name="${5:-$1}"
  "$compile" "$workspace/test/mutation/$1.mlir" -o "$out/$name.gmoe" --no-cubin "${6:-$plain}"
  echo "$name run:$sms $name.gmoe --arg $argument=offsets:$offsets" >> "$out/list"
}

entry epilogue_loads 4 128,384
entry discrete 4 128,384 1 discrete "$plain stages=5"
entry discrete 4 128,896 1 discrete_dynamic_pair "--schedule=tile-m=256 tile-n=128 cluster=2,1 stages=2 $dynamic"
entry three_launches 2 128,384
entry backward 4 128,640 3 # the parts of every sum come from several CTAs
entry backward 4 128,640 1 backward_pair "--schedule=tile-m=256 tile-n=128 cluster=2,1 stages=2"
entry forward 4 128,384
entry ragged 4 129,1100,1100 3 # warps with rows of two groups; the parts of every sum come from several CTAs
entry ragged 4 100,900,900 1 ragged_dynamic_pair "--schedule=tile-m=256 tile-n=128 cluster=2,1 stages=2 $dynamic"
entry weight_gradient 4 96,1024 3 # the parts of a tile come from different CTAs
# The parts of a tile come from different clusters.
entry gradient_multicast 4 96,96,480 12
entry gradient_pair 4 100,100,481 8
entry fp4_columns 4 96,416
entry fp4_gradient 4 128,1664 3
# named OP COLUMNS_OF_RHS C OUTPUTS: a named op with alpha, prob and, if C is a type, c; outputs are TYPE:KIND.
named() {
  local op="$1" n="$2" c="$3" atoms=$((($2 + 127) / 128)) i=0
  shift 3
  local arguments="" inputs="%alpha : memref<2xf32> as alpha, %prob : memref<?xf32> as prob" outputs=""
  if [ -n "$c" ]; then
    arguments=", %c: $c"
    inputs+=", %c : $c as c"
  fi
  for output in "$@"; do
    arguments+=", %d$i: ${output%%:*}"
    outputs+="${outputs:+, }%d$i : ${output%%:*} as ${output#*:}"
    i=$((i + 1))
  done
  cat > "$out/$op.mlir" <<EOF
func.func @$op(%a: memref<?x896xf8E4M3FN>, %sa: memref<?x7x32x4x4xf8E8M0FNU>, %b: memref<2x${n}x896xf8E4M3FN>,
    %sb: memref<2x${atoms}x7x32x4x4xf8E8M0FNU>, %offsets: memref<2xi32>, %alpha: memref<2xf32>, %prob: memref<?xf32>$arguments) {
  grouped_moe.$op
      lhs(%a : memref<?x896xf8E4M3FN> scales %sa : memref<?x7x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x${n}x896xf8E4M3FN> scales %sb : memref<2x${atoms}x7x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%offsets : memref<2xi32>) ins($inputs) outs($outputs) attributes {m_aligned = 128 : i64}
  return
}
EOF
  "$compile" "$out/$op.mlir" -o "$out/$op.gmoe" --no-cubin "$plain"
  echo "$op run:3 $op.gmoe --arg 4=offsets:256,1280" >> "$out/list"
}

row="memref<?x1x32x4x4xf8E8M0FNU>:row_scales_rceil"
columns="memref<?x32x4x4xf8E8M0FNU>:column_group_scales_rceil"
quantized="memref<?x128xf8E4M3FN>:quantized"
named gemm_quant 128 "" "$quantized" "$row" "memref<2xf32>:group_amax"
for op in gemm_swiglu gemm_geglu gemm_situglu; do
  named $op 256 "" "memref<?x256xbf16>:of preactivation" "$quantized" "$row" "$quantized" "$columns"
done
named gemm_srelu 128 "" "memref<?x128xbf16>:of preactivation" "$quantized" "$columns"
for op in gemm_dswiglu gemm_dgeglu; do
  named $op 128 "memref<?x256xbf16>" "memref<?x256xf8E4M3FN>:quantized" "memref<?x2x32x4x4xf8E8M0FNU>:row_scales_rceil" \
      "memref<?xf32>:row_sum" "memref<2x2xf32>:group_amax" "memref<2x256xf32>:group_column_sum"
done
named gemm_dsrelu 256 "memref<?x256xbf16>" "memref<?x256xbf16>:plain" "memref<?xf32>:row_sum" \
    "memref<?x256xf8E4M3FN>:quantized of activation" "memref<?x32x4x4xf8E8M0FNU>:column_group_scales_rceil"
# The same structures as others write them, in CUDA C++.
for name in gemm_one_cta gemm_pair tma_pipeline cluster_reduction launch_control; do
  echo "$name emulate $workspace/test/mutation/$name.json" >> "$out/list"
done
