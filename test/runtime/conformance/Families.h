// The families of cases, by file.
#ifndef GMOE_TEST_RUNTIME_CONFORMANCE_FAMILIES_H
#define GMOE_TEST_RUNTIME_CONFORMANCE_FAMILIES_H

#include "test/runtime/conformance/Elementwise.h"

namespace gmoe::conformance {

Family integerFamily();
Family bitsFamily();
Family floatFamily();
Family doubleFamily();
Family halfFamily();
Family compareFamily();
Family setFamily();
Family convertIntegerFamily();
Family convertFloatFamily();
Family convertPackedFamily();
Family approximateFamily();
Family blackwellFamily();
Family warpFamily();
Family controlFamily();
Family memoryFamily();
Family atomicFamily();
Family barrierFamily();
Family mbarrierFamily();
Family copyFamily();
Family tensorLoadFamily();
Family tensorStoreFamily();
Family matrixFamily();
Family wgmmaFamily();

} // namespace gmoe::conformance

#endif // GMOE_TEST_RUNTIME_CONFORMANCE_FAMILIES_H
