// RUN: %gmoe-opt %s --moe-kernel-convert-to-nvvm | FileCheck %s

// CHECK: llvm.func @tiles(%[[OFFS:.*]]: !llvm.ptr<1> {llvm.align = 16 : i64}, %{{.*}}: !llvm.ptr<1>
moe_kernel.func @tiles(%offsets: memref<4xi32>, %out: memref<?xi32>) warps(1) {
  %c0 = arith.constant 0 : i32
  // CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> i32
  // CHECK: %[[CTA:.*]] = nvvm.read.ptx.sreg.ctaid.x
  // CHECK: %[[CTAS:.*]] = nvvm.read.ptx.sreg.nctaid.x
  // The outer loop's state: tile, group, tiles before it, first row, end, atoms before it, carried.
  // CHECK: scf.while (%[[T:[a-z0-9]+]] = %[[CTA]], %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) : (i32, i32, i32, i32, i32, i32, i32)
  // The inner one moves to the group of the tile; no group, no tile.
  // CHECK:   %[[CURSOR:.*]]:5 = scf.while
  // A group that ends before it begins has no tiles.
  // CHECK:     %[[ROWS:.*]] = arith.subi %[[END:.*]], %[[BEGIN:.*]] : i32
  // CHECK:     %[[SOME:.*]] = arith.cmpi sgt, %[[ROWS]], %{{.*}} : i32
  // CHECK:     arith.divui
  // CHECK:     arith.select %[[SOME]]
  // CHECK:     arith.cmpi sge, %[[T]]
  // CHECK:     scf.condition
  // CHECK:   } do {
  // CHECK:     arith.divui %{{.*}}, %[[TILE_ROWS:.*]] : i32
  // CHECK:     arith.minui
  // Atoms of the passed group: rounded up.
  // CHECK:     arith.divui %{{.*}}, %[[ATOM_ROWS:.*]] : i32
  // CHECK:     llvm.load
  // CHECK:     scf.yield
  // CHECK:   scf.condition
  // CHECK: } do {
  // CHECK: ^bb0(%[[TILE:.*]]: i32, %[[GROUP:.*]]: i32, %[[BASE:.*]]: i32, %[[ROW0:.*]]: i32, %[[GROUP_END:.*]]: i32, %[[ATOMS:.*]]: i32, %[[CARRY:.*]]: i32):
  // CHECK:   %[[LOCAL:.*]] = arith.subi %[[TILE]], %[[BASE]]
  // CHECK:   %[[R:.*]] = arith.divui %[[LOCAL]], %[[TILES_N:.*]] : i32
  // CHECK:   %[[C:.*]] = arith.remui %[[LOCAL]], %[[TILES_N]]
  // CHECK:   %[[ROFF:.*]] = arith.muli %[[R]], %{{.*}}
  // CHECK:   %[[ROW:.*]] = arith.addi %[[ROW0]], %[[ROFF]]
  // CHECK:   %[[COLUMN:.*]] = arith.muli %[[C]], %{{.*}}
  // CHECK:   llvm.store %[[COLUMN]]
  // CHECK:   llvm.store %[[ROW0]]
  // CHECK:   llvm.store %[[GROUP_END]]
  // CHECK:   llvm.store %[[ATOMS]]
  // CHECK:   %[[NEXT:.*]] = arith.addi %[[TILE]], %[[CTAS]]
  // CHECK:   scf.yield %[[NEXT]], %[[GROUP]], %[[BASE]], %[[ROW0]], %[[GROUP_END]], %[[ATOMS]]
  %0 = moe_kernel.for_tiles offsets(%offsets : memref<4xi32>) tile = [128, 256] n = 600 carry(%c0) {
  ^bb0(%group: i32, %row: i32, %column: i32, %begin: i32, %end: i32, %atoms: i32, %count: i32):
    moe_kernel.global_store %column to %out[%row] : i32, memref<?xi32>
    moe_kernel.global_store %begin to %out[%row] : i32, memref<?xi32>
    moe_kernel.global_store %end to %out[%row] : i32, memref<?xi32>
    moe_kernel.global_store %atoms to %out[%row] : i32, memref<?xi32>
    %c1 = arith.constant 1 : i32
    %next = arith.addi %count, %c1 : i32
    moe_kernel.yield %next : i32
  } : i32
  // CHECK: llvm.return
  moe_kernel.return
}
