"""Methods of `Epochs` for the phases of its paths, and causes of absorption."""

from __future__ import annotations

import math

import numpy as np
import numpy as onp

from phasic.distributions.base import sampling
from phasic.distributions.epochs import epoch_arguments
from phasic.distributions.epochs import epoch_causes
from phasic.distributions.epochs import epoch_methods
from phasic.distributions.epochs import epoch_paths
from phasic.distributions.epochs import epoch_rewards
from phasic.distributions.epochs import epoch_stages
from phasic.distributions.epochs import epoch_values
from phasic.graphs.core import graph as graph_lib
from phasic.graphs.parts import absorbed
from phasic.internal import random
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.internal.arrays import ArrayLike
from phasic.internal.arrays import Integer
from phasic.internal.arrays import Result
from phasic.internal.arrays import Seed
from phasic.internal.arrays import ShapeLike
from phasic.math.numeric import array_utils
from phasic.math.sampling import sample_paths


class EpochPhases(epoch_methods.EpochMethods):
  """Phases at a time, times spent in them, and causes, through epochs.

  Results for phases are in the order of the graph's states where all epochs
  have the same states. With by_epoch=True there is one for each phase of each
  epoch, P in total, those of the first epoch first.
  """

  @property
  def graphs(self) -> tuple[graph_lib.Graph, ...]:
    """The graph of each epoch."""
    raise NotImplementedError(
      f"{type(self).__name__} must define the property graphs"
    )

  def _history(self) -> epoch_rewards.History:
    """Returns the epochs' chains; with `validate_args` they are checked."""
    raise NotImplementedError(
      f"{type(self).__name__} must define the method _history"
    )

  def occupancy(self, value: ArrayLike, by_epoch: bool = False) -> Result:
    """Computes P(in phase j at time t), for all phases j.

    Each probability has a small relative error, even if it is tiny. At a
    boundary the path is in the later epoch.

    Args:
      value: t, (...), finite and >= 0, else results are NaN.
      by_epoch: whether each epoch has its own phases; those of epochs that do
        not contain the time are zero.

    Returns:
      An array (..., p), by epochs (..., P).

    Raises:
      TypeError: dtypes differ.
      ValueError: shapes do not fit, or epochs have different states and
        by_epoch is False.

    Example: two lineages that have not merged by times 1 and 2.

      >>> from phasic import graphs
      >>> from phasic.distributions import Epochs
      >>> pair = graphs.models.kingman(2)
      >>> history = Epochs(pair, [[1.0], [0.5]], [1.0])
      >>> [f"{float(x):.6f}" for x in history.occupancy([1.0, 2.0])[:, 0]]
      ['0.367879', '0.223130']
    """
    raw_arguments.check_flags(by_epoch=by_epoch)
    value = self._checked("occupancy", value)
    times = structures.cast(value, static.wide_float())
    good = (times >= 0.0) & (times < math.inf)
    times = np.where(good, times, 0.0)
    stages = self._stages()
    parts: list[Array] = []
    for k, stage in enumerate(stages):
      local, inside = epoch_values.since(stage, times)
      if k + 1 < len(stages):
        inside = inside & np.logical_not(times >= stages[k + 1].start)
      found = epoch_stages.distribution_at(stage, local)
      masses = np.exp(stage.log_mass + found.log_mass)[..., None] * found.probs
      own = np.where(inside[..., None], masses, 0.0)
      parts.append(np.where(good[..., None], own, math.nan))
    return self._of_phases("occupancy", parts, by_epoch, value)

  def expected_sojourn_times(
    self,
    until: ArrayLike | None = None,
    since: ArrayLike | None = None,
    by_epoch: bool = False,
  ) -> Result:
    """Computes expected times in the phases, until absorption or a time.

    Args:
      until: (...), finite and >= 0, else results are NaN; None for all the time
        until absorption.
      since: (...), the same, only with `until`; None for zero.
      by_epoch: whether times are given for each epoch.

    Returns:
      An array (..., p), by epochs (..., P).

    Raises:
      TypeError: dtypes differ.
      ValueError: shapes do not fit, there is a `since` without an `until`, or
        epochs have different states and by_epoch is False.

    Example: the expected time until two lineages merge, and its part in each of
    two epochs.

      >>> from phasic import graphs
      >>> from phasic.distributions import Epochs
      >>> pair = graphs.models.kingman(2)
      >>> history = Epochs(pair, [[1.0], [0.5]], [1.0])
      >>> print(f"{float(history.expected_sojourn_times()[0]):.6f}")
      1.367879
      >>> times = history.expected_sojourn_times(by_epoch=True)
      >>> [f"{float(x):.6f}" for x in times]
      ['0.632121', '0.735759']
    """
    raw_arguments.check_flags(by_epoch=by_epoch)
    name, history = "expected_sojourn_times", self._history()
    if until is None:
      if since is not None:
        raise ValueError(
          "since is given, and until is None: pass both; the times after `since` "
          "are those until absorption less those until `since`"
        )
      found = epoch_rewards.sojourn_times(history)
      return self._of_phases(name, found, by_epoch, None)
    begin, end, ends = epoch_arguments.window(self._checked, name, since, until)
    found = epoch_rewards.sojourn_times_within(history, begin, end)
    return self._of_phases(name, found, by_epoch, ends)

  def sample_paths(
    self,
    num_jumps: Integer,
    sample_shape: ShapeLike = (),
    seed: Seed | None = None,
  ) -> epoch_paths.EpochPaths:
    """Samples paths through the epochs; equal seeds give equal paths.

    Args:
      num_jumps: k, how many jumps and boundaries are followed, absorption among
        them. At a boundary a path enters a phase of the next epoch.
      sample_shape: an int or a tuple of ints.
      seed: as `sample` takes it.

    Returns:
      A named tuple of arrays of shape sample_shape + batch_shape + (k + 1,).
      `phases`, int32: the first phase and those after each jump and boundary;
      the number of phases of the epoch stands for absorption. `times`: when they
      were entered, the time of absorption from there on. `epochs`, int32: that
      of each phase. A phase that is never left is followed by itself, at time
      inf. Where a value of the model breaks a rule phases are -1 and times NaN.
      There are no derivatives.

    Raises:
      TypeError: the seed is None or not of such a type, or a size is no
        integer.
      ValueError: a size is negative, or there would be more than 2^27 jumps: each
        path is followed for k jumps in each epoch.

    Example: two lineages, in a history with a boundary at time 1.

      >>> from phasic import graphs
      >>> from phasic.distributions import Epochs
      >>> pair = graphs.models.kingman(2)
      >>> history = Epochs(pair, [[0.1], [10.0]], [1.0])
      >>> paths = history.sample_paths(2, seed=1)
      >>> [int(phase) for phase in paths.phases]
      [0, 0, 1]
      >>> [int(epoch) for epoch in paths.epochs]
      [0, 1, 1]
    """
    batch, history = self._batch_shape(), self._history()
    shape = sampling.static_shape(sample_shape)
    count = len(history.chains)
    jumps = sample_paths.checked_jumps(num_jumps, shape, batch, count)
    own = random.sanitize_seed(seed, salt=f"{type(self).__name__} paths")
    found = epoch_paths.sample(math.prod(shape), jumps, own, history, batch)
    whole = (*shape, *batch, jumps + 1)
    phases, times, epochs = (np.reshape(x, whole) for x in found)
    times = structures.cast(times, self.dtype)
    return epoch_paths.EpochPaths(phases, times, epochs)

  def cause_probs(self) -> Result:
    """Returns the probability of each cause, (..., number of causes).

    They are in the order in which the graphs have them; a mass at zero belongs
    to the cause None.

    Example: failures are twice as frequent after the warranty.

      >>> from phasic.distributions import Epochs
      >>> from phasic.graphs import ABSORBED, Graph
      >>> ends = [(ABSORBED("failure"), [1.0, 0.0]), (ABSORBED("sale"), [0, 1.0])]
      >>> graph = Graph.from_transitions(lambda _: ends, "running", 2)
      >>> dist = Epochs(graph, [[1.0, 1.0], [2.0, 1.0]], [0.5])
      >>> [f"{float(p):.6f}" for p in dist.cause_probs()]
      ['0.561313', '0.438687']
    """
    found = epoch_causes.probs(self._stages(), self.graphs, self._causes())
    shape = self._batch_shape()
    whole = [
      structures.cast(np.broadcast_to(x, shape), self.dtype) for x in found
    ]
    return self._statistic("cause_probs", np.stack(whole, axis=-1))

  def cumulative_incidence(
    self, value: ArrayLike, cause: str | absorbed.Absorbed | None
  ) -> Result:
    """Computes P(X <= value and absorption is by the cause).

    Args:
      value: times, (...).
      cause: a cause of one of the graphs.

    Raises:
      TypeError: dtypes differ.
      ValueError: there is no such cause, or shapes do not fit.
    """
    value, cause = self._value(value), self._known_cause(cause)
    stages, graphs = self._stages(), self.graphs
    own = epoch_causes.stages_of(stages, graphs, cause)
    last = value == math.inf
    found = self._cdf(np.where(last, 0.0, value), own)
    known = static.concrete(last)
    if known is None or onp.any(known):
      (whole,) = epoch_causes.probs(stages, graphs, (cause,))
      found = np.where(last, structures.cast(whole, self.dtype), found)
    return self._result("cumulative_incidence", found, value)

  def cause_log_prob(
    self, value: ArrayLike, cause: str | absorbed.Absorbed | None
  ) -> Result:
    """Computes the log density of absorption at the value and by the cause.

    Arguments and errors are as for `cumulative_incidence`.
    """
    value, own = self._value(value), self._stages_of(cause)
    return self._result("cause_log_prob", self._log_prob(value, own), value)

  def cause_prob(
    self, value: ArrayLike, cause: str | absorbed.Absorbed | None
  ) -> Result:
    """Computes the density of absorption at the value and by the cause.

    Arguments and errors are as for `cumulative_incidence`.
    """
    value, own = self._value(value), self._stages_of(cause)
    return self._result("cause_prob", self._prob(value, own), value)

  def cause_hazard(
    self, value: ArrayLike, cause: str | absorbed.Absorbed | None
  ) -> Result:
    """Computes the rate of absorption by the cause, given none before.

    It is cause_prob(t) / P(X > t). Arguments and errors are as for
    `cumulative_incidence`.
    """
    value, cause = self._value(value), self._known_cause(cause)
    whole = self._stages()
    own = epoch_causes.stages_of(whole, self.graphs, cause)
    times = structures.cast(value, static.wide_float())
    parts = []
    for part, stage in zip(own, whole, strict=True):
      local, later = epoch_values.since(stage, times)
      parts.append((epoch_causes.hazard(part, stage, local), later))
    found = epoch_values.latest(parts)
    found = self._finished(found, static.shape(value))
    return self._result("cause_hazard", found, value)

  def _mean(self) -> Array:
    times = epoch_rewards.sojourn_times(self._history())
    first, *others = (np.sum(x, axis=-1) for x in times)
    return self._finished(sum(others, first))

  def _causes(self) -> tuple[str | None, ...]:
    """Returns the names of the causes in all epochs."""
    every = [cause for graph in self.graphs for cause in graph.causes]
    return tuple(dict.fromkeys(every))

  def _known_cause(self, cause: str | absorbed.Absorbed | None) -> str | None:
    """Returns the name of a cause; raises ValueError if there is none."""
    name = cause.cause if absorbed.is_absorbed(cause) else cause
    causes = self._causes()
    if not (name is None or isinstance(name, str)) or name not in causes:
      raise ValueError(
        f"cause is {raw_arguments.shown(name)}: it must be one of the graphs' causes {causes}"
      )
    return causes[causes.index(name)]

  def _stages_of(
    self, cause: str | absorbed.Absorbed | None
  ) -> list[epoch_stages.Stage]:
    """Returns the stages of absorption by one cause."""
    known = self._known_cause(cause)
    return epoch_causes.stages_of(self._stages(), self.graphs, known)

  def _of_phases(
    self, name: str, parts: list[Array], by_epoch: bool, times: Array | None
  ) -> Result:
    """Adds or joins results at times for the phases of each epoch."""
    shape = () if times is None else static.shape(times)
    shape = static.broadcast_shapes(shape, self._batch_shape())
    if not by_epoch:
      first, *others = self.graphs
      for k, graph in enumerate(others, 1):
        if graph is not first and graph.states != first.states:
          raise ValueError(
            f"graphs[{k}] and graphs[0] have different states, and by_epoch is "
            f"False: pass by_epoch=True for {name} of each epoch's phases"
          )
      found = sum(parts[1:], parts[0])
    else:
      wide = [np.broadcast_to(x, (*shape, static.shape(x)[-1])) for x in parts]
      found = np.concatenate(wide, axis=-1)
    whole = array_utils.expanded(found, (*shape, static.shape(found)[-1]))
    return self._statistic(name, structures.cast(whole, self.dtype), times)
