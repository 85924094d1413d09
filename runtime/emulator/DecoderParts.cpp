// The mnemonic's parts: types, qualifiers, and which family decodes what.
#include "runtime/emulator/Decoder.h"

namespace gmoe::emulator {

Type parseType(std::string_view text) {
  static const std::unordered_map<std::string_view, Type> kTypes = {
      {"pred", Type::Pred},     {"b8", Type::B8},
      {"b16", Type::B16},       {"b32", Type::B32},
      {"b64", Type::B64},       {"b128", Type::B128},
      {"u8", Type::U8},         {"u16", Type::U16},
      {"u32", Type::U32},       {"u64", Type::U64},
      {"s8", Type::S8},         {"s16", Type::S16},
      {"s32", Type::S32},       {"s64", Type::S64},
      {"f16", Type::F16},       {"f16x2", Type::F16x2},
      {"bf16", Type::BF16},     {"bf16x2", Type::BF16x2},
      {"f32", Type::F32},       {"f32x2", Type::F32x2},
      {"f64", Type::F64},       {"tf32", Type::TF32},
      {"e4m3x2", Type::E4M3x2}, {"e5m2x2", Type::E5M2x2},
      {"e2m1x2", Type::E2M1x2}, {"e2m3x2", Type::E2M3x2},
      {"e3m2x2", Type::E3M2x2}, {"ue8m0x2", Type::UE8M0x2}};
  auto it = kTypes.find(text);
  return it == kTypes.end() ? Type::None : it->second;
}

unsigned typeBytes(Type type) {
  switch (type) {
  case Type::None:
    return 0;
  case Type::B8:
  case Type::U8:
  case Type::S8:
  case Type::E2M1x2:
    return 1;
  case Type::B16:
  case Type::U16:
  case Type::S16:
  case Type::F16:
  case Type::BF16:
  case Type::E4M3x2:
  case Type::E5M2x2:
  case Type::E2M3x2:
  case Type::E3M2x2:
  case Type::UE8M0x2:
    return 2;
  case Type::B64:
  case Type::U64:
  case Type::S64:
  case Type::F64:
  case Type::F32x2:
    return 8;
  case Type::B128:
    return 16;
  default:
    return 4;
  }
}

bool isSigned(Type t) {
  return t == Type::S8 || t == Type::S16 || t == Type::S32 || t == Type::S64;
}
bool isFloat(Type t) {
  return t == Type::F16 || t == Type::BF16 || t == Type::F32 || t == Type::F64;
}

const std::string &Decoder::part(size_t k) const {
  static const std::string kNone;
  return k < parts_.size() ? parts_[k] : kNone;
}

bool Decoder::take(std::string_view name) {
  for (size_t k = 1; k < parts_.size(); ++k) {
    if (!taken_[k] && parts_[k] == name) {
      taken_[k] = true;
      return true;
    }
  }
  return false;
}

int Decoder::takeOneOf(std::initializer_list<std::string_view> names) {
  int index = 0;
  for (std::string_view name : names) {
    if (take(name)) {
      return index;
    }
    ++index;
  }
  return -1;
}

Type Decoder::takeType() {
  for (size_t k = 1; k < parts_.size(); ++k) {
    Type type = parseType(parts_[k]);
    if (!taken_[k] && type != Type::None) {
      taken_[k] = true;
      return type;
    }
  }
  return Type::None;
}

void Decoder::takeMemoryQualifiers() {
  for (size_t k = 1; k < parts_.size(); ++k) {
    const std::string &p = parts_[k];
    if (p == "volatile" || p == "relaxed" || p == "acquire" || p == "release" ||
        p == "acq_rel" || p == "sc" || p == "weak" || p == "mmio" ||
        p == "cta" || p == "cluster" || p == "gpu" || p == "sys" || p == "ca" ||
        p == "cg" || p == "cs" || p == "lu" || p == "cv" || p == "wb" ||
        p == "wt" || p == "nc" || p == "unified" || p.rfind("L1::", 0) == 0 ||
        p.rfind("L2::", 0) == 0 || p.rfind("level::", 0) == 0) {
      taken_[k] = true;
    }
    Instruction &i = instruction_;
    i.order = p == "volatile" || p == "relaxed" || p == "mmio" ? Order::Relaxed
              : p == "acquire"                                 ? Order::Acquire
              : p == "release"                                 ? Order::Release
              : p == "acq_rel"                                 ? Order::AcqRel
              : p == "sc"                                      ? Order::Sc
                                                               : i.order;
    i.scope = p == "cta"       ? MemoryScope::Cta
              : p == "cluster" ? MemoryScope::Cluster
              : p == "gpu"     ? MemoryScope::Gpu
              : p == "sys"     ? MemoryScope::Sys
                               : i.scope;
  }
}

StateSpace Decoder::takeSpace(StateSpace otherwise) {
  if (take("global")) {
    return StateSpace::Global;
  }
  if (take("shared") || take("shared::cta")) {
    return StateSpace::Shared;
  }
  if (take("shared::cluster")) {
    return StateSpace::SharedCluster;
  }
  if (take("const")) {
    return StateSpace::Const;
  }
  if (take("local")) {
    return StateSpace::Local;
  }
  if (take("param") || take("param::entry") || take("param::func")) {
    return StateSpace::Param;
  }
  return otherwise;
}

bool Decoder::decode() {
  static const std::unordered_map<std::string_view, Family> kFamilies = {
      {"add", decodeArithmetic},
      {"sub", decodeArithmetic},
      {"mul", decodeArithmetic},
      {"mad", decodeArithmetic},
      {"fma", decodeArithmetic},
      {"div", decodeArithmetic},
      {"min", decodeArithmetic},
      {"max", decodeArithmetic},
      {"abs", decodeArithmetic},
      {"neg", decodeArithmetic},
      {"rem", decodeInteger},
      {"sad", decodeInteger},
      {"popc", decodeInteger},
      {"clz", decodeInteger},
      {"bfind", decodeInteger},
      {"brev", decodeInteger},
      {"bfe", decodeInteger},
      {"bfi", decodeInteger},
      {"and", decodeInteger},
      {"or", decodeInteger},
      {"xor", decodeInteger},
      {"not", decodeInteger},
      {"cnot", decodeInteger},
      {"shl", decodeInteger},
      {"shr", decodeInteger},
      {"shf", decodeInteger},
      {"lop3", decodeInteger},
      {"prmt", decodeInteger},
      {"rcp", decodeFloat},
      {"sqrt", decodeFloat},
      {"rsqrt", decodeFloat},
      {"ex2", decodeFloat},
      {"lg2", decodeFloat},
      {"sin", decodeFloat},
      {"cos", decodeFloat},
      {"tanh", decodeFloat},
      {"copysign", decodeFloat},
      {"testp", decodeFloat},
      {"setp", decodeCompare},
      {"set", decodeCompare},
      {"selp", decodeCompare},
      {"slct", decodeCompare},
      {"cvt", decodeConvert},
      {"mov", decodeMove},
      {"cvta", decodeMove},
      {"mapa", decodeMove},
      {"getctarank", decodeMove},
      {"isspacep", decodeMove},
      {"ld", decodeMemory},
      {"ldu", decodeMemory},
      {"st", decodeMemory},
      {"prefetch", decodeMemory},
      {"prefetchu", decodeMemory},
      {"createpolicy", decodePolicy},
      {"applypriority", decodeMemory},
      {"discard", decodeMemory},
      {"atom", decodeAtomic},
      {"red", decodeAtomic},
      {"bar", decodeBarrier},
      {"barrier", decodeBarrier},
      {"mbarrier", decodeMbarrier},
      {"shfl", decodeWarp},
      {"vote", decodeWarp},
      {"match", decodeWarp},
      {"activemask", decodeWarp},
      {"redux", decodeWarp},
      {"elect", decodeWarp},
      {"membar", decodeFence},
      {"fence", decodeFence},
      {"nanosleep", decodeMisc},
      {"trap", decodeMisc},
      {"brkpt", decodeMisc},
      {"setmaxnreg", decodeRegisterBudget},
      {"griddepcontrol", decodeMisc},
      {"pmevent", decodeMisc},
      {"cp", decodeBulk},
      {"tensormap", decodeBulk},
      {"clusterlaunchcontrol", decodeBulk},
      {"tcgen05", decodeTensorCore},
      {"wgmma", decodeWgmma},
      {"mma", decodeMmaSync},
      {"movmatrix", decodeMatrix},
      {"ldmatrix", decodeMatrix},
      {"stmatrix", decodeMatrix}};
  if (isExtendedInteger(*this)) {
    return decodeExtendedInteger(*this);
  }
  if (isAsyncStore(*this)) {
    return decodeAsyncStore(*this);
  }
  if (isThreadCopy(*this)) {
    return decodeThreadCopy(*this);
  }
  if (parts_[0] == "atom" && parts_.back() == "b128") {
    return decodeAtomic128(*this);
  }
  auto it = kFamilies.find(parts_[0]);
  return it != kFamilies.end() && it->second(*this);
}

} // namespace gmoe::emulator
