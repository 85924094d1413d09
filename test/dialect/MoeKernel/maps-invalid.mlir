// RUN: %gmoe-opt %s -split-input-file -verify-diagnostics

!map = !moe_kernel.tensor_map<128x128xi8, swizzle = 128>
!other = !moe_kernel.tensor_map<64x128xi8, swizzle = 128>

moe_kernel.func @other_type(%source: !map, %maps: memref<4x!other>, %i: i32) warps(1) {
  // expected-error @below {{the map is of type '!moe_kernel.tensor_map<128x128xi8, swizzle = 128>', expected '!moe_kernel.tensor_map<64x128xi8, swizzle = 128>' as the elements of maps}}
  moe_kernel.build_map %source to %maps[%i] : !map, memref<4x!other>
  moe_kernel.return
}

// -----

!map = !moe_kernel.tensor_map<128x128xi8, swizzle = 128>

moe_kernel.func @axis(%source: !map, %maps: memref<4x!map>, %i: i32) warps(1) {
  // expected-error @below {{replaces extents of axes [2] by 1 values, expected one for each, of different axes below 2}}
  moe_kernel.build_map %source to %maps[%i] extents [2] = %i : !map, memref<4x!map>
  moe_kernel.return
}

// -----

!map = !moe_kernel.tensor_map<128x128xi8, swizzle = 128>

moe_kernel.func @twice(%source: !map, %maps: memref<4x!map>, %i: i32) warps(1) {
  // expected-error @below {{replaces extents of axes [1, 1] by 2 values, expected one for each, of different axes below 2}}
  moe_kernel.build_map %source to %maps[%i] extents [1, 1] = %i, %i : !map, memref<4x!map>
  moe_kernel.return
}

// -----

!map = !moe_kernel.tensor_map<128x128xi8, swizzle = 128>

moe_kernel.func @of_element(%maps: memref<4x!map>, %i: i32) warps(1) {
  %map = moe_kernel.map_element %maps[%i] : memref<4x!map> -> !map
  // expected-error @below {{source is not a parameter of the kernel: maps in memory are read by copies only}}
  moe_kernel.build_map %map to %maps[%i] : !map, memref<4x!map>
  moe_kernel.return
}

// -----

!map = !moe_kernel.tensor_map<128x128xi8, swizzle = 128>

moe_kernel.func @parameter(%map: !map) warps(1) {
  // expected-error @below {{the map is no element of an array: parameters need no acquire}}
  moe_kernel.acquire_map %map : !map
  moe_kernel.return
}
