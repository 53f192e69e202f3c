"""The native phase-type ops of TensorFlow and their registered gradients.

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

from collections.abc import Mapping, Sequence
import functools

import tensorflow as tf

from phasic.substrates.tf.internal import derivative_family
from phasic.substrates.tf.internal import kernel_calls
from phasic.substrates.tf.internal import kernel_common
from phasic.substrates.tf.internal import xla_calls
from phasic.substrates.tf.internal import xla_programs

# The number of operands of a model: initial_probs, subgenerator, exit_rates,
# prob_zero and times.
NUM_OPERANDS = 5
# The number of arrays of a sparse model: indices, constants, coefficients.
NUM_EDGE_ARRAYS = 3
# The kernel is compiled for derivatives up to this order.
MAX_ORDER = 3

Group = Sequence[tf.Tensor]


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
  inputs = [x for group in groups for x in group]
  [result] = _call(
    "forward",
    inputs,
    fixed,
    {"kind": kind, "order": order, "discrete": discrete},
  )
  return result


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
  results = _call("adjoint", inputs, fixed, attributes)
  return [
    x if is_wanted else None
    for x, is_wanted in zip(results, wanted, strict=True)
  ]


def statistics(
  kind: int, operands: Group, weights: tf.Tensor, fixed: Group = ()
) -> list[tf.Tensor]:
  """Computes expected starts, holding times, jumps, exits and zero times."""
  attributes = {"kind": kind, "order": 1, "discrete": False}
  return _call("statistics", [*operands, weights], fixed, attributes)


def quantiles(
  form: int, operands: Group, edges: Group, discrete: bool
) -> tuple[tf.Tensor, ...]:
  """Computes quantiles, and the times and kinds that derivatives need."""
  attributes = {"kind": form, "order": 0, "discrete": discrete}
  return tuple(_call("quantiles", operands, edges, attributes))


def _call(
  function: str,
  inputs: Sequence[tf.Tensor],
  fixed: Group,
  attributes: Mapping[str, int],
) -> list[tf.Tensor]:
  """Calls the op of a function; see `kernel_calls`."""
  has_edges = len(fixed) >= NUM_EDGE_ARRAYS
  return kernel_calls.call(
    f"phase_type_{function}",
    {"inputs": inputs, **_lists(fixed)},
    attributes,
    {
      **attributes,
      "mapped_dims": 0,
      "has_edges": has_edges,
      "has_kinds": len(fixed) % NUM_EDGE_ARRAYS == 1,
    },
    lambda arrays: _types(function, arrays, len(inputs), attributes),
    num_fixed=len(fixed),
  )


def _types(
  function: str,
  arrays: Sequence[tf.Tensor],
  num_inputs: int,
  attributes: Mapping[str, int],
) -> list[xla_programs.Result]:
  """Returns the types of a function's results.

  Args:
    function: its name.
    arrays: all inputs of its op.
    num_inputs: how many there are without edges and kinds.
    attributes: the attributes of the op.
  """
  dtype, num_fixed = arrays[0].dtype, len(arrays) - num_inputs
  dims = [xla_programs.dims_of(x, i) for i, x in enumerate(arrays)]
  has_edges = num_fixed >= NUM_EDGE_ARRAYS
  ranks = [1, 1 if has_edges else 2, 1, 1, 1]
  if function == "adjoint":
    # Unwanted results are zero.
    results = []
    for i, rank in enumerate(ranks):
      unwanted = (*dims[i][: len(dims[i]) - rank], *[0] * rank)
      is_wanted = attributes["wanted"] >> i & 1
      results.append(
        xla_programs.Result(dtype, dims[i], None if is_wanted else unwanted)
      )
    return results
  ranks_of_fixed = [2, 1, 2] if has_edges else []
  ranks_of_fixed += [1] * (num_fixed % NUM_EDGE_ARRAYS)
  batch = kernel_calls.batch_dims(
    arrays,
    dict(enumerate(ranks)) | dict(enumerate(ranks_of_fixed, num_inputs)),
  )
  times, phases = dims[NUM_OPERANDS - 1][-1], dims[0][-1]
  if function == "statistics":
    jumps = (dims[num_inputs][-1],) if has_edges else (phases, phases)
    events = [(phases,), (phases,), jumps, (phases,), (1,)]
    return [xla_programs.Result(dtype, (*batch, *event)) for event in events]
  value = xla_programs.Result(dtype, (*batch, times))
  if function == "forward":
    return [value]
  return [value, value, value._replace(dtype=tf.int32)]


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


def _fixed_gradients(
  op: xla_calls.Operation, upstream: Sequence[tf.Tensor]
) -> list[tf.Tensor | None]:
  """Returns gradients for edges and kinds, which have no derivatives.

  They are NaN in a graph; eagerly a gradient that is used raises.

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
  """Returns NaN gradients for the inputs from number `first` on.

  Gradients that are not used, or of integers, are None. Gradients of empty
  inputs are empty. Eagerly other gradients raise.
  """
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
      if x.dtype.is_floating
    ]
  )
  return tf.math.multiply_no_nan(nan, tf.broadcast_to(total, tf.shape(like)))


def _derivative_gradient(
  is_adjoint: bool, op: xla_calls.Operation, *upstream: xla_calls.Upstream
) -> list[tf.Tensor | None]:
  """Computes the gradient of J_k or V_k."""
  operands, *groups = _groups(op)
  kind, order = op.get_attr("kind"), op.get_attr("order")
  fixed, discrete = _fixed(op), op.get_attr("discrete")
  member = derivative_family.Member(is_adjoint, order, groups)
  incoming = xla_calls.cotangents(op, upstream)
  gradients: list[tf.Tensor | None] = []
  for i, used in enumerate(_wanted(op, [operands, *groups])):
    if not any(used):
      gradients += [None] * len(used)
      continue
    part = member.transposed(i, incoming)
    _check_order(op, part.order)
    if part.is_adjoint:
      *directions, [cotangent] = part.groups
      primals = [operands, *directions]
      gradients += adjoint(
        kind, part.order, primals, cotangent, fixed, used, discrete
      )
    else:
      primals = [operands, *part.groups]
      gradients.append(forward(kind, part.order, primals, fixed, discrete))
  return gradients + _fixed_gradients(op, incoming)


for _is_adjoint, _name in ((False, "Forward"), (True, "Adjoint")):
  xla_calls.register_gradient(f"PhasicPhaseType{_name}")(
    functools.partial(_derivative_gradient, _is_adjoint)
  )


@xla_calls.register_gradient("PhasicPhaseTypeStatistics")
def _statistics_gradient(
  op: xla_calls.Operation, *upstream: xla_calls.Upstream
) -> list[tf.Tensor | None]:
  direction = xla_calls.cotangents(op, upstream)
  return _missing_gradients(
    op,
    0,
    direction,
    "a derivative of expected statistics was asked for: the statistics have"
    " none. If they are constants, as in an E-step, pass tf.stop_gradient of"
    " the arguments.",
  )


@xla_calls.register_gradient("PhasicPhaseTypeQuantiles")
def _quantiles_gradient(
  op: xla_calls.Operation, *upstream: xla_calls.Upstream
) -> list[tf.Tensor | None]:
  direction = xla_calls.cotangents(op, upstream)
  return _missing_gradients(
    op,
    0,
    direction,
    "a derivative of the op PhasicPhaseTypeQuantiles was asked for: it has"
    " none; differentiate the functions that call it.",
  )
