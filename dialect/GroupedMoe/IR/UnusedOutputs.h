// Canonicalization of products of which somebody uses only some results.
#ifndef DIALECT_GROUPEDMOE_IR_UNUSEDOUTPUTS_H
#define DIALECT_GROUPEDMOE_IR_UNUSEDOUTPUTS_H

namespace mlir {
class RewritePatternSet;
} // namespace mlir

namespace grouped_moe {

/// Outputs that nobody uses go, and then what only they needed. On tensors
/// alone: what is written into a memref may be read by anyone.
void populateUnusedOutputPatterns(mlir::RewritePatternSet &patterns);

} // namespace grouped_moe

#endif // DIALECT_GROUPEDMOE_IR_UNUSEDOUTPUTS_H
