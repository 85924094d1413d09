// Block scaling inside a kernel: the equations of quantize's description.
#ifndef LIB_CONVERSION_GROUPEDMOETOMOEKERNEL_BLOCKSCALE_H
#define LIB_CONVERSION_GROUPEDMOETOMOEKERNEL_BLOCKSCALE_H

#include "dialect/GroupedMoe/IR/GroupedMoeOps.h"
#include "lib/Conversion/GroupedMoeToMoeKernel/KernelScope.h"

namespace grouped_moe {

/// 2^(code - 127) for an e8m0 byte that is zero-extended to i32: code 0 is a
/// subnormal, 255 is NaN (OCP MX v1.0, E8M0).
mlir::Value powerOfTwo(KernelScope &kernel, mlir::Value code);

/// The value of a scale of f8E8M0FNU or f8E4M3FN whose byte is zero-extended to
/// i32.
mlir::Value scaleValue(KernelScope &kernel, mlir::Value code,
                       mlir::Type format);

/// How blocks become data and scales. Rounding `nearest` has f8E4M3FN scales,
/// the others f8E8M0FNU scales.
struct BlockFormat {
  mlir::Type data;
  ScaleRounding rounding = ScaleRounding::rceil;
  mlir::Value normConst; // f32, or null for 1
  int64_t block = 32;    // elements, along rows
};

/// The scale of a block with this maximum, as i32.
mlir::Value scaleCode(KernelScope &kernel, mlir::Value amax,
                      const BlockFormat &format);
/// What elements are multiplied by before their conversion; NaN for a NaN
/// scale.
mlir::Value dataFactor(KernelScope &kernel, mlir::Value code,
                       const BlockFormat &format);

struct QuantizedBlock {
  mlir::Value codes;  // vector of i8
  mlir::Value scales; // i32: a byte for each block, the first one lowest
};

/// Quantizes 32 consecutive elements of a row, a vector of f32.
QuantizedBlock quantizeRow(KernelScope &kernel, mlir::Value values,
                           const BlockFormat &format);

} // namespace grouped_moe

#endif // LIB_CONVERSION_GROUPEDMOETOMOEKERNEL_BLOCKSCALE_H
