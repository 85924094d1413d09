// Operations of the moe_kernel dialect.
#ifndef MOE_KERNEL_OPS_TD
#define MOE_KERNEL_OPS_TD

include "dialect/MoeKernel/IR/MoeKernelStructure.td"
include "dialect/MoeKernel/IR/MoeKernelWalks.td"
include "dialect/MoeKernel/IR/MoeKernelPipelines.td"
include "dialect/MoeKernel/IR/MoeKernelMaps.td"
include "dialect/MoeKernel/IR/MoeKernelMatrix.td"
include "dialect/MoeKernel/IR/MoeKernelElements.td"
include "dialect/MoeKernel/IR/MoeKernelStores.td"
include "dialect/MoeKernel/IR/MoeKernelCollectives.td"
include "dialect/MoeKernel/IR/MoeKernelHost.td"

#endif // MOE_KERNEL_OPS_TD
