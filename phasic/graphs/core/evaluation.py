"""Log densities and moments of a graph's absorption time in one call."""

from __future__ import annotations

from phasic.graphs.core import graph as graph_lib
from phasic.graphs.core import linear_weights
from phasic.graphs.parts.parameters import ParamsLike
from phasic.internal import control_flow
from phasic.internal import dtypes
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.internal.arrays import ArrayLike
from phasic.internal.arrays import Integer
from phasic.math.calls import evaluation
from phasic.math.moments import discrete_moments
from phasic.math.moments import moments as continuous_moments


def log_prob_and_moments(
  graph: graph_lib.Graph,
  params: ParamsLike | None,
  values: ArrayLike,
  rewards: ArrayLike | None = None,
  order: Integer = 2,
) -> tuple[Array, Array]:
  """Computes log densities at times, and moments, in one compiled call.

  Both follow from one set of weights. In JAX the call is compiled once for all
  graphs of one size, and may be part of a compiled function of which the graph
  is an argument. Derivatives exist in parameters, values and rewards.

  Args:
    graph: the graph; where it is discrete times are numbers of steps.
    params: (..., d), or a mapping of the graph's names to arrays.
    values: times, (..., n); leading axes broadcast with the parameters.
    rewards: r, (..., p), rewards per unit of time or per step in each phase;
      None for ones. They must be finite and >= 0, else moments are NaN.
    order: how many moments, a positive integer.

  Returns:
    The log densities of the times until absorption, (..., n), and the raw
    moments E[Y^k], k = 1, ..., order, (..., order), of the reward accumulated
    until then, Y = sum_i r_i (time spent in phase i): of the time itself
    without rewards.

  Raises:
    TypeError: dtypes differ, are complex or bool, or `graph` is not a graph.
    ValueError: shapes do not fit, a name is unknown or missing, or `order` is
      not a positive integer.

  Example: the age of the common ancestor and the length of the tree.

    >>> from phasic.graphs import ABSORBED, Graph, log_prob_and_moments
    >>> def transitions(n):
    ...   yield (n - 1 if n > 2 else ABSORBED), {"coal": n * (n - 1) / 2}
    >>> graph = Graph.from_transitions(transitions, 3, params=("coal",))
    >>> log_probs, moments = log_prob_and_moments(
    ...   graph, {"coal": 1.0}, [1.0], rewards=graph.states
    ... )
    >>> print(f"{float(log_probs[0]):.6f}, {float(moments[0]):.6f}")
    -0.739948, 3.000000
  """
  if not isinstance(graph, graph_lib.Graph):
    raise TypeError(f"graph is {type(graph).__name__}: it must be a Graph")
  params = graph.params_array(params)
  arguments = {"values": values, "rewards": rewards}
  if graph.num_params > 0:
    arguments = {"params": params, **arguments}
  dtype = dtypes.common_dtype(arguments)
  params = structures.cast(params, dtype)
  values = structures.as_array(values, dtype, "values")
  if static.rank(values) == 0:
    raise ValueError("values is a scalar: it must have shape (..., n)")
  if rewards is not None:
    rewards = structures.as_array(rewards, dtype, "rewards")
  return _run(order, dtype, graph, params, values, rewards)


def _evaluate(
  order: Integer,
  dtype: str,
  graph: graph_lib.Graph,
  params: Array,
  values: Array,
  rewards: Array | None,
) -> tuple[Array, Array]:
  model = linear_weights.chain_arrays(graph, params, None, None, dtype)
  initial_probs, edges, exits, prob_zero = model
  assert prob_zero is not None  # It is None only with given `initial_probs`.
  # A batch dimension of size one is inserted to broadcast with the values.
  edges = edges._replace(parameters=edges.parameters[..., None, :])
  log_probs = evaluation.value(
    "log_density",
    (initial_probs[..., None, :], edges, values, exits, prob_zero[..., None]),
    discrete=graph.discrete,
  )
  functions = discrete_moments if graph.discrete else continuous_moments
  if rewards is None:
    return log_probs, functions.raw_moments(order, *model)
  return log_probs, functions.reward_moments(order, rewards, *model)


_run = control_flow.compiled(_evaluate, static_argnums=(0, 1))
