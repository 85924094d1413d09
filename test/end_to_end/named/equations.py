"""The equations of the named ops in f32, every operation rounded once and in the order of the generalized op.

Values are lists: one array, or the two halves of a pair. An absent operand is None and drops out.
"""
import ml_dtypes
import numpy as np

BF16 = ml_dtypes.bfloat16
F32 = np.float32


def mul(x, y):
    if x is None or y is None:
        return y if x is None else x
    return np.multiply(x, y, dtype=F32)


def add(x, y):
    if x is None or y is None:
        return y if x is None else x
    return np.add(x, y, dtype=F32)


def fma(x, y, z):
    """x * y + z, rounded once: the f64 sum is made odd where it is not exact, so that rounding it again is right."""
    if x is None or y is None or z is None:
        return add(mul(x, y), z)
    product, z = np.multiply(x, y, dtype=np.float64), np.float64(1) * z  # 48 bits: exact
    total = product + z
    virtual = total - product
    error = (product - (total - virtual)) + (z - virtual)
    even = (np.ascontiguousarray(total).view(np.int64) & 1) == 0
    fix = (error != 0) & even & np.isfinite(total)
    return np.where(fix, np.nextafter(total, np.where(error > 0, np.inf, -np.inf)), total).astype(F32)


def sigmoid(x):
    return (1 / (1 + np.exp(-x.astype(np.float64)))).astype(F32)


def tanh(x):
    return np.tanh(x.astype(np.float64)).astype(F32)


def relu(x):
    """+0 for both zeros; NaN stays."""
    return np.where(x <= 0, F32(0), x)


def at_most(x, high):
    return np.where(x > high, F32(high), x)


def clamp(x, limit):
    return at_most(np.where(x < -limit, F32(-limit), x), limit)


def split(x, concatenated):
    """Gate and up of (rows, 2 F)."""
    rows, columns = x.shape
    if concatenated:
        return [x[:, : columns // 2], x[:, columns // 2 :]]
    blocks = x.reshape(rows, columns // 64, 2, 32)
    return [np.ascontiguousarray(blocks[:, :, half]).reshape(rows, columns // 2) for half in (0, 1)]


def join(halves, concatenated):
    if len(halves) == 1:
        return halves[0]
    if concatenated:
        return np.concatenate(halves, 1)
    rows, columns = halves[0].shape
    blocks = np.stack([half.reshape(rows, columns // 32, 32) for half in halves], 2)
    return blocks.reshape(rows, 2 * columns)


def scaled(acc, alpha, bias, round_preactivation):
    z = [fma(x, alpha, y) for x, y in zip(acc, bias or [None, None])]
    return [x.astype(BF16).astype(F32) for x in z] if round_preactivation else z


def quant(z, prob, **_):
    return {"preactivation": z, "result": [mul(z[0], prob)]}


def weighted_quant(acc, alpha, bias, prob, round_preactivation=False, **_):
    """The weight is on the bias alone."""
    weighted = None if bias is None else [mul(bias[0], prob)]
    return {"result": scaled(acc, alpha, weighted, round_preactivation)}


def swiglu(z, prob, **_):
    gate, up = z
    return {"preactivation": z, "result": [mul(mul(up, mul(gate, sigmoid(gate))), prob)]}


def geglu(z, prob, limit=7.0, slope=1.702, offset=1.0, **_):
    gate, up = at_most(z[0], F32(limit)), clamp(z[1], F32(limit))
    swish = mul(gate, sigmoid(mul(gate, F32(slope))))
    return {"preactivation": z, "result": [mul(mul(add(up, F32(offset)), swish), prob)]}


def situglu(z, prob, gate_bound=4.0, up_bound=25.0, **_):
    def bounded(x, bound):
        return mul(tanh(mul(x, F32(1) / F32(bound))), F32(bound))

    tg = mul(bounded(z[0], gate_bound), sigmoid(z[0]))
    return {"preactivation": z, "result": [mul(mul(tg, bounded(z[1], up_bound)), prob)]}


def srelu(z, prob, bound=None, **_):
    r = relu(z[0])
    if bound is not None:
        r = mul(tanh(mul(r, F32(1) / F32(bound))), F32(bound))
    return {"preactivation": z, "result": [mul(mul(r, r), prob)]}


def dswiglu(z, prob, c, **_):
    (r,), (gate, up) = z, c
    s = sigmoid(gate)
    swish, weighted = mul(gate, s), mul(r, prob)
    slope = fma(gate, F32(1) - s, F32(1))
    return {"result": [mul(mul(weighted, mul(up, s)), slope), mul(weighted, swish)], "dprob": [mul(mul(r, up), swish)]}


def dgeglu(z, prob, c, limit=7.0, slope=1.702, offset=1.0, **_):
    limit, slope = F32(limit), F32(slope)
    (r,), (gate, up) = z, c
    g, u = at_most(gate, limit), add(clamp(up, limit), F32(offset))
    inner = mul(g, slope)
    s = sigmoid(inner)
    swish, weighted = mul(g, s), mul(r, prob)
    rise = fma(inner, F32(1) - s, F32(1))
    dgate = np.where(gate > limit, F32(0), mul(mul(weighted, mul(u, s)), rise))
    dup = np.where((up > limit) | (up < -limit), F32(0), mul(weighted, swish))
    return {"result": [dgate, dup], "dprob": [mul(mul(r, u), swish)]}


def dsrelu(z, prob, c, preactivation="gemm", **_):
    (g,), (c,) = z, c
    active, factor = (relu(c), g) if preactivation == "c" else (relu(g), c)
    product, squared = mul(factor, active), relu(c)
    return {"result": [mul(mul(product, F32(2)), prob)], "dprob": [mul(product, active)],
            "activation": [mul(mul(squared, squared), prob)]}


EQUATIONS = {"gemm_quant": quant, "gemm_swiglu": swiglu, "gemm_geglu": geglu, "gemm_situglu": situglu,
             "gemm_srelu": srelu, "gemm_dswiglu": dswiglu, "gemm_dgeglu": dgeglu, "gemm_dsrelu": dsrelu}
PAIRED = ("gemm_swiglu", "gemm_geglu", "gemm_situglu")  # gate and up are columns of the product
PAIRED_C = ("gemm_dswiglu", "gemm_dgeglu")              # gate and up are columns of c and of the result


def evaluate(op, acc, alpha, bias, prob, c, attributes):
    """All values of `op` by name; acc and bias are split by the caller."""
    with np.errstate(all="ignore"):
        if attributes.get("weighted_bias"):
            return weighted_quant(acc, alpha, bias, prob, **attributes)
        z = scaled(acc, alpha, bias, attributes.get("round_preactivation", False))
        return EQUATIONS[op](z=z, prob=prob, c=c, **attributes)
