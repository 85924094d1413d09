// RUN: %gmoe-opt %s --moe-kernel-convert-to-nvvm --canonicalize --cse | FileCheck %s

// CHECK: llvm.func @padded(%[[X:[a-z0-9]+]]: !llvm.ptr<1> {{.*}}, %[[ROW:[a-z0-9]+]]: i32, %[[COLUMN:[a-z0-9]+]]: i32)
moe_kernel.func @padded(%x: memref<?x512xbf16, strided<[576, 1]>>, %row: i32, %column: i32) warps(1) {
  // CHECK: %[[WIDE:.*]] = arith.extsi %[[ROW]]
  // CHECK: %[[FIRST:.*]] = arith.muli %[[WIDE]], %c576_i64
  // CHECK: %[[INNER:.*]] = arith.extsi %[[COLUMN]]
  // CHECK: %[[AT:.*]] = arith.addi %[[FIRST]], %[[INNER]]
  // CHECK: %[[ADDRESS:.*]] = llvm.getelementptr %[[X]][%[[AT]]]
  // CHECK: llvm.load %[[ADDRESS]] {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
  %v = moe_kernel.global_load %x[%row, %column] : memref<?x512xbf16, strided<[576, 1]>> -> vector<8xbf16>
  moe_kernel.global_store %v to %x[%row, %column] : vector<8xbf16>, memref<?x512xbf16, strided<[576, 1]>>
  moe_kernel.return
}
