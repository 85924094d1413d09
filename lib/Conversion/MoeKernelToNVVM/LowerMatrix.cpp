// Scales, products and accumulators in tensor memory.
#include "lib/Conversion/MoeKernelToNVVM/KernelLowering.h"
#include "lib/Conversion/MoeKernelToNVVM/Tcgen05.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace moe_kernel;
using namespace grouped_moe;

static constexpr int64_t scaleAtomBytes = 512;
static constexpr int64_t scaleAtomColumns = 4;
static constexpr int64_t kQuarters = 4; // of a stage's K: one instruction each

Value KernelLowering::tensorStage(AllocOp alloc, Value position) {
  BufferPlace place = resources.getPlace(alloc);
  Value address = tensorBase;
  if (place.offset != 0) {
    address = create<arith::AddIOp>(address, i32Const(place.offset));
  }
  int64_t stages = alloc.getBuffer().getType().getStages();
  if (stages == 1) {
    return address;
  }
  // Overlapping accumulators take turns.
  Value stage =
      alloc.getOverlap() > 0 ? phaseOf(position) : stageOf(position, stages);
  Value columns = create<arith::MulIOp>(stage, i32Const(place.stride));
  return create<arith::AddIOp>(address, columns);
}

LogicalResult KernelLowering::lower(CopyScalesOp op) {
  auto from = definingOp<AllocOp>(op, op.getSource());
  auto to = definingOp<AllocOp>(op, op.getTarget());
  if (!from || !to) {
    return failure();
  }
  Value position = mapped(op.getPosition());
  Value shared = sharedStage(from, position);
  Value address = tensorStage(to, position);
  int64_t atoms = op.getSource().getType().getStageBytes() / scaleAtomBytes;
  for (int64_t i = 0; i < atoms; ++i) {
    Value atom = shared, slot = address;
    if (i > 0) {
      atom = create<LLVM::GEPOp>(
          shared.getType(), b.getI8Type(), shared,
          ArrayRef<LLVM::GEPArg>{int32_t(i * scaleAtomBytes)});
      slot = create<arith::AddIOp>(address, i32Const(i * scaleAtomColumns));
    }
    tcgen05::copyScaleAtom(b, loc, atom, slot, ctaGroup());
  }
  return success();
}

LogicalResult KernelLowering::lower(MmaOp op) {
  auto acc = definingOp<AllocOp>(op, op.getAccumulator());
  auto a = definingOp<AllocOp>(op, op.getA());
  auto bAlloc = definingOp<AllocOp>(op, op.getB());
  auto aScales = definingOp<AllocOp>(op, op.getAScales());
  auto bScales = definingOp<AllocOp>(op, op.getBScales());
  if (!acc || !a || !bAlloc || !aScales || !bScales) {
    return failure();
  }
  auto aFormat = tcgen05::formatOf(a.getBuffer().getType().getElementType());
  auto bFormat =
      tcgen05::formatOf(bAlloc.getBuffer().getType().getElementType());
  if (!aFormat || !bFormat) {
    return op.emitOpError() << "multiplies " << a.getBuffer().getType()
                            << " by " << bAlloc.getBuffer().getType()
                            << ", expected f8E4M3FN, f8E5M2 or f4E2M1FN";
  }
  ArrayRef<int64_t> accShape = acc.getBuffer().getType().getShape();
  int64_t tileK = a.getBuffer().getType().getShape()[2];
  Value position = mapped(op.getPosition());
  Value bScalesAt = tensorStage(bScales, position);
  if (op.getBScaleRow()) {
    // 32 rows a column.
    bScalesAt = create<arith::AddIOp>(
        bScalesAt,
        create<arith::DivUIOp>(mapped(op.getBScaleRow()), i32Const(32)));
  }
  tcgen05::BlockScaledMma mma{
      tensorStage(acc, mapped(op.getAccPosition())),
      tcgen05::operandDescriptor(b, loc, sharedStage(a, position),
                                 op.getATransposed(), tileK),
      tcgen05::operandDescriptor(b, loc, sharedStage(bAlloc, position),
                                 op.getBTransposed(), tileK),
      tensorStage(aScales, position),
      bScalesAt,
      *aFormat,
      *bFormat,
      op.getATransposed(),
      op.getBTransposed(),
      /*m=*/accShape[1],
      /*n=*/accShape[2],
      op.getAtomsOfK(),
      op.getFineScales(),
      ctaGroup()};

  Value kBlocks = mapped(op.getKBlocks());
  APInt known;
  bool isKnown = matchPattern(kBlocks, m_ConstantInt(&known));
  tcgen05::mma(b, loc, mma, 0, mapped(op.getAccumulate()));
  // Later blocks nest: block k exists only if block k - 1 does.
  OpBuilder::InsertionGuard guard(b);
  for (int64_t k = 1; k < kQuarters; ++k) {
    if (isKnown && known.sle(k)) {
      break;
    }
    if (!isKnown) {
      Value exists = create<arith::CmpIOp>(arith::CmpIPredicate::sgt, kBlocks,
                                           i32Const(k));
      auto ifOp = create<scf::IfOp>(exists, /*withElseRegion=*/false);
      b.setInsertionPointToStart(ifOp.thenBlock());
    }
    Value yes = create<arith::ConstantOp>(b.getBoolAttr(true));
    tcgen05::mma(b, loc, mma, k, yes);
  }
  return success();
}

LogicalResult KernelLowering::lower(LoadAccumulatorOp op) {
  auto acc = definingOp<AllocOp>(op, op.getAccumulator());
  if (!acc) {
    return failure();
  }
  // A warp reaches the 32 lanes of its rank in its group of four (PTX ISA,
  // "Access restrictions" of tcgen05.ld).
  if (!currentRole || currentRole.getFirstWarp() % 4 != 0 ||
      currentRole.getNumWarps() != 4 || currentRole.getElected()) {
    InFlightDiagnostic diag =
        op.emitOpError() << "stands outside a role of four warps that starts "
                            "at a multiple of four";
    if (currentRole) {
      diag.attachNote(currentRole.getLoc())
          << "role '" << currentRole.getName() << "' has "
          << currentRole.getNumWarps() << " warps from warp "
          << currentRole.getFirstWarp();
    }
    return diag;
  }
  int64_t first = currentRole.getFirstWarp();
  Value rank = warp;
  if (first != 0) {
    rank = create<arith::SubIOp>(warp, i32Const(first));
  }
  // 32 lanes a warp, the lane in bits 16-31 of the address.
  Value lanes = create<arith::ShLIOp>(rank, i32Const(16 + 5));
  Value tile =
      create<arith::AddIOp>(tensorStage(acc, mapped(op.getPosition())), lanes);
  SmallVector<Value> addresses;
  SmallVector<int64_t> lengths;
  for (auto [column, value] : llvm::zip(op.getColumns(), op.getValues())) {
    addresses.push_back(create<arith::AddIOp>(tile, mapped(column)));
    lengths.push_back(cast<VectorType>(value.getType()).getDimSize(0));
  }
  SmallVector<Value> loaded = tcgen05::load(b, loc, addresses, lengths);
  map.map(op.getValues(), loaded);
  return success();
}
