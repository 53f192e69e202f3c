"""The hooks of `Epochs`, which public methods call, and its parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar, Self

import numpy as np
import numpy as onp

from phasic.distributions.absorption import comparable
from phasic.distributions.absorption import competing_risks
from phasic.distributions.absorption import phase_type
from phasic.distributions.base import conversions
from phasic.distributions.base import inferring
from phasic.distributions.base import kept_results
from phasic.distributions.base import parameter_properties
from phasic.distributions.base import samples
from phasic.distributions.base import special_methods
from phasic.distributions.base import structure
from phasic.distributions.base.parameter_properties import ParameterValue
from phasic.distributions.epochs import epoch_arguments
from phasic.distributions.epochs import epoch_levels
from phasic.distributions.epochs import epoch_moments
from phasic.distributions.epochs import epoch_paths
from phasic.distributions.epochs import epoch_stages
from phasic.distributions.epochs import epoch_statistics
from phasic.distributions.epochs import epoch_values
from phasic.graphs.core import graph as graph_lib
from phasic.graphs.parts import contents
from phasic.internal import halves
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array, ArrayLike, Result, SanitizedSeed
from phasic.math.elimination import chain_calls
from phasic.math.model import function_kinds
from phasic.math.model import value_checks
from phasic.math.numeric import array_utils
from phasic.math.quadrature import quadrature_points

_PROPERTIES = {
  "params": parameter_properties.ParameterProperties(
    1, "parameters", optional=True
  ),
  "boundaries": parameter_properties.ParameterProperties(
    1, "strictly increasing", fitted=False, jumps=True
  ),
  "edge_values": parameter_properties.ParameterProperties(
    1, "nonnegative", optional=True
  ),
}


class EpochHooks(comparable.Comparable, kept_results.Keeper):
  """Stores the arrays of each epoch under names such as params[0]."""

  _MAPPINGS = epoch_arguments.PER_EPOCH
  # The stages of the epochs, stored in the object that `_for_one_call` returns.
  _stages_of_call: ClassVar[list[epoch_stages.Stage] | None] = None

  @classmethod
  def _parameter_properties(cls) -> parameter_properties.Properties:
    return _PROPERTIES

  @classmethod
  def _children(cls) -> tuple[str, ...]:
    return ("graphs", "state_maps", *super()._children())

  def _count(self) -> int:
    """Returns the number of epochs."""
    return epoch_arguments.epoch_count(self._parameters["boundaries"])

  def _graphs(self) -> tuple[graph_lib.Graph, ...]:
    """Returns the graph of each epoch."""
    given = self._parameters["graphs"]
    return given if isinstance(given, tuple) else (given,) * self._count()

  def _per_epoch(self, argument: str) -> tuple[ParameterValue, ...]:
    given = self._parameters[argument]
    return tuple(epoch_arguments.per_epoch(argument, given, self._count()))

  def _places(self) -> dict[str, tuple[str, int]]:
    """Returns the parameter and the epoch of each array, by its name."""
    return {
      epoch_arguments.name(argument, k): (argument, k)
      for argument in epoch_arguments.PER_EPOCH
      for k, x in enumerate(self._per_epoch(argument))
      if argument == "params" or x is not None
    }

  def _arrays(self) -> dict[str, ParameterValue]:
    """Returns the arrays of each epoch, None for no params, and boundaries."""
    arrays: dict[str, ParameterValue] = {}
    graphs = self._graphs()
    for argument in epoch_arguments.PER_EPOCH:
      given = self._parameters[argument]
      if structures.is_variable(given):
        given = structures.as_array(given, None, argument)
      for k, x in enumerate(
        epoch_arguments.per_epoch(argument, given, len(graphs))
      ):
        name = epoch_arguments.name(argument, k)
        if argument == "params":
          arrays[name] = None if x is None else graphs[k].params_array(x)
        elif x is not None:
          arrays[name] = structures.as_array(x, None, name)
    return {**arrays, "boundaries": self._ends()}

  def _ends(self) -> Array:
    """Returns the boundaries; a variable is read."""
    boundaries = self._parameters["boundaries"]
    if structures.is_variable(boundaries):
      return structures.as_array(boundaries, None, "boundaries")
    return boundaries

  def _array_properties(self) -> parameter_properties.Properties:
    each = {
      name: _PROPERTIES[argument]
      for name, (argument, _) in self._places().items()
    }
    return {**each, "boundaries": _PROPERTIES["boundaries"]}

  def _given_array(self, name: str) -> ParameterValue:
    if name == "boundaries":
      return self._parameters["boundaries"]
    argument, k = self._places()[name]
    return self._per_epoch(argument)[k]

  def _graph_of(self, name: str) -> graph_lib.Graph:
    return self._graphs()[self._places()[name][1]]

  def _with_arrays(
    self, arrays: Mapping[str, object], **options: object
  ) -> Self:
    """Returns a distribution with other arrays, named as params[0]."""
    places = self._places()
    changed = {x: y for x, y in arrays.items() if x not in places}
    for argument in epoch_arguments.PER_EPOCH:
      each = list(self._per_epoch(argument))
      for name, (parameter, k) in places.items():
        if parameter == argument and name in arrays:
          each = [*each[:k], arrays[name], *each[k + 1 :]]
      changed[argument] = each
    return self.copy(**changed, **options)

  def _sliced(
    self, index: special_methods.Index, batch: static.Shape | None = None
  ) -> Self:
    properties = self._array_properties()
    sliced = special_methods.slice_parameters(
      properties, self._arrays(), index, batch
    )
    # `_arrays` converts half precision to float32. The slice gets the half
    # dtype of the distribution again.
    return self._with_arrays(halves.result(sliced, conversions.half_of(self)))

  def _found_batch(self) -> static.Shape:
    # All arrays have one dimension after the batch dimensions.
    arrays = [x for x in self._arrays().values() if x is not None]
    return static.broadcast_shapes(*(static.shape(x)[:-1] for x in arrays))

  def _is_plausible(self, known: Mapping[str, ParameterValue]) -> bool:
    return epoch_arguments.are_plausible(
      self._graphs(), known["params"], known["edge_values"]
    )

  def _for_one_call(self) -> Self:
    if self._stages_of_call is not None:
      return self
    shared = self._unflatten(self._parts())
    # In TensorFlow distributions are modules, whose ordinary assignment would
    # look for variables in the value.
    object.__setattr__(shared, "_stages_of_call", self._stages())
    return shared

  def _stages(self) -> list[epoch_stages.Stage]:
    """Returns a stage for each epoch; with `validate_args` they are checked."""
    if self._stages_of_call is not None:
      return self._stages_of_call
    return kept_results.derived(
      self,
      lambda: epoch_stages.stages(self._history()),
      epoch_stages.arrays_of,
    )

  def _origin(self) -> tuple[object, ...]:
    arrays = self._leaves()
    # Users can change a mapping that they see: its names and arrays are listed
    # too, so that a change is noticed.
    return (*self._parameters.values(), *arrays, *arrays.values())

  def _origin_arrays(self) -> tuple[object, ...]:
    # A graph that is not fixed is listed here as well. As it is not a read-only
    # array, nothing that is derived from it is kept.
    changing = (graph for graph in self._graphs() if not graph._is_fixed())
    return (*changing, *self._leaves().values())

  def _leaves(self) -> dict[str, object]:
    given = self._parameters
    return structure.leaves({name: given[name] for name in self._properties()})

  def _history(self) -> epoch_stages.History:
    """Returns the epochs' chains; with `validate_args` they are checked."""
    return epoch_stages.history(
      self._graphs(),
      self._arrays(),
      self._parameters["state_maps"],
      self.validate_args,
    )

  def _stages_of(self, cause: str | None) -> list[epoch_stages.Stage]:
    """Returns the stages of absorption by one cause."""
    return epoch_values.stages_of(self._stages(), self._graphs(), cause)

  # The next three methods also accept other stages, such as the stages of one
  # cause.

  def _prob(
    self, value: Array, stages: epoch_values.Stages | None = None
  ) -> Array:
    return self._at_times(epoch_values.prob, value, stages)

  def _log_prob(
    self, value: Array, stages: epoch_values.Stages | None = None
  ) -> Array:
    return self._at_times(epoch_values.log_prob, value, stages)

  def _cdf(
    self, value: Array, stages: epoch_values.Stages | None = None
  ) -> Array:
    total = self._at_times(epoch_values.cdf, value, stages)
    return array_utils.at_most(total, 1.0)

  def _log_cdf(self, value: Array) -> Array:
    total = self._at_times(epoch_values.log_cdf, value)
    return array_utils.at_most(total, 0.0)

  def _survival_function(self, value: Array) -> Array:
    return self._at_times(epoch_values.survival_function, value)

  def _log_survival_function(self, value: Array) -> Array:
    return self._at_times(epoch_values.log_survival_function, value)

  def _hazard_function(self, value: Array) -> Array:
    return self._at_times(epoch_values.hazard_function, value)

  def _log_hazard_function(self, value: Array) -> Array:
    return self._at_times(epoch_values.log_hazard_function, value)

  def _quantile(self, value: Array) -> Array:
    return self._at_times(epoch_moments.quantile, value)

  def _quantile_log_survival(self, value: Array) -> Array:
    return self._at_times(epoch_moments.quantile_log_survival, value)

  def _quantile_log_cdf(self, value: Array) -> Array:
    return self._at_times(epoch_moments.quantile_log_cdf, value)

  def _laplace_transform(self, u: Array) -> Array:
    return self._at_times(epoch_moments.laplace_transform, u)

  def _moment_generating_function(self, s: Array) -> Array:
    return self._at_times(epoch_moments.moment_generating_function, s)

  def _mean_residual_life(self, value: Array) -> Array:
    return self._at_times(epoch_moments.mean_residual_life, value)

  def _limited_expected_value(self, value: Array) -> Array:
    return self._at_times(epoch_moments.limited_expected_value, value)

  def _mean(self) -> Array:
    times = epoch_levels.sojourn_times(self._history())
    first, *others = (np.sum(x, axis=-1) for x in times)
    return self._finished(sum(others, first))

  def _variance(self) -> Array:
    return self._finished(epoch_moments.variance(self._stages()))

  def _moment(self, k: int) -> Array:
    """Computes E X^k, k times the integral of t^(k-1) P(X > t)."""
    k = chain_calls.checked_order(k)
    return self._finished(epoch_moments.moment(self._stages(), k))

  def _sample_n(self, n: int, seed: SanitizedSeed) -> Array:
    return epoch_paths.sample_times(
      n, seed, self._stages(), self._batch_shape(), self.dtype
    )

  def _nodes(self, batch: static.Shape) -> quadrature_points.QuadraturePoints:
    return epoch_moments.nodes(
      self._stages(), batch, self._log_prob, self.dtype
    )

  def _jumps(self) -> Array | None:
    return self._ends() if self._count() > 1 else None

  def _refined(self, other: object, jumps: Array) -> Self:
    ends = self._ends()
    known = static.concrete(ends), static.concrete(jumps)
    if ends is jumps or (
      known[0] is not None
      and known[1] is not None
      and onp.array_equal(known[0], known[1])
    ):
      return self
    if any(x is None or onp.ndim(x) > 1 for x in known):
      self._missing(
        f"divergence from {type(other).__name__}",
        "different boundaries must be concrete, and without a batch",
      )
    boundaries, parts, maps = epoch_arguments.divided(
      onp.asarray(known[0]),
      onp.asarray(known[1]),
      self._parameters["state_maps"],
    )
    graphs = self._graphs()
    params, edge_values = (
      self._per_epoch(argument) for argument in epoch_arguments.PER_EPOCH
    )
    return self.copy(
      graphs=[graphs[k] for k in parts],
      params=[params[k] for k in parts],
      edge_values=[edge_values[k] for k in parts],
      boundaries=boundaries,
      state_maps=maps,
    )

  def _support(self) -> samples.Support:
    return samples.Support("nonnegative")

  def _check_value(self, value: Array) -> Array:
    return value_checks.check_times(value)

  def _late(self) -> onp.ndarray:
    boundaries = comparable.host(self._ends())
    return onp.asarray(1.0 + 2.0 * onp.max(boundaries, initial=0.0))

  def _reasons(self, value: ArrayLike, method: str) -> onp.ndarray:
    kind = function_kinds.kind_of(method)
    value = self._converted(value)
    times = structures.cast(value, static.wide_float())
    reasons = epoch_values.reasons(kind, self._stages(), times)
    return comparable.where_unknown(getattr(self, f"_{method}")(value), reasons)

  def _causes(self) -> tuple[str | None, ...]:
    """Returns the names of the causes in all epochs."""
    every = [cause for graph in self._graphs() for cause in graph.causes]
    return tuple(dict.fromkeys(every))

  def _known_cause(self, cause: str | contents.Absorbed | None) -> str | None:
    """Returns the name of a cause; raises ValueError if there is none."""
    causes = self._causes()
    return causes[competing_risks.cause_number(cause, causes, "the graphs'")]

  def _log_observed(self, lower: Array, upper: Array) -> Array | None:
    stages = epoch_stages.proper_stages(self._stages())
    if upper is lower:
      return self._log_prob(lower, stages)
    return self._log_of_ends(stages, lower, upper)

  def _log_observed_by(
    self, lower: Array, upper: Array, cause: str | None
  ) -> Array:
    stages = epoch_stages.proper_stages(self._stages())
    by_cause = epoch_values.stages_of(stages, self._graphs(), cause)
    return self._log_of_ends(by_cause, lower, upper)

  def _log_of_ends(
    self, stages: epoch_values.Stages, lower: Array, upper: Array
  ) -> Array:
    low, high = (
      structures.cast(x, static.wide_float()) for x in (lower, upper)
    )
    pieces = epoch_statistics.pieces(stages, low, high)
    logs = epoch_statistics.log_of_pieces(stages, pieces)
    # A density may be above one.
    logs = np.where(low == high, logs, array_utils.at_most(logs, 0.0))
    return self._finished(logs, static.shape(lower))

  def _em_update(
    self,
    lower: Array,
    upper: Array | None,
    weights: Array | None,
    entry: Array | None,
    cause: Array | None,
  ) -> Self:
    shape = self._batch_shape()
    batch = static.broadcast_shapes(shape, static.shape(lower)[:-1])
    beside = self[..., None] if shape else self
    stages = beside._stages()
    by_cause = (
      {}
      if cause is None
      else {name: beside._stages_of(name) for name in self._causes()}
    )
    observed = epoch_statistics.observed(
      stages, by_cause, lower, upper, weights, entry, cause
    )
    each = epoch_statistics.statistics(
      stages, self._parameters["state_maps"], observed, (*batch, 1)
    )
    changed: dict[str, ParameterValue] = {}
    for k, (chain, given) in enumerate(zip(self._chains(), each, strict=True)):
      paths = epoch_statistics.sufficient(given, batch, self.dtype)
      step = inferring.m_step(chain, paths)
      for argument in epoch_arguments.PER_EPOCH:
        array = step.parameters[argument]
        if array is not None:
          changed[epoch_arguments.name(argument, k)] = array
    return self._with_arrays(changed)

  def _m_step_on_host(self) -> bool:
    return any(inferring.m_step_on_host(chain) for chain in self._chains())

  def _chains(self) -> list[phase_type.GraphPhaseType]:
    """Returns a chain for each epoch, whose parameters an M-step updates.

    Only the first one starts as its graph says, as a function of parameters.
    """
    chains = []
    arrays = self._arrays()
    for k, graph in enumerate(self._graphs()):
      theta, values = (
        arrays.get(epoch_arguments.name(argument, k))
        for argument in epoch_arguments.PER_EPOCH
      )
      given = self._given_array(epoch_arguments.name("params", k))
      if isinstance(given, Mapping):
        theta = given
      start = None
      if k > 0:
        p = graph.num_phases
        start = np.zeros((p,), dtype=self.dtype) + 1.0 / p
      chains.append(phase_type.GraphPhaseType(graph, theta, values, start))
    return chains

  def _at_times(
    self,
    function: Callable[[epoch_values.Stages, Array], Array],
    value: Array,
    stages: epoch_values.Stages | None = None,
  ) -> Array:
    """Evaluates a function of the stages, and of times or other numbers."""
    numbers = structures.cast(value, static.wide_float())
    stages = self._stages() if stages is None else stages
    return self._finished(function(stages, numbers), static.shape(value))

  def _phase_result(
    self, name: str, parts: list[Array], by_epoch: bool, times: Array | None
  ) -> Result:
    """Returns results at times for the phases, joined or added over epochs."""
    shape = () if times is None else static.shape(times)
    shape = static.broadcast_shapes(shape, self._batch_shape())
    whole = epoch_arguments.over_phases(
      name, self._graphs(), parts, by_epoch, shape
    )
    return self._statistic(name, structures.cast(whole, self.dtype), times)

  def _finished(self, x: Array, shape: static.Shape = ()) -> Array:
    """Broadcasts a result to value and batch, and casts it to `dtype`."""
    shape = static.broadcast_shapes(shape, self._batch_shape())
    return structures.cast(array_utils.expanded(x, shape), self.dtype)
