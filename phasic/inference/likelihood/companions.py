"""The log likelihood with its cotangents, for NumPy, which has no autodiff."""

from typing import Any

import numpy as np

from phasic.distributions.absorption import absorption_time
from phasic.distributions.absorption import graph_chain
from phasic.distributions.families import sparse_phase_type
from phasic.inference.data import observations
from phasic.inference.terms import chain_events
from phasic.inference.terms import observation_terms
from phasic.internal import static
from phasic.internal import structures
from phasic.math.likelihood import discrete_observations
from phasic.math.likelihood import observations as observations_lib
from phasic.math.model import operands


def log_likelihood_vjp(
  distribution: Any,
  lower: Any,
  upper: Any = None,
  weights: Any = None,
  entry: Any = None,
  cause: Any = None,
  *,
  cotangent: Any = 1.0,
) -> tuple[Any, dict[str, Any]]:
  """Returns `log_likelihood` and the cotangents of the parameters, by name.

  It is one pass of the kernel and one adjoint for all observations, and one
  more for each cause.

  Args:
    distribution: (batch...), one whose parameters are its chain's: `PhaseType`,
      `DiscretePhaseType`, the sparse ones, and those of graphs.
    lower: as for `log_likelihood`, as the others.
    upper: see there.
    weights: see there.
    entry: see there.
    cause: see there.
    cotangent: (...), of the result.

  Returns:
    The value (...), and arrays of the shapes of the parameters that are given;
    that of a graph's `params` is (..., d), in the order of its names.

  Raises:
    NotImplementedError: the distribution is another one, or in NumPy the native
      kernel does not run.
    TypeError: as `log_likelihood`.
    ValueError: as `log_likelihood`.

  Example: the slope in the rate, n / rate less the sum of all times.

    >>> from phasic import inference
    >>> from phasic.distributions import PhaseType
    >>> value, bars = inference.log_likelihood_vjp(
    ...   PhaseType([1.0], [[-2.0]]), [0.5, 1.0, 0.25]
    ... )
    >>> print(f"{float(value):.6f} {float(bars['subgenerator'][0, 0]):.6f}")
    -1.420558 0.250000
  """
  data = observations.Observations(lower, upper, weights, entry, cause)
  data.check_fits(distribution)
  names = _parameter_names(distribution)
  value, totals = chain_vjp(distribution, data, cotangent)
  return value, _by_name(distribution, names, totals)


def chain_vjp(
  distribution: Any, data: observations.Observations, cotangent: Any = 1.0
) -> tuple[Any, list[Any]]:
  """Returns the log likelihood and the cotangents of the chain's four parts.

  Args:
    distribution: (batch...), a time until absorption.
    data: what fits it.
    cotangent: (...), of the result.
  """
  batch = _batch(distribution, data)
  weights, bar = _weights(distribution, data, cotangent)
  events, cause = _events(distribution, data)
  values, bars = [], []
  for call in observation_terms.calls(events, cause):
    own = _of_call(call, bar, events)
    value, found = _vjp(call, own, events.chain._DISCRETE)
    values.append(value)
    bars.append(_of_whole_law(found, call.cause, events.chain))
  terms = observation_terms.combined(events, cause, values)
  terms = weights * np.where(weights != 0, terms, 0.0)
  n = static.shape(data.lower)[-1]
  value = np.sum(np.broadcast_to(terms, (*batch, n)), axis=-1)
  totals = [_total(parts) for parts in zip(*bars, strict=True)]
  return structures.as_result(value), totals


def chain_hvp(
  distribution: Any,
  data: observations.Observations,
  tangents: tuple[Any, Any, Any, Any],
) -> list[Any]:
  """Returns how the cotangents of `chain_vjp` change along a tangent.

  Args:
    distribution: a time until absorption, without a batch.
    data: what fits it, (n,).
    tangents: of the chain's four parts, see `chain_jvp`.
  """
  _, bar = _weights(distribution, data, 1.0)
  events, cause = _events(distribution, data)
  bars = []
  for call in observation_terms.calls(events, cause):
    moved = _hvp(
      call,
      _of_cause(tangents, call.cause, events.chain),
      _of_call(call, bar, events),
      events.chain._DISCRETE,
    )
    bars.append(_of_whole_law(moved, call.cause, events.chain))
  return [_total(parts) for parts in zip(*bars, strict=True)]


