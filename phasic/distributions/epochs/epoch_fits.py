"""Methods of `Epochs` for data: statistics of paths, given observed times."""

from __future__ import annotations

import math

import numpy as np

from phasic.distributions.epochs import epoch_phases
from phasic.distributions.epochs import epoch_statistics
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.internal.arrays import ArrayLike
from phasic.math.likelihood import expected_statistics
from phasic.math.model import function_kinds


class EpochFits(epoch_phases.EpochPhases):
  """Expected statistics of the paths in each epoch, given observed times."""

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
    expected absorptions. Sums over epochs are statistics of the entire paths.
    All terms are positive.

    Args:
      value: t, (...). Dimensions that the batch lacks are summed over. An exact
        time at a boundary belongs to the later epoch.
      weights: w, broadcast to the times and the batch; None for ones. Times of
        weight zero are ignored.
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
    counts = structures.cast(self._argument(given, "weights"), wide)
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
    return tuple(
      expected_statistics.ExpectedStatistics._make(self._shown(x) for x in one)
      for one in found
    )

  def _shown(self, x: Array) -> Array:
    """Converts a statistic to a result in the distribution's dtype."""
    return self._statistic(
      "expected_statistics", structures.cast(x, self.dtype)
    )
