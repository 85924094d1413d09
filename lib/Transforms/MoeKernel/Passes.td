// Checks of moe_kernel functions.
#ifndef LIB_TRANSFORMS_MOEKERNEL_PASSES_TD
#define LIB_TRANSFORMS_MOEKERNEL_PASSES_TD

include "mlir/Pass/PassBase.td"

def CheckKernelResources : Pass<"moe-kernel-check-resources", "::mlir::ModuleOp"> {
  let summary = "refuse kernels that the chip cannot hold";
  let description = [{
    Places every buffer and barrier of each `moe_kernel.func` and compares the sums with the chip: dynamic shared
    memory in bytes, tensor memory in columns, shapes of the matrix instruction. A refusal lists every buffer with its
    size. The IR is not changed.

    ```mlir
    moe_kernel.func @fits() warps(4) {
      %a = moe_kernel.alloc "a" : !moe_kernel.buffer<shared, 4x128x128xf8E4M3FN>
      moe_kernel.return
    }
    ```
  }];
  let options = [
    Option<"chip", "chip", "std::string", "\"sm_100a\"", "chip to check for">
  ];
}

def CheckKernelProtocol : Pass<"moe-kernel-check-protocol", "::mlir::ModuleOp"> {
  let summary = "refuse kernels whose roles break a pipeline's protocol";
  let description = [{
    Each pipeline has one role that fills it and at least one that empties it; stages are acquired before they are
    filled and waited for before they are read, at the same position; loads bring the announced bytes; arrivals make up
    the barriers' counts. Loop bodies are read once, in the order of the text. The IR is not changed.

    ```mlir
    moe_kernel.func @pipelines() warps(2) {
      %c0 = arith.constant 0 : i32
      %p = moe_kernel.pipeline "p" producers = 1 consumers = 1 transaction_bytes = 0 : !moe_kernel.pipeline<1>
      moe_kernel.role "producer" warps(0, 1) elected {
        moe_kernel.acquire %p[%c0] : !moe_kernel.pipeline<1>
        moe_kernel.commit full %p[%c0] : !moe_kernel.pipeline<1>
      }
      moe_kernel.role "consumer" warps(1, 1) elected {
        moe_kernel.wait %p[%c0] : !moe_kernel.pipeline<1>
        moe_kernel.release %p[%c0] : !moe_kernel.pipeline<1>
      }
      moe_kernel.return
    }
    ```
  }];
}

#endif // LIB_TRANSFORMS_MOEKERNEL_PASSES_TD
