// Whether the roles of a kernel keep to the protocol of its pipelines.
#ifndef LIB_ANALYSIS_KERNELPROTOCOL_H
#define LIB_ANALYSIS_KERNELPROTOCOL_H

#include "dialect/MoeKernel/IR/MoeKernelOps.h"

namespace grouped_moe {

/// Reports the first breach of the pipeline protocol in `func`. Roles are read
/// in the order of their text, loop bodies once, both sides of a condition:
/// what depends on run-time values is not seen.
///
/// * one role fills a pipeline (acquire, expect, load, commit full) and at
///   least one other empties it (wait, release, commit empty);
/// * a stage is acquired before it is filled, filled at the position acquired,
///   and its loads bring the pipeline's transaction bytes;
/// * a stage is waited for before it is read, read at the position waited for,
///   and not read after it is given back;
/// * arrivals of a round, and bytes, make up the barriers' counts, with those
///   that other CTAs of a cluster bring;
/// * a role whose stages other CTAs give back drains them in the end;
/// * a map in memory is acquired before a load uses it.
mlir::LogicalResult checkKernelProtocol(moe_kernel::FuncOp func);

} // namespace grouped_moe

#endif // LIB_ANALYSIS_KERNELPROTOCOL_H
