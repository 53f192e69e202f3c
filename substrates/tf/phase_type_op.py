"""The native phase-type ops of TensorFlow and their registered gradients.

Importing this module loads the op library, so a SavedModel that uses the ops
can be loaded, run and differentiated after `import phasic.substrates.tf`. The
import does not fail if the library is missing: `load_error()` returns why.

J_k(x; v1..vk) = D^k F(x)[v1..vk] is the op PhasicPhaseTypeForward,
V_k(x; v1..v_{k-1}; c) = (D^k F(x)[v1..v_{k-1}, .])^T c is
PhasicPhaseTypeAdjoint. A tape lists the gradients that it uses, and only these
are computed; a graph of operations computes all. The family is closed under
differentiation, so each gradient below is again one of the two ops. TensorFlow
transposes the registered gradient for forward mode, which is closed too.

The kinds of the times have no derivative, as they are integers. The structure
of a sparse model is fixed too: derivatives in the constants and coefficients of
its edges do not exist. Eagerly, a tape that watches one of them and reaches it
raises NotImplementedError. In a graph it is unknown whether a gradient will be
used: there it is NaN, never zero. All inputs of expected statistics,
PhasicPhaseTypeStatistics, behave like this.

TensorFlow 2.21 computes one nesting wrong for every op, also its own: a
GradientTape outside two nested ForwardAccumulators raises InternalError
eagerly, and gives wrong numbers in a `tf.function`. Put the tape inside. In a
`tf.function` the same holds for a tape outside an accumulator outside another
`tf.function`.
"""

from __future__ import annotations

from collections.abc import Sequence
import ctypes
import os
import sysconfig
import types

import tensorflow as tf

from phasic import _native
from phasic.substrates.tf.internal import kernel_calls
from phasic.substrates.tf.internal import kernel_common
from phasic.substrates.tf.internal import native_files
from phasic.substrates.tf.internal import native_module
from phasic.substrates.tf.internal import xla_calls

# Number of operands: initial_probs, subgenerator, exit_rates, prob_zero, times.
NUM_OPERANDS = 5
# The number of arrays of a sparse model: indices, constants, coefficients.
NUM_EDGE_ARRAYS = 3
# The kernel is compiled for derivatives up to this order.
MAX_ORDER = 3

Group = Sequence[tf.Tensor]


def _path() -> str:
  return os.path.join(next(iter(_native.__path__)), "libphasic_tf.so")


def _load() -> tuple[types.ModuleType | None, str]:
  """Loads the module of native ops; returns (module, "") or (None, reason)."""
  path = _path()
  if not os.path.exists(path):
    return None, (
      f"there is no op library {path} for {sysconfig.get_platform()}; "
      f"{native_module.REINSTALL}"
    )
  damage = native_files.damage(path)
  if damage:
    return None, f"{path} cannot be loaded: {damage}; {native_module.REINSTALL}"
  try:
    ops = tf.load_op_library(path)
  except (tf.errors.OpError, OSError, RuntimeError) as error:
    return None, native_module.cannot_load(
      f"TensorFlow {tf.__version__}", path, getattr(error, "message", error)
    )
  for name in (
    "phasic_phase_type_forward",
    "phasic_phase_type_adjoint",
    "phasic_phase_type_statistics",
    "phasic_phase_type_quantiles",
    "phasic_rule",
    "phasic_eliminate",
    "phasic_moments",
  ):
    if not hasattr(ops, name):
      return None, (
        f"{path} does not register the op {name}; {native_module.REINSTALL}"
      )
  return ops, ""


_OPS, _LOAD_ERROR = _load()


def load_error() -> str:
  """Returns why the native ops cannot be used; "" if they can."""
  return _LOAD_ERROR


def native_ops() -> types.ModuleType:
  """Returns the module of native ops, if `load_error` gives no reason."""
  assert _OPS is not None, _LOAD_ERROR
  return _OPS


