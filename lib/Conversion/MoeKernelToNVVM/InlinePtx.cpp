#include "lib/Conversion/MoeKernelToNVVM/InlinePtx.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace grouped_moe;

static LLVM::InlineAsmOp emit(OpBuilder &b, Location loc, TypeRange results,
                              ValueRange operands, StringRef text,
                              StringRef constraints) {
  return LLVM::InlineAsmOp::create(
      b, loc, results, operands, text, constraints, /*has_side_effects=*/true,
      /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
      LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT),
      /*operand_attrs=*/ArrayAttr());
}

SmallVector<Value> inline_ptx::waitForLoads(OpBuilder &b, Location loc,
                                            ValueRange registers) {
  size_t n = registers.size();
  Type i32 = b.getI32Type();
  std::string constraints;
  for (size_t i = 0; i < n; ++i) {
    constraints += "=r,";
  }
  for (size_t i = 0; i < n; ++i) {
    constraints += std::to_string(i) + ",";
  }
  constraints += "~{memory}";
  Type result = n == 1 ? i32
                       : LLVM::LLVMStructType::getLiteral(
                             b.getContext(), SmallVector<Type>(n, i32));
  Value waited = emit(b, loc, result, registers,
                      "tcgen05.wait::ld.sync.aligned;", constraints)
                     .getRes();
  if (n == 1) {
    return {waited};
  }
  SmallVector<Value> elements;
  for (size_t i = 0; i < n; ++i) {
    elements.push_back(LLVM::ExtractValueOp::create(b, loc, waited, i));
  }
  return elements;
}

Value inline_ptx::atomicIncAcqRel(OpBuilder &b, Location loc, Value address,
                                  Value bound) {
  return emit(b, loc, b.getI32Type(), {address, bound},
              "atom.acq_rel.gpu.global.inc.u32 $0, [$1], $2;",
              "=r,l,r,~{memory}")
      .getRes();
}

void inline_ptx::reduceMaxU32(OpBuilder &b, Location loc, Value address,
                              Value bits) {
  emit(b, loc, TypeRange(), {address, bits},
       "red.relaxed.gpu.global.max.u32 [$0], $1;", "l,r,~{memory}");
}

void inline_ptx::reduceAddF32(OpBuilder &b, Location loc, Value address,
                              Value value) {
  emit(b, loc, TypeRange(), {address, value},
       "red.relaxed.gpu.global.add.f32 [$0], $1;", "l,f,~{memory}");
}
