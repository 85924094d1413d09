// Passes on the grouped_moe dialect.
#ifndef LIB_TRANSFORMS_PASSES_TD
#define LIB_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def CheckScales : Pass<"grouped-moe-check-scales", "::mlir::func::FuncOp"> {
  let summary = "refuse ops that read a matrix otherwise than it was written";
  let description = [{
    Follows every quantized matrix, its scales, and the order of gate and up from the op that writes them to those that
    read them: through casts, copies and `interleave_glu`, on tensors and in memory. A mistake is an error at the reader,
    with a note at the writer. Of function arguments nothing is known but what their readers say, who must agree.

    | label | what |
    |---|---|
    | `flow_c1` | scales are read in the layout, and for `per_group` with the offsets, that they were written with |
    | `flow_c2` | data is read with the scales that were written along with it |
    | `flow_c3` | the blocks of data lie in the direction, and are of the size, in which it was quantized |
    | `flow_c4` | gate and up are read in the order in which they lie, alternating or side by side |
    | `flow_c5` | ops that read the same scales, or the same pairs, read them alike |

    ```mlir
    %h, %sf, %h_col, %sf_col = grouped_moe.gemm_swiglu ...
    %y = grouped_moe.gemm lhs(%h_col scales %sf ...) ...   // refused: %sf belongs to %h (flow_c2)
    ```
  }];
}

def GeneralizeNamedOps : Pass<"grouped-moe-generalize"> {
  let summary = "replace named ops by the gemm they stand for";
  let description = [{
    Each named op carries its equation; this pass writes it out as the region of a `grouped_moe.gemm` with the same operands.
    What no output needs is left out.

    ```mlir
    %h = grouped_moe.gemm_srelu ... outs(%h0 : tensor<?x256xbf16>) -> tensor<?x256xbf16>
    // becomes
    %h = grouped_moe.gemm ... outs(%h0 : tensor<?x256xbf16>) epilogue {
    ^bb0(%acc: f32):
      %zero = arith.constant 0.0 : f32
      %r = arith.maximumf %acc, %zero : f32
      %h = arith.mulf %r, %r : f32
      grouped_moe.yield %h : f32
    } -> tensor<?x256xbf16>
    ```
  }];
  let statistics = [Statistic<"replaced", "replaced", "named ops replaced">];
}

def SelectSchedule : Pass<"grouped-moe-select-schedule"> {
  let summary = "give every gemm and wgrad without a schedule one that fits the target";
  let description = [{
    Writes `#grouped_moe.schedule` on each `grouped_moe.gemm` and `wgrad` that has none, and checks those that have one
    against the target. Of all tiles, clusters and schedulers that fit the chip and the options it takes the one that an
    estimate from the target's facts says is fastest for the rows that groups are expected to have: those of the op's
    attribute `grouped_moe.expected_rows = array<i64: 200, 0, 56>`, else of the option, else equal parts of a static matrix,
    else 512 each. Clusters beyond what the tile needs, and launch control, must gain 3 %. The reason is an optimization
    remark (`--remarks-filter-passed=schedule`). A wgrad whose tiles of one group cannot occupy the chip divides large groups
    along their rows (`split`), where the estimate says that adding the parts costs less than it gains.

    ```mlir
    grouped_moe.gemm ... {m_aligned = 256}
    // becomes
    grouped_moe.gemm ... {m_aligned = 256, schedule = #grouped_moe.schedule<tile = [256, 256, 128], stages = 5,
        accumulators = 2, cluster = [2, 1], scheduler = static_persistent along short_side>}
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", "\"sm_100a\"", "chip to choose for">,
    Option<"tileM", "tile-m", "int64_t", "0", "rows of a tile: 128, or 256 for pairs of CTAs; 0 chooses">,
    Option<"tileN", "tile-n", "int64_t", "0", "columns of a tile: 64, 128, 192 or 256; 0 chooses">,
    ListOption<"cluster", "cluster", "int64_t", "CTAs of a cluster along M and N; none chooses">,
    Option<"stages", "stages", "int64_t", "0", "depth of the operand ring; 0 chooses">,
    Option<"scheduler", "scheduler", "std::string", "\"\"", "static_persistent or cluster_launch_control; none chooses">,
    ListOption<"expectedRows", "expected-rows", "int64_t", "rows that groups are expected to have, repeated for further groups">];
  let statistics = [Statistic<"chosen", "chosen", "schedules chosen">];
}

def ResultsToArguments : Pass<"grouped-moe-results-to-arguments", "::mlir::ModuleOp"> {
  let summary = "return buffers through arguments of public functions";
  let description = [{
    A launch program does not allocate: each returned buffer becomes an argument behind the existing ones, and the
    allocation it came from is dropped. Only buffers that the function allocates itself and returns once may be returned.

    ```mlir
    func.func @f(%x: memref<?x64xf32>) -> memref<?x64xbf16>
    // becomes
    func.func @f(%x: memref<?x64xf32>, %arg1: memref<?x64xbf16> {grouped_moe.result})
    ```
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

#endif // LIB_TRANSFORMS_PASSES_TD