def in_xla() -> bool:
  """Returns whether a program is being compiled with XLA.

  Then calls must use `kernel_calls`, which is loaded here.

  Raises:
    NotImplementedError: calls must use it, but loading fails.
  """
  if not xla_calls.is_compiling():
    return False
  if _LOAD_ERROR:
    raise NotImplementedError(f"jit_compile=True: {_LOAD_ERROR}")
  kernel_calls.load(_path())
  return True


def num_threads() -> int:
  """Returns the largest number of threads that an op may use."""
  return library().PhasicNumThreads()


def set_num_threads(count: int) -> None:
  """Sets `num_threads`; the caller has checked `count`."""
  library().PhasicSetNumThreads(count)


def set_max_work(multiply_adds: float) -> None:
  """Sets the most multiply-adds of one model; the caller has checked it."""
  library().PhasicSetMaxWork(ctypes.c_double(multiply_adds))


def library() -> ctypes.CDLL:  # noqa: TID251  (the wheel's)
  """Returns the native library that TensorFlow has loaded."""
  return ctypes.CDLL(_path())  # noqa: TID251  (the wheel's)


def forward(
  kind: int,
  order: int,
  groups: Sequence[Group],
  fixed: Group = (),
  discrete: bool = False,
) -> tf.Tensor:
  """Computes J_k, the k-th directional derivative.

  `groups` has the operands, then k groups of tangents.

  `fixed` has the three arrays of a sparse model, if it is sparse, and the kinds
  of the times, if they differ; `discrete` is whether time is discrete.
  """
  if in_xla():
    inputs = [x for group in groups for x in group]
    attributes = {"kind": kind, "order": order, "discrete": discrete}
    return kernel_calls.phase_type_forward(inputs, fixed, attributes)
  return native_ops().phasic_phase_type_forward(
    inputs=[x for group in groups for x in group],
    **_lists(fixed),
    kind=kind,
    order=order,
    discrete=discrete,
  )


def adjoint(
  kind: int,
  order: int,
  groups: Sequence[Group],
  cotangent: tf.Tensor,
  fixed: Group = (),
  wanted: Sequence[bool] = (True,) * NUM_OPERANDS,
  discrete: bool = False,
) -> list[tf.Tensor | None]:
  """Computes V_k, the pullback of J_k in its last direction.

  `groups` has the operands, then k - 1 groups of tangents.

  Unwanted results are None, and are not computed.
  """
  inputs = [*(x for group in groups for x in group), cotangent]
  attributes = {
    "kind": kind,
    "order": order,
    "wanted": sum(1 << i for i, is_wanted in enumerate(wanted) if is_wanted),
    "discrete": discrete,
  }
  if in_xla():
    results = kernel_calls.phase_type_adjoint(inputs, fixed, attributes)
  else:
    results = native_ops().phasic_phase_type_adjoint(
      inputs=inputs, **_lists(fixed), **attributes
    )
  return [
    x if is_wanted else None
    for x, is_wanted in zip(results, wanted, strict=True)
  ]


def statistics(
  kind: int, operands: Group, weights: tf.Tensor, fixed: Group = ()
) -> list[tf.Tensor]:
  """Computes expected starts, holding times, jumps, exits and zero times."""
  if in_xla():
    attributes = {"kind": kind, "order": 1, "discrete": False}
    inputs = [*operands, weights]
    return kernel_calls.phase_type_statistics(inputs, fixed, attributes)
  results = native_ops().phasic_phase_type_statistics(
    inputs=[*operands, weights],
    **_lists(fixed),
    kind=kind,
    order=1,
  )
  return list(results)


def quantiles(
  form: int, operands: Group, edges: Group, discrete: bool
) -> tuple[tf.Tensor, tf.Tensor]:
  """Computes quantiles, and the places of their derivatives."""
  attributes = {"kind": form, "order": 0, "discrete": discrete}
  if in_xla():
    results = kernel_calls.phase_type_quantiles(operands, edges, attributes)
    return results[0], results[1]
  results = native_ops().phasic_phase_type_quantiles(
    inputs=list(operands), **_lists(edges), **attributes
  )
  return results.quantiles, results.places


