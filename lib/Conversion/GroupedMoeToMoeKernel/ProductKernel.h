// What the warp-specialised kernels of products share: a load warp fills a ring
// of operand tiles, a matrix warp multiplies them into accumulators, four
// epilogue warps run the region on accumulators and store.
#ifndef LIB_CONVERSION_GROUPEDMOETOMOEKERNEL_PRODUCTKERNEL_H
#define LIB_CONVERSION_GROUPEDMOETOMOEKERNEL_PRODUCTKERNEL_H

#include "lib/Conversion/GroupedMoeToMoeKernel/EpilogueRole.h"
#include "lib/Conversion/GroupedMoeToMoeKernel/KernelScope.h"
#include "llvm/Support/MathExtras.h"

namespace grouped_moe {

inline constexpr int64_t kQuarters = 4;      // of a stage's K (moe_kernel.mma)
inline constexpr int64_t kDataSwizzle = 128; // bytes, of a row of a stage

class ProductKernel {
protected:
  /// Rows of tiles end at multiples of `rowUnit` (EpilogueShape).
  ProductKernel(FusedProduct op, llvm::StringRef name, int64_t block,
                int64_t rowUnit);
  virtual ~ProductKernel() = default;

  /// One factor: a CTA's tiles of `extent` along M or N by `tileK`. A
  /// transposed one is stored with K as the slow extent, and comes in panels of
  /// 128 along M or N.
  struct Factor {
    mlir::Value memref, scalesMemref;
    mlir::Type element; // of the data
    int64_t extent = 0;
    /// Rows of the tile that the product has scales for: all of N in a pair.
    int64_t scaledRows = 0;
    bool transposed = false;
    /// Boxes of a tile, that of a transposed one at least its panels.
    int64_t boxes = 1;
    /// CTAs of the cluster that hold the same tile, along `axis`: each loads a
    /// slice of every box and sends it to all.
    int64_t slices = 1;
    moe_kernel::ClusterAxis axis;
    mlir::Value map, scalesMap; // parameters, or the present group's
    mlir::Value groupMaps, groupScalesMaps; // parameters: if groups have theirs
    mlir::Value data, scales, tmemScales;   // buffers

    int64_t boxExtent() const { return extent / boxes; }
    int64_t scaleAtoms() const {
      return llvm::divideCeil(scaledRows, kAtomRows);
    }
  };
  void setTransposed(Factor &factor, bool transposed);

  /// A map of the data; `lead` extents of 1 stand in front of the box.
  moe_kernel::TensorMapType dataMapType(const Factor &factor, int64_t lead);
  /// Buffers, pipelines: after all parameters.
  void addBuffers();
  /// Loads box `box` of a factor, or this CTA's slice of it: from `first` along
  /// M or N, and `k`.
  void loadBox(const Factor &factor, int64_t box, mlir::ValueRange lead,
               mlir::Value first, mlir::Value k, mlir::Value position);
  /// Loads atoms of scales to the place of atom `atom` of a stage: those of one
  /// block of K together.
  void loadScales(const Factor &factor, int64_t atom, mlir::ValueRange at,
                  mlir::Value position);
  /// A loop over the stages of a tile in the load role, with the position
  /// advanced behind each; `load` gets the step and the position.
  mlir::Value forStages(mlir::Value count, mlir::Value position,
                        llvm::function_ref<void(mlir::Value, mlir::Value)>);
  /// The product of `count` stages; of the last one `lastQuarters` quarters of
  /// K, all without it. Returns the next positions of operands and
  /// accumulators.
  llvm::SmallVector<mlir::Value>
  multiply(mlir::Value count, mlir::Value lastQuarters, mlir::Value position,
           mlir::Value accPosition, mlir::Value rhsScaleRow);

  /// The loop over tiles; its block arguments are the places, then carried.
  struct Walk {
    mlir::Operation *op;
    mlir::Block *body;
    unsigned places;
  };
  virtual Walk createWalk(mlir::ValueRange inits) = 0;
  /// The roles that walk the tiles; `build` returns the carried values: the
  /// position of operands; those of operands and accumulators; that of
  /// accumulators and the epilogue's.
  using Build = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      mlir::ValueRange places, mlir::ValueRange carried)>;
  void buildLoadRole(Build build);
  void buildMatrixRole(Build build);
  void buildEpilogueRole(Build build);

  /// The role that obtains tiles, with cluster launch control.
  void buildSchedulerRole();
  /// A CTA for each tile of `tiles` clusters, or as many as run at once.
  void launch(mlir::Value tiles);
  bool isDynamic() const {
    return schedule.getScheduler() == SchedulerKind::cluster_launch_control;
  }
  moe_kernel::Raster raster() const {
    return schedule.getRaster() == RasterKind::row
               ? moe_kernel::Raster::row
               : moe_kernel::Raster::short_side;
  }

  using Values = llvm::function_ref<llvm::SmallVector<mlir::Value>()>;
  /// `build`, if the tile is one of the matrix's: in a cluster it may lie past
  /// `rows` or `columns`. Else `otherwise`.
  llvm::SmallVector<mlir::Value> ifTileExists(mlir::Value row, mlir::Value rows,
                                              mlir::Value column,
                                              int64_t columns, Values build,
                                              Values otherwise);
  /// Gives accumulators back as they are.
  void skipAccumulators(mlir::Value position);
  /// Where in an atom of scales the tile's columns start, for `mma`; null where
  /// that is always 0.
  mlir::Value scaleRow(mlir::Value column);
  /// Which half of B's tile this CTA holds, null where it holds all.
  mlir::Value pairHalf();
  int64_t ctasOfUnit() const { return isPaired ? 2 : 1; }

  mlir::Value advance(mlir::Value pipeline, mlir::Value position);
  /// Factors take their group's maps from here on; `used` is the number behind
  /// that of the last group, 0 at first, and so is what this returns.
  mlir::Value useGroupMaps(mlir::Value group, mlir::Value used);
  /// A role around the walk; stands behind the walk in the end, and returns its
  /// results.
  mlir::ResultRange buildWalk(moe_kernel::RoleOp role, unsigned carried,
                              Build build);
  mlir::Value alloc(llvm::StringRef name, moe_kernel::BufferSpace space,
                    llvm::ArrayRef<int64_t> shape, mlir::Type element);

  /// Whether scales are f8E4M3FN, not f8E8M0FNU.
  bool hasFineScales() const;
  /// Atoms of scales along K in a stage.
  int64_t atomsOfK() const { return tileK / (block * kAtomBlocks); }

  KernelScope kernel;
  mlir::ImplicitLocOpBuilder &b;
  ScheduleAttr schedule;
  bool isPaired; // two CTAs multiply together
  int64_t clusterM, clusterN;
  int64_t tileM, tileN, tileK; // one CTA's accumulators, and a stage's K
  int64_t block;               // elements of K that share a scale
  EpilogueRole epilogue;
  Factor lhs, rhs;
  mlir::Value accumulator, operands, accumulators;
  /// Of cluster launch control, else null.
  mlir::Value responses, queue;
};

} // namespace grouped_moe

#endif // LIB_CONVERSION_GROUPEDMOETOMOEKERNEL_PRODUCTKERNEL_H
