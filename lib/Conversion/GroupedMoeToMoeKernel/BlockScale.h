// Block scaling inside a kernel: the equations of quantize's description.
#ifndef LIB_CONVERSION_GROUPEDMOETOMOEKERNEL_BLOCKSCALE_H
#define LIB_CONVERSION_GROUPEDMOETOMOEKERNEL_BLOCKSCALE_H

#include "dialect/GroupedMoe/IR/GroupedMoeOps.h"
#include "lib/Conversion/GroupedMoeToMoeKernel/KernelScope.h"

namespace grouped_moe {

/// 2^(code - 127) for an e8m0 byte that is zero-extended to i32: code 0 is a
/// subnormal, 255 is NaN (OCP MX v1.0, E8M0).
mlir::Value powerOfTwo(KernelScope &kernel, mlir::Value code);

struct QuantizedBlock {
  mlir::Value codes; // vector of i8
  mlir::Value scale; // i32: the scale byte
};

/// Quantizes one block, a vector of f32, to an 8-bit format.
QuantizedBlock quantizeBlock(KernelScope &kernel, mlir::Value values,
                             mlir::Type format, ScaleRounding rounding);

} // namespace grouped_moe

#endif // LIB_CONVERSION_GROUPEDMOETOMOEKERNEL_BLOCKSCALE_H