def _lists(fixed: Group) -> dict[str, list[tf.Tensor]]:
  """Returns the op's inputs for edges and kinds, by name."""
  count = NUM_EDGE_ARRAYS if len(fixed) >= NUM_EDGE_ARRAYS else 0
  return {
    "edge_indices": list(fixed[: min(count, 1)]),
    "edge_values": list(fixed[1:count]),
    "kinds": list(fixed[count:]),
  }


def _fixed(op: xla_calls.Operation) -> list[tf.Tensor]:
  """Returns an op's inputs for edges and kinds."""
  return list(op.inputs)[op.get_attr("N") :]


def _groups(op: xla_calls.Operation) -> list[list[tf.Tensor]]:
  """Splits an op's inputs into the operands and their tangents.

  Each group has one array for each of the five operands. The last group of the
  adjoint has only the cotangent.
  """
  inputs = list(op.inputs)[: op.get_attr("N")]
  return [
    inputs[i : i + NUM_OPERANDS] for i in range(0, len(inputs), NUM_OPERANDS)
  ]


def _wanted(
  op: xla_calls.Operation, groups: Sequence[Group]
) -> list[list[bool]]:
  """Returns which gradients are used, for each operand of each group.

  A tape has `skip_input_indices`. A graph operation does not: there all
  gradients are built, and TensorFlow prunes unused ones.
  """
  skipped = set(getattr(op, "skip_input_indices", None) or ())
  wanted, first = [], 0
  for group in groups:
    members = range(first, first + len(group))
    wanted.append([i not in skipped for i in members])
    first += len(group)
  return wanted


def _check_order(op: xla_calls.Operation, order: int) -> None:
  # A graph may contain gradients that never run. If one does run, the op itself
  # raises an error about the order.
  if order > MAX_ORDER and not isinstance(op, tf.Operation):
    raise NotImplementedError(
      f"a derivative of order {order} of the phase-type kernel was asked for; "
      f"it has derivatives up to order {MAX_ORDER}. Higher orders: "
      "config.use_path('portable')."
    )


def _tensor(upstream: xla_calls.Upstream, like: tf.Tensor) -> tf.Tensor:
  return (
    tf.zeros_like(like) if upstream is None else tf.convert_to_tensor(upstream)
  )


def _fixed_gradients(
  op: xla_calls.Operation, upstream: Sequence[tf.Tensor]
) -> list[tf.Tensor | None]:
  """Returns NaN gradients for edges and kinds, which have no derivatives.

  Forward mode and the gradient of a `tf.function` request gradients in all
  inputs and use a few, so these must not fail.
  """
  return _missing_gradients(
    op,
    len(op.inputs) - len(_fixed(op)),
    upstream,
    f"{kernel_common.EDGES_ARE_FIXED}. If they are watched for something else, "
    "pass tf.stop_gradient of them",
  )


def _missing_gradients(
  op: xla_calls.Operation,
  first: int,
  upstream: Sequence[tf.Tensor],
  message: str,
) -> list[tf.Tensor | None]:
  """Returns NaN gradients for the inputs from number `first` on."""
  skipped = set(getattr(op, "skip_input_indices", None) or ())
  gradients: list[tf.Tensor | None] = []
  for i, x in enumerate(op.inputs[first:], first):
    if i in skipped or not x.dtype.is_floating:
      gradients.append(None)
    elif x.shape.num_elements() == 0:
      gradients.append(tf.zeros_like(x))
    elif tf.executing_eagerly():
      raise NotImplementedError(message)
    else:
      gradients.append(_unknown(upstream, op.inputs, x))
  return gradients


