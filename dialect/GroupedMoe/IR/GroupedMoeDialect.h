// The grouped_moe dialect, its enumerations and attributes.
#ifndef DIALECT_GROUPEDMOE_IR_GROUPEDMOEDIALECT_H
#define DIALECT_GROUPEDMOE_IR_GROUPEDMOEDIALECT_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Dialect.h"

#include "dialect/GroupedMoe/IR/GroupedMoeDialect.h.inc"
#include "dialect/GroupedMoe/IR/GroupedMoeEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialect/GroupedMoe/IR/GroupedMoeAttrs.h.inc"

#endif // DIALECT_GROUPEDMOE_IR_GROUPEDMOEDIALECT_H
