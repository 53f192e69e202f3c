"""Methods of `Epochs`, computed from the chains of its epochs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy as onp

from phasic.distributions.absorption import comparable
from phasic.distributions.base import supports
from phasic.distributions.epochs import epoch_moments
from phasic.distributions.epochs import epoch_nodes
from phasic.distributions.epochs import epoch_quantiles
from phasic.distributions.epochs import epoch_stages
from phasic.distributions.epochs import epoch_transforms
from phasic.distributions.epochs import epoch_values
from phasic.internal import random
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.internal.arrays import ArrayLike
from phasic.internal.arrays import SanitizedSeed
from phasic.math.elimination import chain_calls
from phasic.math.likelihood import diagnosis
from phasic.math.likelihood import hazards
from phasic.math.model import function_kinds
from phasic.math.model import operands
from phasic.math.model import value_checks
from phasic.math.numeric import array_utils
from phasic.math.numeric import special
from phasic.math.quadrature import quadrature_points
from phasic.math.sampling import jump_chain

# Its exponential is in the range of all dtypes.
_LARGEST_LOG = 80.0
_NO_START = (
  "boundaries: the state distribution at one before it cannot be computed"
)
_ADVICE = (
  "samples of Epochs have no derivative (they are not reparameterized): "
  "differentiate quantile(u) at uniform random numbers u, or apply stop_gradient "
  "to the sample"
)


class EpochMethods(comparable.Comparable):
  """The methods of `Epochs`, computed from the stages of its epochs."""

  def _stages(self) -> list[epoch_stages.Stage]:
    """Returns a stage for each epoch; with `validate_args` they are checked."""
    raise NotImplementedError(
      f"{type(self).__name__} must define the method _stages"
    )

  def _ends(self) -> Array:
    """Returns the boundaries; a variable is read."""
    raise NotImplementedError(
      f"{type(self).__name__} must define the method _ends"
    )

  # These three take other stages too, such as those of one cause.

  def _prob(
    self, value: Array, stages: Sequence[epoch_stages.Stage] | None = None
  ) -> Array:
    return self._in_epochs(
      value,
      lambda s, t: np.exp(s.log_mass) * epoch_values.of_kind("density", s, t),
      stages,
    )

  def _log_prob(
    self, value: Array, stages: Sequence[epoch_stages.Stage] | None = None
  ) -> Array:
    return self._in_epochs(
      value,
      lambda s, t: epoch_values.log_of_stage("log_density", s, t),
      stages,
    )

  def _survival_function(self, value: Array) -> Array:
    return self._in_epochs(
      value,
      lambda s, t: np.exp(s.log_mass) * epoch_values.of_kind("survival", s, t),
    )

  def _log_survival_function(self, value: Array) -> Array:
    return self._in_epochs(
      value,
      lambda s, t: epoch_values.log_of_stage("log_survival", s, t),
    )

  def _hazard_function(self, value: Array) -> Array:
    return self._in_epochs(
      value,
      lambda s, t: epoch_values.hazard_of_stage(hazards.hazard_function, s, t),
    )

  def _log_hazard_function(self, value: Array) -> Array:
    return self._in_epochs(
      value,
      lambda s, t: epoch_values.hazard_of_stage(
        hazards.log_hazard_function, s, t
      ),
    )

  def _cdf(
    self, value: Array, stages: Sequence[epoch_stages.Stage] | None = None
  ) -> Array:
    """Sums the probabilities of absorption in each epoch up to a time."""

    def add(
      before: Array | float, stage: epoch_stages.Stage, t: Array
    ) -> Array:
      return before + np.exp(stage.log_mass) * epoch_values.of_kind(
        "cdf", stage, t
      )

    total = self._accumulated(value, add, 0.0, stages)
    return array_utils.at_most(total, 1.0)

  def _log_cdf(self, value: Array) -> Array:
    def add(before: Array | None, stage: epoch_stages.Stage, t: Array) -> Array:
      if before is None:
        total = stage.log_mass + epoch_values.of_kind("log_cdf", stage, t)
        return epoch_values.seen("log_cdf", stage, t, total)
      # At a boundary the part of the later epoch is zero; its logarithm has no
      # derivatives of second order there.
      at_start = t == 0.0
      later = np.where(at_start, epoch_values.time_within(stage), t)
      own = stage.log_mass + epoch_values.of_kind("log_cdf", stage, later)
      ratio = np.exp(np.minimum(stage.log_mass - before, _LARGEST_LOG))
      none = np.where(at_start, t, 0.0)
      begun = np.log1p(ratio * epoch_values.of_kind("cdf", stage, none))
      total = np.where(at_start, before + begun, special.logaddexp(before, own))
      return epoch_values.seen("log_cdf", stage, t, total)

    return array_utils.at_most(self._accumulated(value, add, None), 0.0)

  def _moment(self, k: int) -> Array:
    """Computes E X^k, k times the integral of t^(k-1) P(X > t)."""
    k = chain_calls.checked_order(k)
    return self._finished(epoch_moments.moment(self._stages(), k))

  def _variance(self) -> Array:
    return self._finished(epoch_moments.variance(self._stages()))

  def _quantile(self, value: Array) -> Array:
    u = structures.cast(value, static.wide_float())
    return self._inverse(value, *special.log_both(u))

  def _quantile_log_survival(self, value: Array) -> Array:
    log_survival = structures.cast(value, static.wide_float())
    return self._inverse(value, special.log1mexp(log_survival), log_survival)

  def _quantile_log_cdf(self, value: Array) -> Array:
    log_cdf = structures.cast(value, static.wide_float())
    return self._inverse(value, log_cdf, special.log1mexp(log_cdf))

  def _inverse(
    self, value: Array, log_cdf: Array, log_survival: Array
  ) -> Array:
    found = epoch_quantiles.quantile(self._stages(), log_cdf, log_survival)
    return self._finished(found, static.shape(value))

  def _nodes(self, batch: static.Shape) -> quadrature_points.QuadraturePoints:
    return epoch_nodes.of_stages(
      self._stages(), batch, self._log_prob, self.dtype
    )

  def _laplace_transform(self, u: Array) -> Array:
    u = structures.cast(u, static.wide_float())
    found = epoch_transforms.laplace_transform(self._stages(), u)
    return self._finished(found, static.shape(u))

  def _moment_generating_function(self, s: Array) -> Array:
    s = structures.cast(s, static.wide_float())
    found = epoch_transforms.moment_generating_function(self._stages(), s)
    return self._finished(found, static.shape(s))

  def _late(self) -> onp.ndarray:
    boundaries = comparable.host(self._ends())
    return onp.asarray(1.0 + 2.0 * onp.max(boundaries, initial=0.0))

  def _reasons(self, value: ArrayLike, method: str) -> onp.ndarray:
    """Returns why a method gives NaN at each value, "ok" where it does not.

    The reason is that of the chain in the epoch of the value, or that mass lost
    at a boundary might matter.
    """
    kind = function_kinds.kind_of(method)
    value = self._converted(value)
    times = structures.cast(value, static.wide_float())
    parts: list[tuple[onp.ndarray, Array]] = []
    before = onp.asarray("ok")  # why the start of the next epoch is not known
    for stage in self._stages():
      if parts:
        unknown = onp.any(onp.isnan(comparable.host(stage.initial)), axis=-1)
        lost = (before == "ok") & unknown
        before = onp.where(lost, _NO_START, before)
      local, later = epoch_values.since(stage, times)
      chain = (stage.initial, stage.edges)
      own = diagnosis.reasons(kind, (*chain, local, None, stage.prob_zero))
      own = onp.where((own == "ok") | (before == "ok"), own, before)
      parts.append((own, later))
      if stage.length is not None:
        ends = (*chain, stage.length, None, stage.prob_zero)
        why = diagnosis.reasons("log_survival", ends)
        before = onp.where(before == "ok", why, before)
    found, _ = parts[0]
    for own, later in parts[1:]:
      found = onp.where(comparable.host(later), own, found)
    lost = "value: mass lost at a boundary might matter there"
    found = onp.where(found == "ok", lost, found)
    return comparable.where_unknown(getattr(self, f"_{method}")(value), found)

  def _sample_n(self, n: int, seed: SanitizedSeed) -> Array:
    """Returns samples, of the shape (n, batch).

    Each stage has its own absorption time, independent of the others given the
    initial distribution. The first one that falls in its epoch is the sample.
    """
    stages = self._stages()
    seeds = random.split_seed(seed, len(stages))
    batch = self._batch_shape()
    result: Array | None = None
    for one, stage in list(zip(seeds, stages))[::-1]:
      p = static.shape(stage.initial)[-1]
      atom: Array | None = structures.cast(
        stage.prob_zero, static.dtype_name(stage.initial)
      )
      initial, edges, _, atom = operands.constants(
        (stage.initial, stage.edges, None, atom)
      )
      initial = np.broadcast_to(initial, (*batch, p))
      times = jump_chain.sample(n, one, initial, edges, prob_zero=atom)
      found = stage.start + times
      if result is not None and stage.length is not None:
        found = np.where(times < stage.length, found, result)
      result = found
    result = structures.cast(result, self.dtype)
    pairs = [(s.initial, s.edges.parameters) for s in stages]
    arrays = [x for pair in pairs for x in pair]
    return jump_chain.without_derivatives(result, *arrays, advice=_ADVICE)

  def _in_epochs(
    self,
    value: Array,
    function: Callable[[epoch_stages.Stage, Array], Array],
    stages: Sequence[epoch_stages.Stage] | None = None,
  ) -> Array:
    """Evaluates a function at each value, in the stage that contains it."""
    times = structures.cast(value, static.wide_float())
    parts = []
    for stage in self._stages() if stages is None else stages:
      local, later = epoch_values.since(stage, times)
      parts.append((function(stage, local), later))
    return self._finished(epoch_values.latest(parts), static.shape(value))

  def _accumulated(
    self,
    value: Array,
    add: Callable[..., Array],
    before: Array | float | None,
    stages: Sequence[epoch_stages.Stage] | None = None,
  ) -> Array:
    """Sums a function over all stages up to the stage of each value."""
    times = structures.cast(value, static.wide_float())
    parts = []
    for stage in self._stages() if stages is None else stages:
      local, later = epoch_values.since(stage, times)
      parts.append((add(before, stage, local), later))
      if stage.length is not None:
        before = add(before, stage, stage.length)
    return self._finished(epoch_values.latest(parts), static.shape(value))

  def _finished(self, x: Array, shape: static.Shape = ()) -> Array:
    """Broadcasts a result to value and batch, and casts it to `dtype`."""
    shape = static.broadcast_shapes(shape, self._batch_shape())
    return structures.cast(array_utils.expanded(x, shape), self.dtype)

  def _support(self) -> supports.Support:
    return supports.Support("nonnegative")

  def _check_value(self, value: Array) -> Array:
    return value_checks.check_times(value)
