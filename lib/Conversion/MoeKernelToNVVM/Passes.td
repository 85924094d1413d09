// Lowering of moe_kernel functions to NVVM.
#ifndef LIB_CONVERSION_MOEKERNELTONVVM_PASSES_TD
#define LIB_CONVERSION_MOEKERNELTONVVM_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertMoeKernelToNVVM : Pass<"moe-kernel-convert-to-nvvm", "::mlir::ModuleOp"> {
  let summary = "lower moe_kernel functions to NVVM in one gpu.module";
  let description = [{
    Every `moe_kernel.func` becomes an `llvm.func` with `nvvm.kernel` in `gpu.module @kernels`; host functions and the
    host ops (`launch`, `make_tensor_map`, `sm_count`) stay. A memref argument becomes a global pointer, a tensor map a
    128-byte parameter by value. Arithmetic inside kernels stays in arith, math, vector and scf:
    `moe-kernel-to-llvm` on the gpu.module finishes the job.

    Attributes on the result: `moe_kernel.dynamic_shared_bytes`, `moe_kernel.tmem_columns` and
    `moe_kernel.block_threads` (i32).

    ```mlir
    moe_kernel.func @kernel(%x: memref<?x256xf32>) warps(4) {
      moe_kernel.return
    }
    ```
    becomes
    ```mlir
    gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_100a", features = "+ptx90">] {
      llvm.func @kernel(%x: !llvm.ptr<1> {llvm.align = 16 : i64})
          attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>, nvvm.minctasm = 1 : i32} {
        llvm.return
      }
    }
    ```
  }];
  let options = [
    Option<"chip", "chip", "std::string", "\"sm_100a\"", "chip to compile for">,
    Option<"ptxVersion", "ptx-version", "unsigned", "90", "PTX version, major * 10 + minor">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"
  ];
}

def ExpandKernelMath : Pass<"moe-kernel-expand-math"> {
  let summary = "rewrite math functions into what the GPU backend has";
  let description = [{
    `exp`, `exp2`, `log` and `tanh` of f32 become short sequences with errors of a few ulp around the chip's base-2
    exponential; `erf`, `erfc`, `log1p` and `expm1` take the polynomial approximations of the math
    dialect; functions of f16 and bf16 are computed in f32. Roots, roundings, `fma`, `absf` and `copysign` are
    instructions already. A function that is left is an error.

    ```mlir
    %y = math.exp %x : vector<32xf32>
    ```
    becomes a range reduction to `r`, `math.exp2 %r fastmath<afn>` and two multiplications by powers of two.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::vector::VectorDialect"];
}

#endif // LIB_CONVERSION_MOEKERNELTONVVM_PASSES_TD
