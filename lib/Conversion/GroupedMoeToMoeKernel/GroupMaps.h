// Tensor maps of arrays whose addresses only the device knows: a small kernel
// builds them in the workspace, ahead of the one that uses them.
#ifndef LIB_CONVERSION_GROUPEDMOETOMOEKERNEL_GROUPMAPS_H
#define LIB_CONVERSION_GROUPEDMOETOMOEKERNEL_GROUPMAPS_H

#include "lib/Conversion/GroupedMoeToMoeKernel/KernelScope.h"

namespace grouped_moe {

/// The kernel that builds them, and its launch: a thread for each group. Maps
/// of a group without rows are not built, and its address is not read.
class GroupMaps {
public:
  GroupMaps(mlir::Operation *op, llvm::StringRef kind, mlir::Value offsets);

  /// A map for each group of what an element of `addresses` points at. Returns
  /// the array of maps, on the host.
  mlir::Value add(mlir::Value addresses, mlir::MemRefType pointee,
                  moe_kernel::TensorMapType type);
  /// Ends the kernel and launches it.
  void finish();

private:
  struct Array {
    mlir::Value source, addresses, maps; // parameters
  };

  mlir::Value hasRows(mlir::Value group);

  KernelScope kernel;
  mlir::Value offsets;
  int64_t groups;
  llvm::SmallVector<Array> arrays;
};

} // namespace grouped_moe

#endif // LIB_CONVERSION_GROUPEDMOETOMOEKERNEL_GROUPMAPS_H
