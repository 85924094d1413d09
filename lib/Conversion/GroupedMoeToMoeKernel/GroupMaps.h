// Tensor maps of each group's own, of what only the device knows: where its
// arrays are, or where its rows end. A small kernel builds them in the
// workspace, ahead of the one that uses them.
#ifndef LIB_CONVERSION_GROUPEDMOETOMOEKERNEL_GROUPMAPS_H
#define LIB_CONVERSION_GROUPEDMOETOMOEKERNEL_GROUPMAPS_H

#include "lib/Conversion/GroupedMoeToMoeKernel/KernelScope.h"

namespace grouped_moe {

/// The kernel that builds them, and its launch: a thread for each group. Maps
/// of a group without rows are not built, and its address is not read. What
/// adds maps returns the array of them, on the host.
class GroupMaps {
public:
  /// Groups end at offsets, or at `hostRows` if that is given and less.
  GroupMaps(mlir::Operation *op, llvm::StringRef kind, mlir::Value offsets,
            mlir::Value hostRows = mlir::Value());

  /// A map for each group of what an element of `addresses` points at.
  mlir::Value addDiscrete(mlir::Value addresses, mlir::MemRefType pointee,
                          moe_kernel::TensorMapType type);
  /// A map for each group of `memref`, that ends with the group's rows, which
  /// run along `axis`.
  mlir::Value addCut(mlir::Value memref, int64_t axis,
                     moe_kernel::TensorMapType type);
  /// Ends the kernel and launches it.
  void finish();

private:
  struct Array {
    mlir::Value source, maps; // parameters
    mlir::Value addresses;    // a parameter, null if cut
    int64_t axis = 0;         // along which it is cut
  };

  mlir::Value newMaps(moe_kernel::TensorMapType type);
  void build(const Array &array, mlir::Value group, mlir::Value end);

  KernelScope kernel;
  mlir::Value offsets, rows; // parameters
  int64_t groups;
  llvm::SmallVector<Array> arrays;
};

} // namespace grouped_moe

#endif // LIB_CONVERSION_GROUPEDMOETOMOEKERNEL_GROUPMAPS_H
