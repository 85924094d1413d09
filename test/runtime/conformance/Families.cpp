#include "test/runtime/conformance/Families.h"

namespace gmoe::conformance {

const std::vector<FamilyEntry> &allFamilies() {
  static const std::vector<FamilyEntry> kFamilies = {
      {"integer", integerFamily},
      {"bits", bitsFamily},
      {"float", floatFamily},
      {"double", doubleFamily},
      {"half", halfFamily},
      {"compare", compareFamily},
      {"set", setFamily},
      {"convertInteger", convertIntegerFamily},
      {"convertFloat", convertFloatFamily},
      {"convertPacked", convertPackedFamily},
      {"approximate", approximateFamily},
      {"blackwell", blackwellFamily},
      {"warp", warpFamily},
      {"control", controlFamily},
      {"memory", memoryFamily},
      {"atomic", atomicFamily},
      {"barrier", barrierFamily},
      {"mbarrier", mbarrierFamily},
      {"copy", copyFamily},
      {"tensorLoad", tensorLoadFamily},
      {"tensorStore", tensorStoreFamily},
      {"matrix", matrixFamily},
      {"wgmma", wgmmaFamily},
  };
  return kFamilies;
}

} // namespace gmoe::conformance