def _unknown(
  upstream: Sequence[tf.Tensor], points: Sequence[tf.Tensor], like: tf.Tensor
) -> tf.Tensor:
  """Returns a NaN gradient with the shape of `like`, for a missing rule.

  As a map of `upstream` it maps zeros to zeros, and so does its transpose,
  which is forward mode: a tangent of zero adds zero, any other tangent NaN. It
  depends on `points` in the same way, so that its derivatives are not zero
  either.
  """
  nan = tf.constant(float("nan"), like.dtype)
  zeros = [x - tf.stop_gradient(x) for x in points if x.dtype.is_floating]
  total = tf.add_n(
    [
      tf.reduce_sum(tf.math.multiply_no_nan(nan, x))
      for x in [*upstream, *zeros]
    ]
  )
  return tf.math.multiply_no_nan(nan, tf.broadcast_to(total, tf.shape(like)))


def _operand_gradients(
  op: xla_calls.Operation,
  groups: Sequence[Group],
  directions: Sequence[Group],
  cotangent: tf.Tensor,
  wanted: Sequence[Sequence[bool]],
) -> list[tf.Tensor | None]:
  """Returns the gradients for operands and tangents.

  Args:
    op: the op.
    groups: its operands and tangents.
    directions: further directions of the derivative.
    cotangent: the cotangent of the derivative in all directions.
    wanted: which gradients are used, for each operand of each group.
  """
  kind, order = op.get_attr("kind"), op.get_attr("order")
  fixed, discrete = _fixed(op), op.get_attr("discrete")
  gradients: list[tf.Tensor | None] = []
  for i, used in enumerate(wanted):
    if not any(used):
      gradients += [None] * NUM_OPERANDS
    elif i == 0:
      _check_order(op, order + 1)
      primals = [*groups, *directions]
      gradients += adjoint(
        kind, order + 1, primals, cotangent, fixed, used, discrete
      )
    else:
      remaining = [*groups[:i], *groups[i + 1 :], *directions]
      gradients += adjoint(
        kind, order, remaining, cotangent, fixed, used, discrete
      )
  return gradients


@xla_calls.register_gradient("PhasicPhaseTypeForward")
def _forward_gradient(
  op: xla_calls.Operation, upstream: xla_calls.Upstream
) -> list[tf.Tensor | None]:
  groups, cotangent = _groups(op), _tensor(upstream, op.outputs[0])
  wanted = _wanted(op, groups)
  gradients = _operand_gradients(op, groups, [], cotangent, wanted)
  return gradients + _fixed_gradients(op, [cotangent])


@xla_calls.register_gradient("PhasicPhaseTypeAdjoint")
def _adjoint_gradient(
  op: xla_calls.Operation, *upstream: xla_calls.Upstream
) -> list[tf.Tensor | None]:
  *groups, [cotangent] = _groups(op)
  direction = [_tensor(u, x) for u, x in zip(upstream, op.outputs)]
  *wanted, [cotangent_wanted] = _wanted(op, [*groups, [cotangent]])
  gradients = _operand_gradients(op, groups, [direction], cotangent, wanted)
  gradients.append(
    forward(
      op.get_attr("kind"),
      op.get_attr("order"),
      [*groups, direction],
      _fixed(op),
      op.get_attr("discrete"),
    )
    if cotangent_wanted
    else None
  )
  return gradients + _fixed_gradients(op, direction)


@xla_calls.register_gradient("PhasicPhaseTypeStatistics")
def _statistics_gradient(
  op: xla_calls.Operation, *upstream: xla_calls.Upstream
) -> list[tf.Tensor | None]:
  direction = [_tensor(u, x) for u, x in zip(upstream, op.outputs)]
  return _missing_gradients(
    op,
    0,
    direction,
    "a derivative of expected statistics was asked for: they have none. If"
    " they are constants, as in an E-step, pass tf.stop_gradient of their"
    " arguments.",
  )


@xla_calls.register_gradient("PhasicPhaseTypeQuantiles")
def _quantiles_gradient(
  op: xla_calls.Operation, *upstream: xla_calls.Upstream
) -> list[tf.Tensor | None]:
  direction = [_tensor(u, x) for u, x in zip(upstream, op.outputs)]
  return _missing_gradients(
    op,
    0,
    direction,
    "a derivative of the op PhasicPhaseTypeQuantiles was asked for: only the"
    " functions that call it have one.",
  )
