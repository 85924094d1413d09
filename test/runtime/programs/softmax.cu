// Softmax of each row: one CTA a row, maximum and sum by shuffles.
constexpr int kThreads = 128;

template <class Combine> __device__ float allReduce(float v, float *scratch, Combine combine) {
  for (int step = 16; step > 0; step /= 2) {
    v = combine(v, __shfl_xor_sync(0xffffffffu, v, step));
  }
  if (threadIdx.x % 32 == 0) {
    scratch[threadIdx.x / 32] = v;
  }
  __syncthreads();
  v = scratch[0];
  for (int k = 1; k < kThreads / 32; ++k) {
    v = combine(v, scratch[k]);
  }
  __syncthreads();
  return v;
}

extern "C" __global__ void __launch_bounds__(kThreads)
    softmax(const float *in, float *out, int columns) {
  __shared__ float scratch[kThreads / 32];
  const float *row = in + blockIdx.x * columns;
  float largest = -__int_as_float(0x7f800000);
  for (int k = threadIdx.x; k < columns; k += kThreads) {
    largest = fmaxf(largest, row[k]);
  }
  largest = allReduce(largest, scratch, [](float a, float b) { return fmaxf(a, b); });
  float total = 0;
  for (int k = threadIdx.x; k < columns; k += kThreads) {
    total += expf(row[k] - largest);
  }
  total = allReduce(total, scratch, [](float a, float b) { return a + b; });
  for (int k = threadIdx.x; k < columns; k += kThreads) {
    out[blockIdx.x * columns + k] = expf(row[k] - largest) / total;
  }
}
