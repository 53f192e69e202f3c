"""Methods of `Epochs` for data: statistics of paths, and the EM algorithm."""

from __future__ import annotations

from collections.abc import Mapping
import math
from typing import Self

import numpy as np

from phasic.distributions.absorption import phase_type
from phasic.distributions.base import chain_events
from phasic.distributions.base import inferring
from phasic.distributions.base import nan_reasons
from phasic.distributions.base.parameter_properties import ParameterValue
from phasic.distributions.epochs import epoch_arguments
from phasic.distributions.epochs import epoch_causes
from phasic.distributions.epochs import epoch_intervals
from phasic.distributions.epochs import epoch_phases
from phasic.distributions.epochs import epoch_stages
from phasic.distributions.epochs import epoch_statistics
from phasic.internal import static
from phasic.internal import structures
from phasic.internal import user_warnings
from phasic.internal.arrays import Array
from phasic.internal.arrays import ArrayLike
from phasic.math.likelihood import expected_statistics
from phasic.math.m_step import rate_updates
from phasic.math.model import function_kinds
from phasic.math.numeric import array_utils


class EpochFits(epoch_phases.EpochPhases):
  """Expected statistics of the paths in each epoch, and steps of EM."""

  def _with_arrays(
    self, arrays: Mapping[str, object], **options: object
  ) -> Self:
    """Returns a distribution with other arrays, named as params[0]."""
    raise NotImplementedError(
      f"{type(self).__name__} must define the method _with_arrays"
    )

  def expected_statistics(
    self,
    value: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    kind: str = "log_prob",
    upper: ArrayLike | None = None,
  ) -> tuple[expected_statistics.ExpectedStatistics, ...]:
    """Computes expected path statistics of each epoch, given observations.

    They are those of `math.phase_type.expected_statistics`, of the parts of the
    paths in each epoch: in an epoch `starts` are the expected numbers of paths
    that are in a phase when it begins, `sojourns` the expected times in the
    phases, `jumps` the expected passages of the edges of its graph, `exits` the
    expected absorptions. Sums over epochs are statistics of the entire paths. A
    path that is observed up to a boundary has begun the epoch after it. All terms
    are positive.

    Args:
      value: t, (...). Dimensions that the batch lacks are summed over. An exact
        time at a boundary belongs to the later epoch.
      weights: w, broadcast to the times and the batch; None for ones. They are
        >= 0 or, of the last three kinds, of any sign. Times of weight zero are
        ignored.
      kind: what is observed: "log_prob" of t itself, "log_survival_function"
        that X > t, of the path up to t, "log_cdf" that X <= t, of the entire
        path. "prob", "survival_function" and "cdf" give the same, times the
        probability of that.
      upper: u, (...), not below the times; None if all times have one kind.
        With it an observation is exact where t == u, right-censored where u is
        inf, that X <= u where t < 0, else that t < X <= u; kind is not used.

    Returns:
      `math.ExpectedStatistics` for each epoch, with the batch shape of the
      distribution and, for jumps, one number for each edge of the epoch's graph.
      They are NaN where an observation is impossible or cannot be computed. They
      have no derivatives.

    Raises:
      NotImplementedError: the native kernel does not run, or the statistics are
        differentiated.
      TypeError: dtypes differ.
      ValueError: shapes do not fit, or the kind is unknown.

    Example: two lineages that merged at time 1.5, in a history with a boundary
      at time 1.

      >>> from phasic import graphs
      >>> from phasic.distributions import Epochs
      >>> pair = graphs.models.kingman(2)
      >>> history = Epochs(pair, [[1.0], [0.5]], [1.0])
      >>> given = history.expected_statistics(1.5)
      >>> [f"{float(epoch.sojourns[0]):.6f}" for epoch in given]
      ['1.000000', '0.500000']
      >>> [f"{float(epoch.jumps[0]):.6f}" for epoch in given]
      ['0.000000', '1.000000']
    """
    function = function_kinds.kind_of(kind, "kind")
    wide = static.wide_float()
    times = structures.cast(self._argument(value, "value"), wide)
    shape = static.shape(times)
    if upper is not None:
      ends = structures.cast(self._argument(upper, "upper"), wide)
      lower = times
    elif function in ("log_density", "density"):
      lower, ends = times, times
    elif function in ("log_survival", "survival"):
      lower, ends = times, np.zeros_like(times) + math.inf
    else:
      # As in `math`, sojourns of all paths are not known to be finite.
      ends = np.where(times < math.inf, times, math.nan)
      lower = np.zeros_like(times) - 1.0
    given = 1.0 if weights is None else weights
    rule = expected_statistics.weight_rule(function, upper is not None)
    counts = self._checked("expected_statistics", given, "weights", rule)
    counts = np.where(rule.holds(counts), counts, math.nan)
    counts = structures.cast(counts, wide)
    batch = self._batch_shape()
    try:
      shape = static.broadcast_shapes(
        shape, static.shape(ends), static.shape(counts), batch
      )
    except ValueError:
      raise ValueError(
        f"value has shape {shape}, upper {static.shape(ends)} and weights "
        f"{static.shape(counts)}: they must broadcast with each other and the "
        f"batch shape {batch}"
      ) from None
    lower, ends, counts = (
      np.broadcast_to(x, shape) for x in (lower, ends, counts)
    )
    stages = self._stages()
    whole = upper is None and not function.startswith("log")
    observed = epoch_statistics.Observed(stages, lower, ends, counts)
    found = epoch_statistics.statistics(
      stages, self._parameters["state_maps"], [observed], batch, whole
    )
    missing = [x for one in found for x in one if array_utils.has_nan(x)]
    given = (times, times if upper is None else ends, counts)
    if missing and not any(map(array_utils.has_nan, given)):
      nan_reasons.warn(self, "expected_statistics", missing[0])
    with user_warnings.derived():  # One warning for all of them.
      return tuple(
        expected_statistics.ExpectedStatistics._make(map(self._shown, one))
        for one in found
      )

  def _log_observed(self, lower: Array, upper: Array) -> Array | None:
    stages = epoch_stages.of_data(self._stages())
    if upper is lower:
      return self._log_prob(lower, stages)
    return self._log_of_ends(stages, lower, upper)

  def _log_observed_by(
    self, lower: Array, upper: Array, cause: str | None
  ) -> Array:
    stages = epoch_stages.of_data(self._stages())
    own = epoch_causes.stages_of(stages, self.graphs, cause)
    return self._log_of_ends(own, lower, upper)

  def _log_of_ends(
    self, stages: list[epoch_stages.Stage], lower: Array, upper: Array
  ) -> Array:
    low, high = (
      structures.cast(x, static.wide_float()) for x in (lower, upper)
    )
    pieces = epoch_intervals.pieces(stages, low, high)
    found = epoch_intervals.log_prob(stages, pieces)
    # A density may be above one.
    found = np.where(low == high, found, array_utils.at_most(found, 0.0))
    return self._finished(found, static.shape(lower))

  def _em_update(
    self,
    lower: Array,
    upper: Array | None,
    weights: Array | None,
    entry: Array | None,
    cause: Array | None,
  ) -> Self:
    own = self._batch_shape()
    batch = static.broadcast_shapes(own, static.shape(lower)[:-1])
    beside = self[..., None] if own else self
    observed = beside._observed(lower, upper, weights, entry, cause)
    found = epoch_statistics.statistics(
      beside._stages(), self._parameters["state_maps"], observed, (*batch, 1)
    )
    changed: dict[str, ParameterValue] = {}
    for k, (chain, given) in enumerate(zip(self._chains(), found, strict=True)):
      step = inferring.m_step(chain, _of_paths(given, batch, self.dtype))
      for of in ("params", "edge_values"):
        array = step.parameters[of]
        if array is not None:
          changed[epoch_arguments.name(of, k)] = array
    return self._with_arrays(changed)

  def _m_step_on_host(self) -> bool:
    return any(inferring.m_step_on_host(chain) for chain in self._chains())

  def _chains(self) -> list[phase_type.GraphPhaseType]:
    """Returns a chain for each epoch, whose parameters an M-step updates.

    Only the first one starts as its graph says, as a function of parameters.
    """
    found = []
    arrays = self._arrays()
    for k, graph in enumerate(self.graphs):
      theta, values = (
        arrays.get(epoch_arguments.name(of, k))
        for of in ("params", "edge_values")
      )
      given = self._given_array(epoch_arguments.name("params", k))
      if isinstance(given, Mapping):
        theta = given
      start = None
      if k > 0:
        p = graph.num_phases
        start = np.zeros((p,), dtype=self.dtype) + 1.0 / p
      found.append(phase_type.GraphPhaseType(graph, theta, values, start))
    return found

  def _observed(
    self,
    lower: Array,
    upper: Array | None,
    weights: Array | None,
    entry: Array | None,
    cause: Array | None,
  ) -> list[epoch_statistics.Observed]:
    """Returns observations by cause, and unseen ones before times of entry.

    For each observation that is made only where X > e, P(X <= e) / P(X > e)
    unseen ones are expected, see `inference.em.e_step`.
    """
    stages, wide = self._stages(), static.wide_float()
    lower = structures.cast(lower, wide)
    upper = lower if upper is None else structures.cast(upper, wide)
    if weights is None:
      weights = np.ones_like(lower)
    weights = structures.cast(weights, wide)
    unseen: list[epoch_statistics.Observed] = []
    if entry is not None:
      entry = structures.cast(entry, wide)
      lower, upper, offset = chain_events.cut(lower, upper, entry, upper)
      possible = (weights == 0.0) | (offset > -math.inf)
      weights = np.where(possible, weights, math.nan)
      unseen = [_unseen(stages, entry, weights)]
    if cause is None:
      seen = epoch_statistics.Observed(stages, lower, upper, weights)
      return [seen, *unseen]
    found = [
      epoch_statistics.Observed(
        stages, lower, upper, np.where(cause < 0, weights, 0.0)
      )
    ]
    for number, name in enumerate(self._causes()):
      of_it = np.where(cause == number, weights, 0.0)
      own = epoch_causes.stages_of(stages, self.graphs, name)
      found.append(epoch_statistics.Observed(own, lower, upper, of_it))
    return [*found, *unseen]

  def _shown(self, x: Array) -> Array:
    """Converts a statistic to a result in the distribution's dtype."""
    return self._statistic(
      "expected_statistics", structures.cast(x, self.dtype)
    )


