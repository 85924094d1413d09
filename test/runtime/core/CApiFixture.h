/* What the C test cannot make itself: a fake device and a bundle's bytes. */
#ifndef GMOE_TEST_RUNTIME_CORE_CAPIFIXTURE_H
#define GMOE_TEST_RUNTIME_CORE_CAPIFIXTURE_H

#include "runtime/core/grouped_moe.h"

#ifdef __cplusplus
extern "C" {
#endif

gmoe_device *makeFakeDevice(void);
const void *makeBundle(size_t *size);

#ifdef __cplusplus
}
#endif

#endif /* GMOE_TEST_RUNTIME_CORE_CAPIFIXTURE_H */
