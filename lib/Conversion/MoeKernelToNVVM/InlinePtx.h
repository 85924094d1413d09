// Instructions that neither NVVM nor LLVM can state, as inline PTX.
#ifndef LIB_CONVERSION_MOEKERNELTONVVM_INLINEPTX_H
#define LIB_CONVERSION_MOEKERNELTONVVM_INLINEPTX_H

#include "mlir/IR/Builders.h"

namespace grouped_moe::inline_ptx {

/// tcgen05.wait::ld, which returns the registers (i32) it waits for: without
/// that data dependence, uses of them can be scheduled before it.
llvm::SmallVector<mlir::Value> waitForLoads(mlir::OpBuilder &b,
                                            mlir::Location loc,
                                            mlir::ValueRange registers);

/// old = [address]; [address] = old >= bound ? 0 : old + 1, at GPU scope. LLVM
/// drops the ordering of its own atomicrmw here.
mlir::Value atomicIncAcqRel(mlir::OpBuilder &b, mlir::Location loc,
                            mlir::Value address, mlir::Value bound);
/// [address] = max([address], bits) as u32.
void reduceMaxU32(mlir::OpBuilder &b, mlir::Location loc, mlir::Value address,
                  mlir::Value bits);
/// [address] += value (f32).
void reduceAddF32(mlir::OpBuilder &b, mlir::Location loc, mlir::Value address,
                  mlir::Value value);

} // namespace grouped_moe::inline_ptx

#endif // LIB_CONVERSION_MOEKERNELTONVVM_INLINEPTX_H
