// What the operations of the moe_kernel dialect are made of.
#ifndef MOE_KERNEL_OP_BASE_TD
#define MOE_KERNEL_OP_BASE_TD

include "dialect/MoeKernel/IR/MoeKernelDialect.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class MoeKernel_Op<string mnemonic, list<Trait> traits = []> : Op<MoeKernel_Dialect, mnemonic, traits>;

class MoeKernel_WarpOp<string mnemonic, list<Trait> traits = []> : MoeKernel_Op<mnemonic, traits> {
  let hasVerifier = 1;
}

#endif // MOE_KERNEL_OP_BASE_TD
