"""Why a value is NaN."""

import numpy as np
import numpy as onp

from phasic.internal import kernel_ops
from phasic.internal import static
from phasic.math import operands as operands_lib
from phasic.math import portable

# The first that holds is told; the last two need the result.
_RULES = (
  "ok",
  "initial_probs: masses must be >= 0 and finite",
  "initial_probs: their sum must be <= 1 within 4 p eps",
  "prob_zero: a probability must be in [0, 1]",
  "subgenerator: rates must be finite",
  "subgenerator: off-diagonals must be >= 0",
  "exit_rates: rates must be >= 0 and finite",
  "subgenerator: row sums must be <= 0 within 4 p eps of the largest entry",
  "value: is NaN",
  "the portable path would need more steps than it may take, or a number is "
  "out of its range",
)


# What the distributions' methods are called in `math`.
_KINDS = {
  "log_prob": "log_density",
  "prob": "density",
  "log_survival_function": "log_survival",
  "survival_function": "survival",
  "log_cdf": "log_cdf",
  "cdf": "cdf",
}


def diagnose(
  method, initial_probs, subgenerator, times, exit_rates, prob_zero
) -> onp.ndarray:
  """Returns the reason for NaN of each result, "ok" where there is none.

  Args:
    method: the name of the distribution's method.
    initial_probs: as for the functions of `math.phase_type`, and so on.
    subgenerator: see there.
    times: see there.
    exit_rates: see there.
    prob_zero: see there.

  Raises:
    TypeError: an argument is traced.
    ValueError: there is no such method.
  """
  if method not in _KINDS:
    raise ValueError(
      f"method is {method!r}: it must be one of {', '.join(_KINDS)}"
    )
  kind = _KINDS[method]
  arguments = operands_lib.convert(
    initial_probs, subgenerator, times, exit_rates, prob_zero
  )
  names = ["value" if x == "times" else x for x in operands_lib.ARGUMENTS]
  for name, x in zip(names, arguments, strict=True):
    if x is not None and static.concrete(x) is None:
      raise TypeError(f"{name} is traced: only known values can be diagnosed")
  operands, layout = operands_lib.canonical(arguments)
  native = kernel_ops.path() == "kernel"
  if native:
    codes: onp.ndarray = onp.asarray(kernel_ops.status(kind, operands))
  else:
    codes = _portable_codes(kind, operands)
  laid_out = operands_lib.result(layout, np.asarray(codes))
  codes = onp.asarray(static.concrete(laid_out))
  known, index = onp.unique(codes, return_inverse=True)
  messages = [
    kernel_ops.status_message(int(code)) if native else _RULES[int(code)]
    for code in known
  ]
  texts = onp.asarray(messages, dtype=str)
  return onp.reshape(texts[index], onp.shape(codes))


def _portable_codes(kind, operands) -> onp.ndarray:
  """Returns indices into the rules, (batch..., n), int32."""
  value = portable.phase_type(kind, *operands)
  eps = static.finfo_eps(value)
  host = [onp.asarray(static.concrete(x), onp.float64) for x in operands]
  alpha, matrix, exits, atom, times = host
  nan = onp.isnan(onp.asarray(static.concrete(value)))
  p = onp.shape(alpha)[-1]
  given = onp.shape(exits)[-1] > 0
  eye = onp.eye(p, dtype=bool)
  read = onp.where(eye, 0.0, matrix) if given else matrix
  off = onp.where(eye, 0.0, matrix)
  scale = 4 * p * eps * onp.max(onp.abs(matrix), axis=-1)
  derived = onp.shape(atom)[-1] == 0
  never = onp.zeros((1,) * onp.ndim(alpha), bool)
  broken = [
    onp.any(~((alpha >= 0) & onp.isfinite(alpha)), -1, keepdims=True),
    derived & (onp.sum(alpha, -1, keepdims=True) > 1 + 4 * p * eps),
    never if derived else ~((atom >= 0) & (atom <= 1)),
    onp.any(~onp.isfinite(read), (-2, -1))[..., None],
    onp.any(off < 0, (-2, -1))[..., None],
    onp.any(~((exits >= 0) & onp.isfinite(exits)), -1, keepdims=True),
    never if given else onp.any(onp.sum(matrix, -1) > scale, -1)[..., None],
    onp.isnan(times),
    nan,
  ]
  shape = onp.broadcast_shapes(onp.shape(nan), *(onp.shape(b) for b in broken))
  broken = [onp.broadcast_to(b, shape) & nan for b in broken]
  codes = onp.select(broken, onp.arange(1, len(_RULES)), 0)
  return onp.asarray(codes, onp.int32)
