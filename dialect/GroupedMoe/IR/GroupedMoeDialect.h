// The grouped_moe dialect, its enumerations and attributes.
#ifndef DIALECT_GROUPEDMOE_IR_GROUPEDMOEDIALECT_H
#define DIALECT_GROUPEDMOE_IR_GROUPEDMOEDIALECT_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Dialect.h"

#include "dialect/GroupedMoe/IR/GroupedMoeDialect.h.inc"
#include "dialect/GroupedMoe/IR/GroupedMoeEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialect/GroupedMoe/IR/GroupedMoeAttrs.h.inc"

namespace grouped_moe {
/// Whether offsets, of 32 bits, can hold so many rows.
bool isRowCount(int64_t rows);
} // namespace grouped_moe

#endif // DIALECT_GROUPEDMOE_IR_GROUPEDMOEDIALECT_H
