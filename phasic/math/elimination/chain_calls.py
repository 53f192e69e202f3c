"""Calls of functions that solve the linear system of a model.

A function is defined by a rule: `rule(*options, system, *arrays)` returns an
array (..., event) for a `chain_solves.System` and further arrays. Options are
hashable host values.

Mean, variance, standard deviation and second moment have a separate call:
`elimination_ops.moments` checks values, eliminates and sums up. Its portable
path is here, and second-order derivatives use it too.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
import math

import numpy as np
import numpy as onp

from phasic.internal import control_flow
from phasic.internal import elimination_ops
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array, Integer
from phasic.math.elimination import chain_arguments
from phasic.math.elimination import chain_solves
from phasic.math.elimination import moment_chains
from phasic.math.model import edge_probs
from phasic.math.model import edge_rates
from phasic.math.model.model_types import EdgeArrays, Given, Model, ModelArrays
from phasic.math.numeric import array_utils

# The largest order of a moment: 171! is out of the range of float64.
MAX_ORDER = 170

# The precision of edges that need no conversion, which are float64.
_EPSILON = static.finfo_eps("float64")

MEAN, VARIANCE, STDDEV = "mean", "variance", "stddev"
SECOND_MOMENT = "second moment"

# Up to this number of edges, one elimination computes mean and variance
# together. It serves both calls where results are kept, and where compilers
# merge equal calls. With so few edges, computing both is fast for callers who
# need only the mean.
_MOST_SHARED = 4096


def checked_order(order: Integer, name: str = "order") -> int:
  """Checks the order of a moment; raises ValueError if it is invalid."""
  is_integer = isinstance(order, (int, onp.integer)) and not isinstance(
    order, bool
  )
  if not is_integer or not 1 <= order <= MAX_ORDER:
    raise ValueError(
      f"{name} is {raw_arguments.shown(order)}: it must be a positive integer, and at most "
      f"{MAX_ORDER}"
    )
  return int(order)


def value(
  rule: Callable[..., Array],
  values: chain_arguments.Values,
  discrete: bool,
  options: tuple[Hashable, ...] = (),
  **event_ranks: int,
) -> Array:
  """Evaluates a rule, which is a function of the linear system of a model.

  The result is (..., event), in the dtype of the arguments.

  Args:
    rule: the rule of a function, as described above for this module.
    values: the arguments: initial_probs, subgenerator or subtransition or
      edges, other arrays, exits, prob_zero.
    discrete: whether time is counted in steps.
    options: the rule's options.
    **event_ranks: the ranks of the other arrays, by their names, without batch
      dimensions.
  """
  model, arrays, batch, dtype = chain_arguments.convert(
    values, discrete, **event_ranks
  )
  x = _run(rule, options, discrete, dtype, model, *arrays)
  return array_utils.expanded(x, (*batch, *static.shape(x)[len(batch) :]))


def value_of_arrays(
  rule: Callable[..., Array],
  model: Model,
  discrete: bool,
  options: tuple[Hashable, ...] = (),
  times: Array | None = None,
) -> Array:
  """Evaluates a rule, as `value` does, for arrays that fit together.

  Args:
    rule: as in `value`, of no other array than times.
    model: as in `spread_of_arrays`.
    discrete: whether time is counted in steps.
    options: the rule's options.
    times: (...), in the dtype of the model; None for a rule without times.
  """
  shape = () if times is None else static.shape(times)
  arguments, batch, dtype = chain_arguments.aligned_arrays(model, shape)
  padded_times = (
    [] if times is None else [chain_arguments.padded(times, 0, len(batch))]
  )
  x = _run(rule, options, discrete, dtype, arguments, *padded_times)
  return array_utils.expanded(x, (*batch, *static.shape(x)[len(batch) :]))


def value_of_operands(
  rule: Callable[..., Array],
  operands: ModelArrays,
  edges: EdgeArrays,
  discrete: bool,
) -> Array:
  """Evaluates a rule for the kernel's operands of a model.

  The result has shape (batch..., event).

  Args:
    rule: as in `value`, without options and further arrays.
    operands: the kernel's four operands of a model.
    edges: its arrays of edges; all models must have the same edges.
    discrete: whether time is counted in steps.
  """
  model = chain_arguments.convert_operands(operands, edges)
  return _run(rule, (), discrete, static.dtype_name(operands[0]), model)


def _evaluate(
  rule: Callable[..., Array],
  options: tuple[Hashable, ...],
  discrete: bool,
  dtype: str,
  model: chain_arguments.ChainArguments,
  *arrays: Array,
) -> Array:
  system = chain_solves.derive(model, discrete, dtype)
  wide = [structures.cast(x, system.initial.dtype) for x in arrays]
  return structures.cast(rule(*options, system, *wide), dtype)


def spread(
  option: str, values: chain_arguments.Values, discrete: bool
) -> Array:
  """Computes the mean, variance, standard deviation or second moment.

  Args:
    option: MEAN, VARIANCE, STDDEV or SECOND_MOMENT.
    values: as in `value`.
    discrete: as in `value`.
  """
  both = _moments_of_edges(option, values, discrete)
  if both is not None:
    return both[0 if option == MEAN else -1]
  model, _, batch, dtype = chain_arguments.convert(values, discrete)
  x = _run_spread(option, discrete, dtype, model)
  return np.broadcast_to(x, batch)


def spread_of_arrays(option: str, model: Model, discrete: bool) -> Array:
  """Computes `spread` for arrays that fit together.

  Args:
    option: MEAN, VARIANCE, STDDEV or SECOND_MOMENT.
    model: initial_probs, subgenerator or subtransition or edges, exits,
      prob_zero, as `operands.convert` returns them.
    discrete: whether time is counted in steps.
  """
  both = _moments_of_edges(option, model, discrete)
  if both is not None:
    return both[0 if option == MEAN else -1]
  arguments, batch, dtype = chain_arguments.aligned_arrays(model)
  x = _run_spread(option, discrete, dtype, arguments)
  return np.broadcast_to(x, batch) if batch else x


def shares_elimination(model: Model) -> bool:
  """Returns whether mean and variance are best computed together."""
  initial, rates, _, _ = model
  edges = _dense_edges(initial)
  if isinstance(rates, edge_rates.EDGES):
    edges = static.shape(rates.sources)[-1]
  return _are_few(edges)


def mean_and_variance(model: Model, discrete: bool) -> tuple[Array, Array]:
  """Computes mean and variance from one elimination.

  Arguments are as in `spread_of_arrays`.
  """
  both = _moments_of_edges(VARIANCE, model, discrete)
  if both is not None:
    return both[0], both[1]
  arguments, batch, dtype = chain_arguments.aligned_arrays(model)
  mean, variance = _run_mean_and_spread(VARIANCE, discrete, dtype, arguments)
  if not batch:
    return mean, variance
  return np.broadcast_to(mean, batch), np.broadcast_to(variance, batch)


def _moments_of_edges(
  option: str, model: Sequence[Given], discrete: bool
) -> tuple[Array, ...] | None:
  """Computes `_mean_and_spread` of edges; None if they need conversion."""
  initial, rates, exits, atom = model
  kind = edge_probs.EdgeProbs if discrete else edge_rates.EdgeRates
  if exits is not None or not isinstance(rates, kind):
    return None
  both = elimination_ops.moments_of_edges(
    edge_rates.values,
    initial,
    rates,
    atom,
    discrete=discrete,
    gives_variance=option != MEAN,
    gives_root=option == STDDEV,
    epsilon=_EPSILON,
  )
  if both is not None and option == SECOND_MOMENT:
    with onp.errstate(all="ignore"):
      return both[0], structures.cast(both[1] + np.square(both[0]))
  return both


def _are_few(edges: object) -> bool:
  """Returns whether a number of edges is known and at most `_MOST_SHARED`."""
  return isinstance(edges, int) and edges <= _MOST_SHARED


def _dense_edges(initial: Array) -> int | None:
  """Returns the number of edges of a matrix, None if it is not known."""
  p = static.shape(initial)[-1]
  return p * (p + 1) if isinstance(p, int) else None


def _spread(
  option: str, discrete: bool, dtype: str, model: chain_arguments.ChainArguments
) -> Array:
  """Computes the mean, variance, standard deviation or second moment, (...).

  The result may be inf.

  Args:
    option: MEAN, VARIANCE, STDDEV or SECOND_MOMENT.
    discrete: whether time is counted in steps.
    dtype: the dtype of the model.
    model: the result of `chain_arguments.convert`.
  """
  both = _mean_and_spread(option, discrete, dtype, model)
  return both[0 if option == MEAN else -1]


def _mean_and_spread(
  option: str, discrete: bool, dtype: str, model: chain_arguments.ChainArguments
) -> tuple[Array, ...]:
  """Computes the mean, and after it the value of `option` or the variance.

  Arguments are as in `_spread`. Where it costs nothing the variance is computed
  for the mean, too.
  """
  if model.edges is None:
    edges = _dense_edges(model.initial)
    none = np.zeros(
      (*static.shape(model.initial)[:-1], 0), dtype=model.initial.dtype
    )
    # The kernel takes the whole matrix in place of the weights of edges.
    edge_list = chain_solves.SystemEdges(
      elimination_ops.NO_EDGES,
      model.rates,
      model.initial,
      model.atom,
      none,
      None,
    )
  else:
    edge_list = chain_solves.list_edges(model, discrete, dtype)
    edges = static.shape(edge_list.indices)[-1]
  shared = control_flow.MERGES_CALLS and _are_few(edges)
  both = elimination_ops.moments(
    _portable,
    edge_list.indices,
    edge_list.weights,
    structures.cast(model.exits, edge_list.initial.dtype),
    edge_list.initial,
    edge_list.atom,
    edge_list.stay,
    discrete=discrete,
    gives_variance=shared or option != MEAN,
    gives_root=option == STDDEV,
    epsilon=static.finfo_eps(dtype),
  )
  if option == SECOND_MOMENT:
    both = (both[0], both[1] + np.square(both[0]))
  if edge_list.bad is not None:
    both = tuple(np.where(edge_list.bad, math.nan, x) for x in both)
  return tuple(structures.cast(x, dtype) for x in both)


def _portable(
  indices: chain_solves.Indices,
  weights: Array,
  exits: Array,
  initial: Array,
  atom: Array,
  stay: Array,
  discrete: bool,
  gives_variance: bool,
  gives_root: bool,
  epsilon: float,
) -> tuple[Array, ...]:
  """Computes `elimination_ops.moments`, with the same arguments."""
  if static.rank(weights) == static.rank(initial):
    edge_list = chain_solves.SystemEdges(
      indices, weights, initial, atom, stay, None
    )
  else:
    model = chain_arguments.ChainArguments(initial, weights, exits, atom, None)
    edge_list = chain_solves.edge_list_of_matrix(model, discrete, epsilon)
  system = chain_solves.complete(edge_list, discrete, epsilon)
  moments = [moment_chains.raw_moments(1, system)[..., 0]]
  if gives_variance:
    moments.append(moment_chains.variance(gives_root, system))
  return tuple(structures.cast(x, initial.dtype) for x in moments)


_run_spread = control_flow.compiled(_spread, static_argnums=(0, 1, 2))
_run_mean_and_spread = control_flow.compiled(
  _mean_and_spread, static_argnums=(0, 1, 2)
)
_run = control_flow.compiled(_evaluate, static_argnums=(0, 1, 2, 3))