def chain_jvp(
  distribution: Any,
  data: observations.Observations,
  tangents: tuple[Any, Any, Any, Any],
) -> Any:
  """Returns how log likelihoods, (n,), change along a tangent of the chain.

  Args:
    distribution: a time until absorption, without a batch.
    data: what fits it, (n,).
    tangents: of the chain's four parts, that of edges of their parameters; None
      for zeros.
  """
  events, cause = _events(distribution, data)
  discrete = events.chain._DISCRETE
  moved = [
    _jvp(call, _of_cause(tangents, call.cause, events.chain), discrete)
    for call in observation_terms.calls(events, cause)
  ]
  # Of sums the derivative is that of the parts; there is no offset in it.
  return observation_terms.combined(events._replace(offset=None), cause, moved)


def _batch(distribution: Any, data: observations.Observations) -> static.Shape:
  """Returns the batch shape of a log likelihood."""
  leading = static.shape(data.lower)[:-1]
  return static.broadcast_shapes(distribution._batch_shape(), leading)


def _weights(
  distribution: Any, data: observations.Observations, cotangent: Any
) -> tuple[Any, Any]:
  """Returns weights, and cotangents of the log likelihoods one by one."""
  bar = structures.as_array(cotangent, distribution.dtype, "cotangent")
  batch = _batch(distribution, data)
  bar = operands.broadcast("cotangent", bar, batch)[..., None]
  weights = data.weights
  weights = np.ones_like(data.lower) if weights is None else weights
  return weights, bar * weights


def _events(
  distribution: Any, data: observations.Observations
) -> tuple[chain_events.ChainEvents, Any]:
  """Returns events, and causes; of what does not count nothing is known."""
  lower, upper, _, entry, cause = data.counting()
  _, events = observation_terms.find_events(
    distribution, lower, upper, entry, cause
  )
  assert events is not None
  return events, cause


def _of_call(
  call: observation_terms.KernelCall, bar: Any, events: chain_events.ChainEvents
) -> Any:
  """Returns the cotangents of a call's values, of those of observations."""
  own = bar if call.own is None else np.where(call.own, bar, 0.0)
  if call.cause is None and events.given is not None:
    own = observation_terms.joined(own, -bar)
  return own


def _of_cause(tangents: Any, cause: int | None, chain: Any) -> Any:
  """Returns the tangents of a cause's chain, which has one phase more."""
  if cause is None:
    return tangents
  initial_probs, edges, exits, prob_zero = tangents
  own = cause == chain._cause_of_atom()
  more = np.concatenate([initial_probs, np.zeros_like(initial_probs[..., :1])])
  return more, edges, exits, prob_zero if own else None


def _jvp(
  call: observation_terms.KernelCall, tangents: Any, discrete: bool
) -> Any:
  """Returns how a call's values change along tangents of its chain."""
  names = operands.interval_names(discrete)
  module: Any = discrete_observations if discrete else observations_lib
  initial_probs, matrix, exits, prob_zero = call.model
  _, moved = module.log_likelihood_terms_jvp(
    initial_probs,
    matrix,
    call.lower,
    call.upper,
    tangents=(*tangents[:2], None, None, *tangents[2:]),
    **{names[4]: exits, names[5]: prob_zero},
  )
  return moved


