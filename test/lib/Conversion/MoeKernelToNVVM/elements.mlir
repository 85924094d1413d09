// RUN: %gmoe-opt %s --moe-kernel-convert-to-nvvm --canonicalize --cse | FileCheck %s

// CHECK-LABEL: llvm.func @access
moe_kernel.func @access(%x: memref<?x512xf32>, %d: memref<?x512xbf16>, %odd: memref<?x6xf32>, %n: i32) warps(1) {
  %row = moe_kernel.index cta : i32
  %t = moe_kernel.index lane : i32
  // Addresses are 64 bits wide.
  // CHECK: arith.extsi %{{.*}} : i32 to i64
  // CHECK: arith.muli %{{.*}}, %c512_i64
  // CHECK: llvm.getelementptr {{.*}} -> !llvm.ptr<1>, i32
  // CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<32xf32>
  %v = moe_kernel.global_load %x[%row, %t] : memref<?x512xf32> -> vector<32xf32>
  %h = arith.truncf %v : vector<32xf32> to vector<32xbf16>
  // CHECK: %[[WORDS:.*]] = llvm.bitcast %{{.*}} : vector<32xbf16> to vector<16xi32>
  // CHECK: llvm.store %[[WORDS]], %{{.*}} {alignment = 16 : i64}
  moe_kernel.global_store %h to %d[%row, %t] : vector<32xbf16>, memref<?x512xbf16>
  // Rows of 24 bytes: no more than 8 is certain.
  // CHECK: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<1> -> vector<4xf32>
  %u = moe_kernel.global_load %odd[%row, %t] : memref<?x6xf32> -> vector<4xf32>
  moe_kernel.global_store %u to %x[%row, %t] : vector<4xf32>, memref<?x512xf32>
  moe_kernel.return
}

// CHECK-LABEL: llvm.func @codes
moe_kernel.func @codes(%x: memref<?x4xf32>, %codes: memref<?x4xf8E5M2>, %scales: memref<?xi8>) warps(1) {
  %t = moe_kernel.index thread : i32
  %c0 = arith.constant 0 : i32
  %v = moe_kernel.global_load %x[%t, %c0] : memref<?x4xf32> -> vector<4xf32>
  // The first operand becomes the high byte.
  // CHECK-DAG: %[[V0:.*]] = vector.extract %[[V:.*]][0]
  // CHECK-DAG: %[[V1:.*]] = vector.extract %[[V]][1]
  // CHECK: nvvm.convert.f32x2.to.f8x2 %[[V1]], %[[V0]] {rnd = #nvvm.fp_rnd_mode<rn>, sat = #nvvm.sat_mode<satfinite>} : i16(f8E5M2)
  // CHECK: vector.from_elements %{{.*}} : vector<2xi16>
  // CHECK: llvm.bitcast %{{.*}} : vector<2xi16> to vector<4xi8>
  %c = moe_kernel.encode %v to f8E5M2 : vector<4xf32> -> vector<4xi8>
  moe_kernel.global_store %c to %codes[%t, %c0] : vector<4xi8>, memref<?x4xf8E5M2>
  // CHECK: nvvm.convert.f8x2.to.f16x2 %{{.*}} : vector<2xi8>{{ ?}}(f8E5M2) -> vector<2xf16>
  // CHECK: arith.extf
  %d = moe_kernel.decode %c from f8E5M2 : vector<4xi8> -> vector<4xf32>
  moe_kernel.global_store %d to %x[%t, %c0] : vector<4xf32>, memref<?x4xf32>
  %s = vector.reduction <maximumf>, %d : vector<4xf32> into f32
  // CHECK: nvvm.convert.f32x2.to.f8x2 %{{.*}} {rnd = #nvvm.fp_rnd_mode<rp>} : i16(f8E8M0FNU)
  %e = moe_kernel.encode_scale %s : f32 -> i8
  moe_kernel.global_store %e to %scales[%t] : i8, memref<?xi8>
  moe_kernel.return
}

// Two elements a byte: indices count elements, addresses bytes.
// CHECK-LABEL: llvm.func @packed
moe_kernel.func @packed(%q: memref<?x64xf4E2M1FN>, %y: memref<?x64xf32>, %n: i32) warps(1) {
  %row = moe_kernel.index cta : i32
  // CHECK: %[[ROW:.*]] = arith.muli %{{.*}}, %c64_i64
  // CHECK: %[[AT:.*]] = arith.addi %[[ROW]]
  // CHECK: %[[BYTE:.*]] = arith.shrui %[[AT]], %c1_i64
  // CHECK: llvm.getelementptr %{{.*}}[%[[BYTE]]] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
  // CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
  %c = moe_kernel.global_load %q[%row, %n] : memref<?x64xf4E2M1FN> -> vector<16xi8>
  // CHECK-COUNT-16: nvvm.convert.f4x2.to.f16x2 %{{.*}} : i8{{ ?}}(f4E2M1FN) -> vector<2xf16>
  %v = moe_kernel.decode %c from f4E2M1FN : vector<16xi8> -> vector<32xf32>
  moe_kernel.global_store %v to %y[%row, %n] : vector<32xf32>, memref<?x64xf32>
  // CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 16 : i64} : vector<4xi32>
  moe_kernel.global_store %c to %q[%row, %n] : vector<16xi8>, memref<?x64xf4E2M1FN>
  moe_kernel.return
}
