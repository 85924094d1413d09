// out = transpose(in) through padded shared tiles; rows and columns may end
// inside a tile.
extern "C" __global__ void __launch_bounds__(256)
    transpose(const float *in, float *out, int rows, int columns) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32;
  for (int k = threadIdx.y; k < 32; k += 8) {
    if (x < columns && y + k < rows) {
      tile[k][threadIdx.x] = in[(y + k) * columns + x];
    }
  }
  __syncthreads();
  x = y + threadIdx.x;
  y = blockIdx.x * 32;
  for (int k = threadIdx.y; k < 32; k += 8) {
    if (x < rows && y + k < columns) {
      out[(y + k) * rows + x] = tile[threadIdx.x][k];
    }
  }
}