def _parameter_names(distribution: Any) -> dict[str, int]:
  """Returns the parameters that are parts of the chain, with their numbers."""
  given = {
    name
    for name, x in distribution.parameters.items()
    if x is not None and name in distribution.parameter_properties()
  }
  kind = type(distribution)
  if isinstance(distribution, graph_chain.GraphChain):
    places = {"params": 1, "edge_values": 1, "initial_probs": 0}
  elif isinstance(distribution, sparse_phase_type.Sparse):
    places = {"initial_probs": 0, distribution._WEIGHTS: 1, "prob_zero": 3}
  elif (
    isinstance(distribution, absorption_time.AbsorptionTime)
    and kind._chain is absorption_time.AbsorptionTime._chain
  ):
    properties = distribution.parameter_properties()
    places = {name: i for i, name in enumerate(properties)}
  else:
    has_form = hasattr(kind, "as_phase_type")
    form = "as_phase_type() has such ones, and " if has_form else ""
    raise NotImplementedError(
      f"distribution is {kind.__name__}, whose parameters are not its chain's: "
      f"{form}JAX and TensorFlow differentiate log_likelihood in its own"
    )
  return {name: i for name, i in places.items() if name in given}


def _vjp(
  call: observation_terms.KernelCall, cotangent: Any, discrete: bool
) -> tuple[Any, list[Any]]:
  """Returns a call's values and the cotangents of the chain's four parts."""
  names = operands.interval_names(discrete)
  module: Any = discrete_observations if discrete else observations_lib
  initial_probs, matrix, exits, prob_zero = call.model
  value, bars = module.log_likelihood_terms_vjp(
    initial_probs,
    matrix,
    call.lower,
    call.upper,
    cotangent=cotangent,
    wanted=[x for x in names if x not in ("lower", "upper")],
    **{names[4]: exits, names[5]: prob_zero},
  )
  return value, [bars[0], bars[1], bars[4], bars[5]]


def _hvp(
  call: observation_terms.KernelCall,
  tangents: Any,
  cotangent: Any,
  discrete: bool,
) -> list[Any]:
  """Returns how a call's cotangents change along tangents of its chain."""
  names = operands.interval_names(discrete)
  module: Any = discrete_observations if discrete else observations_lib
  initial_probs, matrix, exits, prob_zero = call.model
  moved = module.log_likelihood_terms_hvp(
    initial_probs,
    matrix,
    call.lower,
    call.upper,
    tangents=(*tangents[:2], None, None, *tangents[2:]),
    cotangent=cotangent,
    wanted=[x for x in names if x not in ("lower", "upper")],
    **{names[4]: exits, names[5]: prob_zero},
  )
  return [moved[0], moved[1], moved[4], moved[5]]


def _of_whole_law(bars: list[Any], cause: int | None, chain: Any) -> list[Any]:
  """Returns the cotangents of the chain's parts, of those of a cause's law."""
  if cause is None:
    return bars
  initial_probs, edges, exits, prob_zero = bars
  # The last phase is where the other causes lead.
  initial_probs = initial_probs[..., :-1]
  own = cause == chain._cause_of_atom()
  return [initial_probs, edges, exits, prob_zero if own else None]


def _total(parts: Any) -> Any:
  """Returns the sum of cotangents, None if there are none."""
  given = [x for x in parts if x is not None]
  return sum(given[1:], given[0]) if given else None


def _by_name(
  distribution: Any, names: dict[str, int], bars: list[Any]
) -> dict[str, Any]:
  """Returns the cotangents of parameters in their shapes."""
  arrays = distribution._arrays()
  found = {}
  for name, place in names.items():
    bar = bars[place]
    if name == "params" and "initial_probs" not in names:
      bar = bar + _of_start(distribution.graph, bars)
    x = arrays[name]
    event = distribution.parameter_properties()[name].event_ndims
    own = static.shape(bar)
    if distribution._batch_shape():
      # Without the axis of the observations.
      cut = len(own) - event - 1
      bar = np.reshape(bar, (*own[:cut], *own[cut + 1 :]))
    found[name] = operands.summed(bar, static.shape(x))
  return found


def _of_start(graph: Any, bars: list[Any]) -> Any:
  """Returns what a graph's parameters have of its initial masses."""
  p = graph.num_phases
  coefficients = structures.cast(graph.initial_coefficients, bars[0].dtype)
  found = np.matmul(bars[0][..., None, :], coefficients[:p])[..., 0, :]
  return found + bars[3][..., None] * coefficients[p]
