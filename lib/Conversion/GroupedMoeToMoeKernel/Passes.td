// Conversion from grouped_moe to moe_kernel.
#ifndef LIB_CONVERSION_GROUPEDMOETOMOEKERNEL_PASSES_TD
#define LIB_CONVERSION_GROUPEDMOETOMOEKERNEL_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertToKernel : Pass<"grouped-moe-convert-to-kernel", "::mlir::ModuleOp"> {
  let summary = "make one kernel, and its launch, of each grouped_moe op";
  let description = [{
    Ops must be on memrefs, inside functions; `gemm` must carry its schedule. Each op becomes a `moe_kernel.func`
    in front of the function and a `moe_kernel.launch` in its place, so that the function is a launch program.

    ```mlir
    grouped_moe.quantize ins(%x : memref<?x64xf32>) outs(%q, %sf : ...) ...
    // becomes
    moe_kernel.launch @entry_quantize grid(%ctas) args(%rows, %x, %q, %sf : ...)
    ```
  }];
  let dependentDialects = [
    "::moe_kernel::MoeKernelDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

#endif // LIB_CONVERSION_GROUPEDMOETOMOEKERNEL_PASSES_TD
