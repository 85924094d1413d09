"""quantize -> gemm_swiglu with FP4 down columns -> wgrad, one function on tensors: what is quantized down columns goes into the
gradient as it is stored. The kernels against the reference executor, the gradient also against NumPy."""
import os
import subprocess
import tempfile

import numpy as np
from equations import F32
from named import scales_of
from quantizers import E2M1, E4M3

K, F, D = 64, 64, 96
FORMS = {"MXFP4": ("f8E8M0FNU", 32, "rceil", "rceil"), "NVFP4": ("f8E4M3FN", 16, "nearest", "nearest"),
         "FP4 e8m0 16": ("f8E8M0FNU", 16, "rceil", "rceil_block16")}
PROGRAM = """
func.func @step(%x: tensor<?x{K}xf32>, %dy: tensor<?x{D}xf32>, %w: tensor<{L}x{N}x{K}xf4E2M1FN>, %sw: tensor<{L}x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<{L}xi32>, %second: tensor<1xf32>) -> (tensor<{F}x?xf4E2M1FN>, tensor<?x32x4x4x{S}>, tensor<{D}x?xf4E2M1FN>, tensor<?x32x4x4x{S}>,
      tensor<{L}x{D}x{F}xf32>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %span = arith.constant {span} : index
  %c128 = arith.constant 128 : index
  %r = tensor.dim %x, %c0 : tensor<?x{K}xf32>
  %a128 = arith.ceildivui %r, %c128 : index
  %atoms = arith.ceildivui %r, %span : index
  %q0 = tensor.empty(%r) : tensor<?x{K}xf4E2M1FN>
  %sq0 = tensor.empty(%a128) : tensor<?x1x32x4x4xf8E8M0FNU>
  %q, %sq = grouped_moe.quantize ins(%x : tensor<?x{K}xf32>) outs(%q0, %sq0 : tensor<?x{K}xf4E2M1FN>, tensor<?x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil -> tensor<?x{K}xf4E2M1FN>, tensor<?x1x32x4x4xf8E8M0FNU>
  %g0 = tensor.empty(%r) : tensor<{D}x?xf4E2M1FN>
  %sg0 = tensor.empty(%atoms) : tensor<?x32x4x4x{S}>
  %g, %sg = grouped_moe.quantize ins(%dy : tensor<?x{D}xf32>) offsets(%o : tensor<{L}xi32>)
      outs(%g0, %sg0 : tensor<{D}x?xf4E2M1FN>, tensor<?x32x4x4x{S}>) layout <column, per_group, block = {B}> rounding {rounding}
      {{m_aligned = 128 : i64}} -> tensor<{D}x?xf4E2M1FN>, tensor<?x32x4x4x{S}>
  %h0 = tensor.empty(%r) : tensor<{F}x?xf4E2M1FN>
  %sh0 = tensor.empty(%atoms) : tensor<?x32x4x4x{S}>
  %h, %sh = grouped_moe.gemm_swiglu
      lhs(%q : tensor<?x{K}xf4E2M1FN> scales %sq : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%w : tensor<{L}x{N}x{K}xf4E2M1FN> scales %sw : tensor<{L}x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<{L}xi32>) ins(%second : tensor<1xf32> as alpha)
      outs(%h0 : tensor<{F}x?xf4E2M1FN> as quantized, %sh0 : tensor<?x32x4x4x{S}> as column_group_scales_{kind})
      attributes {{m_aligned = 128 : i64}} -> tensor<{F}x?xf4E2M1FN>, tensor<?x32x4x4x{S}>
  %dw0 = tensor.empty() : tensor<{L}x{D}x{F}xf32>
  %dw = grouped_moe.wgrad
      lhs(%g : tensor<{D}x?xf4E2M1FN> scales %sg : tensor<?x32x4x4x{S}> layout <column, per_group, block = {B}>)
      rhs(%h : tensor<{F}x?xf4E2M1FN> scales %sh : tensor<?x32x4x4x{S}> layout <column, per_group, block = {B}>)
      offsets(%o : tensor<{L}xi32>) ins(%second : tensor<1xf32> as per_group) outs(%dw0 : tensor<{L}x{D}x{F}xf32>)
      attributes {{m_aligned = 128 : i64, lhs_transposed, rhs_transposed}} epilogue {{
  ^bb0(%acc: f32, %s: f32):
    %y = arith.mulf %acc, %s : f32
    grouped_moe.yield %y : f32
  }} -> tensor<{L}x{D}x{F}xf32>
  return %h, %sh, %g, %sg, %dw : tensor<{F}x?xf4E2M1FN>, tensor<?x32x4x4x{S}>, tensor<{D}x?xf4E2M1FN>, tensor<?x32x4x4x{S}>, tensor<{L}x{D}x{F}xf32>
}}
"""


