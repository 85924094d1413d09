// The grouped_moe dialect: what is computed, independent of any target.
#ifndef GROUPED_MOE_DIALECT_TD
#define GROUPED_MOE_DIALECT_TD

include "mlir/IR/OpBase.td"

def GroupedMoe_Dialect : Dialect {
  let name = "grouped_moe";
  let summary = "Block-scaled grouped matrix products of Mixture-of-Experts layers";
  let description = [{
    The rows of one activation matrix belong to experts, group after group; each group is multiplied by its own
    expert's weight matrix. Operands are block-scaled: FP8 elements with one power-of-two scale a block. What happens
    to each element of the product is a region of scalar operations, the epilogue, fused into the same kernel.

    Ops are destination style: they work on tensors (with results) and on memrefs (without).
  }];
  let cppNamespace = "::grouped_moe";
  // Of equations of named ops.
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
  let useDefaultAttributePrinterParser = 1;
  // What holds for every grouped product; patterns of one op are at that op.
  let hasCanonicalizer = 1;
  let hasOperationAttrVerify = 1;
}

#endif // GROUPED_MOE_DIALECT_TD
