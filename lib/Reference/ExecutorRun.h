// What executes the ops of a function one by one: shared by the files that know
// how.
#ifndef LIB_REFERENCE_EXECUTORRUN_H
#define LIB_REFERENCE_EXECUTORRUN_H

#include "dialect/GroupedMoe/IR/GroupedMoeOps.h"
#include "lib/Reference/Executor.h"
#include "lib/Reference/Gemm.h"
#include "lib/Reference/IndexOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

#include <memory>

namespace grouped_moe::reference {

/// "2x64x32"
std::string shapeText(const std::vector<int64_t> &shape);
ScaleForm formOf(ScaleLayoutAttr layout);
ScaleRule ruleOf(ScaleRounding rounding);

class Executor {
public:
  Executor(const ExecuteOptions &options) : options(options) {}

  mlir::LogicalResult run(mlir::func::FuncOp function,
                          std::vector<Array> &arguments,
                          std::vector<Array> &results);

private:
  mlir::LogicalResult bindArguments(mlir::func::FuncOp function,
                                    std::vector<Array> &arguments);
  mlir::LogicalResult runOp(mlir::Operation *op);
  mlir::LogicalResult runGemm(GemmOp op);
  mlir::LogicalResult runWgrad(WgradOp op);
  Array *addressed(WgradOp op, unsigned i);
  /// The arrays that addresses point at, or null with an error.
  Array *behindAddresses(mlir::Operation *op, const llvm::Twine &name,
                         mlir::Value addresses, mlir::ShapedType type);
  /// An operand that may be addresses of what `type` is.
  Array *operand(mlir::Operation *op, const llvm::Twine &name,
                 mlir::Value value, mlir::ShapedType type);
  mlir::LogicalResult runQuantize(QuantizeOp op);
  mlir::LogicalResult runDequantize(DequantizeOp op);
  mlir::LogicalResult runInterleave(InterleaveGluOp op);
  mlir::LogicalResult runExtent(mlir::Operation *op, mlir::Value shaped,
                                mlir::Value index);
  mlir::LogicalResult allocate(mlir::Operation *op, mlir::ValueRange extents);
  mlir::LogicalResult readEnds(mlir::Operation *op, const Array &offsets,
                               int64_t rows, uint64_t aligned,
                               std::vector<int64_t> &ends);
  mlir::LogicalResult addInputs(GemmOp op, GemmProblem &problem, bool &derived);
  mlir::LogicalResult addOutputs(GemmOp op, GemmProblem &problem);
  template <typename Op>
  mlir::LogicalResult findScales(Op op, const std::vector<int64_t> &matrix,
                                 mlir::Value scales,
                                 std::vector<ScaleRegion> &regions);
  /// Rows of data that is stored columns first.
  mlir::LogicalResult expectPieces(mlir::Operation *op, int64_t rows);
  mlir::LogicalResult expectShape(mlir::Operation *op, const llvm::Twine &name,
                                  const Array &array,
                                  const std::vector<int64_t> &expected);
  Array &array(mlir::Value value) { return *arrays.find(value)->second; }
  /// The array that destination `i` of an op updates: the memref's own, or a
  /// copy of the tensor's that becomes the result.
  template <typename Op> Array &destination(Op op, unsigned i);

  const ExecuteOptions &options;
  llvm::DenseMap<mlir::Value, std::shared_ptr<Array>> arrays;
  IndexValues indices;
};

template <typename Op> Array &Executor::destination(Op op, unsigned i) {
  mlir::Value output = op.getOutputs()[i];
  if (op->getNumResults() == 0) {
    return array(output);
  }
  auto copy = std::make_shared<Array>(array(output));
  arrays[op->getResult(i)] = copy;
  return *copy;
}

} // namespace grouped_moe::reference

#endif // LIB_REFERENCE_EXECUTORRUN_H