def decoded(packed, scales, ends, form):
    """(rows, columns) of each group: numbers times the scales of their blocks of a column."""
    name, block = form[:2]
    codes = np.stack([packed & 15, packed >> 4], -1).reshape(len(packed), -1).view(E2M1).astype(np.float64)
    flat, span, atoms, parts = scales.reshape(-1), 4 * block, 0, []
    for begin, end in zip([0, *ends[:-1]], ends):
        n, t = np.arange(len(codes))[:, None], np.arange((end - begin) // block)[None, :]
        tall = -(-(end - begin) // span)
        at = 512 * (atoms + n // 128 * tall + t // 4) + n % 32 * 16 + n % 128 // 32 * 4 + t % 4
        s = flat[at].view(E4M3).astype(np.float64) if name == "f8E4M3FN" else np.ldexp(1.0, flat[at].astype(int) - 127)
        parts.append((codes[:, begin:end] * np.repeat(s, block, 1)).T)
        atoms += tall * -(-len(codes) // 128)
    return parts


def run(form, sizes, extra, seed):
    name, block, rounding, kind = form
    rng, groups, ends = np.random.default_rng(seed), len(sizes), [int(e) for e in np.cumsum(sizes)]
    rows = ends[-1] + extra
    x = np.zeros((rows, K), F32)
    x[np.arange(rows), rng.integers(0, K, rows)] = rng.choice((1, -1, 2), rows)
    dy = rng.integers(-6, 7, (rows, D)).astype(F32)
    x[ends[-1] :] = dy[ends[-1] :] = np.nan
    # Gates are multiples of 128, where the sigmoid is exact.
    gates = np.arange(2 * F) // 32 % 2 == 0
    w = rng.choice((0, 4, -4), (groups, 2 * F, K)).astype(E2M1).view(np.uint8)
    sw = np.stack([scales_of(np.where(gates[:, None], 132, 126).repeat(K // 32, 1).astype(np.uint8))] * groups)
    arguments = [x, dy, w[..., ::2] | w[..., 1::2] << 4, sw, np.array(ends, np.int32), np.array([-2], F32)]
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as folder:
        with open(f"{folder}/in.mlir", "w") as file:
            file.write(PROGRAM.format(K=K, F=F, D=D, L=groups, N=2 * F, S=name, B=block, span=4 * block, rounding=rounding, kind=kind))
        command = ["gmoe-run", f"{folder}/in.mlir", "--device=emulator", "--check", "--check-inputs", "--hazards=full",
                   f"--schedule-seed={seed}"]
        for i, array in enumerate(arguments):
            np.save(f"{folder}/a{i}.npy", array)
            command.append(f"--arg={i}={folder}/a{i}.npy")
        done = subprocess.run(command + [f"--result={i}={folder}/r{i}.npy" for i in range(5)], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        h, sh, g, sg, dw = [np.load(f"{folder}/r{i}.npy") for i in range(5)]
    want = np.stack([-2 * (a.T @ b) for a, b in zip(decoded(g, sg, ends, form), decoded(h, sh, ends, form))])
    assert want.any() and ((dw - want) ** 2).sum() <= 1e-11 * (want**2).sum(), f"{form} {sizes}"


for seed, form in enumerate(FORMS.values()):
    for sizes, extra in (([128, 0, 384], 96), ([256, 128], 0)):
        run(form, sizes, extra, seed)
