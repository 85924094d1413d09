// The moe_kernel dialect: how one kernel computes it.
#ifndef MOE_KERNEL_DIALECT_TD
#define MOE_KERNEL_DIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def MoeKernel_Dialect : Dialect {
  let name = "moe_kernel";
  let summary = "Warp-specialised kernels: roles, pipelines, buffers, accumulators";
  let description = [{
    A kernel is a `moe_kernel.func`: buffers and pipelines at the top, then roles, each a group of warps with its own
    program. Roles meet only at pipelines. A pipeline is a ring of stages; a stage is filled by its producer and emptied
    by its consumers, each guarded by one barrier (full, empty). A ring position is an i32 that names a stage and its
    phase: it starts at constant 0 and moves by `moe_kernel.advance`.

    The CTAs of a cluster stand in a rectangle along M and N, those along M are neighbours in rank. In a `paired` kernel CTAs
    2 i and 2 i + 1 along M multiply together: the even one, the leader, issues their matrix work, whose B comes half and
    half from both. Each has the accumulators of its own rows.

    The host side is `make_tensor_map`, `sm_count`, `fill_zero` and `launch`; a function that holds them is a launch
    program.
  }];
  let cppNamespace = "::moe_kernel";
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
}

class MoeKernel_Enum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::moe_kernel";
  let genSpecializedAttr = 0;
}

def MoeKernel_BufferSpace : MoeKernel_Enum<"BufferSpace", "where a buffer lives", [
  I32EnumAttrCase<"shared", 0>, I32EnumAttrCase<"tensor", 1>]>;
def MoeKernel_IndexKind : MoeKernel_Enum<"IndexKind", "what an index counts", [
  I32EnumAttrCase<"thread", 0>, I32EnumAttrCase<"warp", 1>, I32EnumAttrCase<"lane", 2>,
  I32EnumAttrCase<"cta", 3>, I32EnumAttrCase<"ctas", 4>,
  I32EnumAttrCase<"cluster_m", 5>, I32EnumAttrCase<"cluster_n", 6>]>;
def MoeKernel_ClusterAxis : MoeKernel_Enum<"ClusterAxis", "a direction in a cluster: that of a product's rows or columns", [
  I32EnumAttrCase<"m", 0>, I32EnumAttrCase<"n", 1>]>;
def MoeKernel_StageSide : MoeKernel_Enum<"StageSide", "which barrier of a stage", [
  I32EnumAttrCase<"full", 0>, I32EnumAttrCase<"empty", 1>]>;

def MoeKernel_Raster : MoeKernel_Enum<"Raster", "in which order the tiles of a group are taken", [
  I32EnumAttrCase<"row", 0>, I32EnumAttrCase<"short_side", 1>]>;

def MoeKernel_RasterAttr : EnumAttr<MoeKernel_Dialect, MoeKernel_Raster, "raster">;
def MoeKernel_IndexKindAttr : EnumAttr<MoeKernel_Dialect, MoeKernel_IndexKind, "kind">;
def MoeKernel_ClusterAxisAttr : EnumAttr<MoeKernel_Dialect, MoeKernel_ClusterAxis, "axis">;
def MoeKernel_StageSideAttr : EnumAttr<MoeKernel_Dialect, MoeKernel_StageSide, "side">;

class MoeKernel_Type<string name, string mnem, list<Trait> traits = []> : TypeDef<MoeKernel_Dialect, name, traits> {
  let mnemonic = mnem;
}

def MoeKernel_BufferType : MoeKernel_Type<"Buffer", "buffer"> {
  let summary = "a ring of tiles on chip";
  let description = [{
    `shape` is stages, then the tile. In `shared` memory a tile of an MMA operand is rows x bytes of K with a 128-byte
    swizzle; a tile of scales is whole 512-byte atoms. In `tensor` memory an accumulator is 128 lanes x columns of f32;
    scales are atoms of 4 columns each, `stages x atoms x 512 x i8`. A staging buffer of stores is `slots x rows x columns`
    in `shared` memory, a row for each thread of a role.

    ```mlir
    !moe_kernel.buffer<shared, 5x128x128xf8E4M3FN>
    ```
  }];
  let parameters = (ins EnumParameter<MoeKernel_BufferSpace>:$space, ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getStages() const { return getShape().front(); }
    /// Bytes of one stage.
    int64_t getStageBytes() const;
    /// Bytes of one row: the innermost extent.
    int64_t getRowBytes() const;
    /// Tensor memory: 32-bit columns of one stage (128 lanes). Scales are replicated to the four groups of 32 lanes.
    int64_t getStageColumns() const { return getStageBytes() / (getElementType().isF32() ? 512 : 128); }
  }];
}

def MoeKernel_PipelineType : MoeKernel_Type<"Pipeline", "pipeline"> {
  let summary = "a ring of stages with a full and an empty barrier each";
  let parameters = (ins "int64_t":$stages);
  let assemblyFormat = "`<` $stages `>`";
}

def MoeKernel_TensorMapType : MoeKernel_Type<"TensorMap", "tensor_map", [MemRefElementTypeInterface]> {
  let summary = "a tiled view of a global tensor for the bulk copy engine";
  let description = [{
    `box` is the tile that one load or store moves, slowest dimension first; `swizzle` is 0, 32, 64 or 128 bytes. A map is a
    parameter of the kernel, or an element of an array in global memory that another kernel built.

    ```mlir
    !moe_kernel.tensor_map<1x128x128xi8, swizzle = 128>
    memref<4x!moe_kernel.tensor_map<128x128xi8, swizzle = 128>>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$box, "::mlir::Type":$elementType, "int64_t":$swizzle);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getBoxBytes() const;
    /// Bytes of a map, and their alignment (cuda.h, CUtensorMap).
    static constexpr int64_t kBytes = 128, kAlignment = 64;
  }];
}

#endif // MOE_KERNEL_DIALECT_TD