def _unseen(
  stages: list[epoch_stages.Stage], entry: Array, weights: Array
) -> epoch_statistics.Observed:
  """Returns the unseen observations before times of entry."""
  none = (entry < 0.0) | (weights == 0.0)
  until = np.where(entry < 0.0, 1.0, entry)
  before, later = np.zeros_like(until) - 1.0, np.zeros_like(until) + math.inf
  logs = [
    epoch_intervals.log_prob(stages, epoch_intervals.pieces(stages, start, end))
    for start, end in ((before, until), (until, later))
  ]
  number = np.where(none, 0.0, weights * np.exp(logs[0] - logs[1]))
  start, end = (
    np.broadcast_to(x, static.shape(number)) for x in (before, until)
  )
  return epoch_statistics.Observed(stages, start, end, number)


def _of_paths(
  given: expected_statistics.ExpectedStatistics,
  batch: static.Shape,
  dtype: str,
) -> rate_updates.SufficientStatistics:
  """Converts statistics (batch..., 1, p) to those that an M-step takes."""
  rank = len(batch)
  starts, sojourns, jumps, exits, atom = (
    structures.cast(
      np.reshape(x, (*batch, *static.shape(x)[rank + 1 :])), dtype
    )
    for x in given
  )
  return rate_updates.SufficientStatistics(
    starts, sojourns, jumps, exits, np.zeros_like(exits), atom
  )
