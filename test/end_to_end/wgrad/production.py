"""Both weight gradients of D 2048, F 1408, eight experts of 256 rows: 24 and 12 GFLOP, bit for bit the value in float64."""
from matrices import exact
from wgrad import BF16

D, F, SIZES = 2048, 1408, [256] * 8

for i, (n, k) in enumerate(((2 * F, D), (D, F))):
    exact(SIZES, n, k, (BF16,), aligned=256, seed=i).check(devices=("emulator",))
    # Operands as quantization down columns leaves them, and as a transposing one does.
    exact(SIZES, n, k, (BF16,), aligned=256, seed=i, majors=(True, True)).check(devices=("emulator",))
