"""Graphs whose parameters change at known times."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import math
from typing import Any, Self

import numpy as np
import numpy as onp

from phasic.distributions.absorption import time_units
from phasic.distributions.base import conversions
from phasic.distributions.base import method_results
from phasic.distributions.base import samples
from phasic.distributions.base.parameter_properties import ParameterValue
from phasic.distributions.epochs import epoch_arguments
from phasic.distributions.epochs import epoch_hooks
from phasic.distributions.epochs import epoch_levels
from phasic.distributions.epochs import epoch_paths
from phasic.distributions.epochs import epoch_statistics
from phasic.distributions.epochs import epoch_values
from phasic.graphs.core import graph as graph_lib
from phasic.graphs.parts import contents
from phasic.graphs.parts import state_maps as state_maps_lib
from phasic.graphs.parts.contents import State
from phasic.internal import dtypes
from phasic.internal import random
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal import structures
from phasic.internal import user_warnings
from phasic.internal.arrays import (
  Array,
  ArrayLike,
  Integer,
  Result,
  Seed,
  ShapeLike,
)
from phasic.math.likelihood import expected_statistics
from phasic.math.model import function_kinds
from phasic.math.numeric import array_utils
from phasic.math.sampling import sample_paths


@structures.register
class Epochs(epoch_hooks.EpochHooks):
  """The absorption time of a chain whose parameters change at known times.

  There are K epochs: the first lasts from zero to boundaries[0], the k-th until
  boundaries[k], the last for ever. Each has its parameters, and may have its
  own graph. At a boundary a path is in the state it was in, or in the one that
  a function makes of it. With S_k the subgenerators, D_k the lengths and M_k
  the matrix of the k-th function, the masses of phases after k boundaries are

      alpha_k = alpha_{k-1} exp(S_k D_k) M_k,

  and in an epoch the distribution is the phase-type one with these masses. So
  nothing is approximated, and values from different epochs are added, never
  subtracted. Derivatives exist in all parameters and boundaries.

  Entropy and divergences are sums over nodes between the boundaries, see
  `Distribution.entropy`; those of another distribution from this one, or with
  other boundaries that are traced or have a batch, raise NotImplementedError.
  The Laplace transform is a sum over epochs; there is no mode and no renewal.

  The density jumps at a boundary; there its value is that of the later epoch.
  At a boundary phases count as empty whose probability is below about 1e-262 of
  all that is left (1e-38 in single precision). Where that might be seen
  logarithms are NaN.

  References:
    R. C. Griffiths, S. Tavare, Sampling theory for neutral alleles in a varying
      environment, Phil. Trans. R. Soc. B 344, 1994.

  Example: two lineages in a population that was larger before time one.

    >>> from phasic import graphs
    >>> from phasic.distributions import Epochs
    >>> pair = graphs.models.kingman(2)
    >>> history = Epochs(pair, [[1.0], [0.5]], [1.0])
    >>> print(f"{float(history.mean()):.6f}")
    1.367879
  """

  def __init__(
    self,
    graphs: graph_lib.Graph | Sequence[graph_lib.Graph],
    params: ArrayLike | Sequence[epoch_arguments.EpochParams] | None,
    boundaries: ArrayLike,
    state_maps: Sequence[
      Callable[[State], State] | state_maps_lib.StateMap | None
    ]
    | None = None,
    edge_values: Sequence[ArrayLike | None] | ArrayLike | None = None,
    validate_args: bool = False,
    allow_nan_stats: bool = True,
    name: str = "Epochs",
  ):
    """Makes the distribution of K epochs.

    Args:
      graphs: a continuous graph for all epochs, or K of them. Paths start as
        the first one says; the starts of others are not looked at.
      params: the parameters of each epoch: a sequence of K arrays (..., d_k) or
        mappings of names, or an array (K, ..., d); None in the place of those of
        an epoch with `edge_values`, None for all if all have them.
      boundaries: (..., K - 1), positive and increasing, in units of time.
      state_maps: K - 1 functions, the k-th from the states of the k-th graph to
        those of the next; None in the place of one that changes nothing, None
        for all if there are none.
      edge_values: weights of the edges in the place of parameters: a sequence of
        K arrays (..., m_k), None in the place of those of an epoch with
        parameters; or an array (K, ..., m).
      validate_args: whether to check values.
      allow_nan_stats: whether statistics may be NaN.
      name: the distribution's name.

    Raises:
      TypeError: an argument has a wrong type, or dtypes differ.
      ValueError: numbers of epochs do not fit, shapes do not fit, a graph is
        discrete, boundaries do not increase, or a function has a value that is
        no state of the next graph; with `validate_args`, a value breaks a rule.
    """
    boundaries = conversions.settled("boundaries", boundaries)
    count = epoch_arguments.epoch_count(boundaries)
    each = epoch_arguments.epoch_graphs(graphs, count)
    params = epoch_arguments.settled("params", params)
    edge_values = epoch_arguments.settled("edge_values", edge_values)
    epoch_arguments.check_arrays(each, params, edge_values, boundaries)
    super()._keep(
      {
        "graphs": graphs if isinstance(graphs, graph_lib.Graph) else each,
        "params": epoch_arguments.kept("params", params, count),
        "boundaries": boundaries,
        "edge_values": epoch_arguments.kept("edge_values", edge_values, count),
        "state_maps": state_maps_lib.make_all(state_maps, each),
        "validate_args": validate_args,
        "allow_nan_stats": allow_nan_stats,
        "name": name,
      }
    )
    epoch_arguments.check_boundaries(self._ends())
    self._batch_shape()
    self._check_values(self._stages)

  @property
  def parameters(self) -> dict[str, ParameterValue]:
    """The constructor's arguments by name; per-epoch ones are sequences."""
    whole = dict(self._parameters)
    for argument in epoch_arguments.PER_EPOCH:
      given = whole[argument]
      if given is not None and not structures.is_variable(given):
        whole[argument] = self._per_epoch(argument)
    return whole

  def _saved_parts(self) -> dict[str, ParameterValue]:
    """Returns the parameters, with state maps as the phases mapped to."""
    each = self._graphs()
    is_one = all(graph is each[0] for graph in each)
    maps = self._parameters["state_maps"]
    targets = [one.targets(graph.num_phases) for one, graph in zip(maps, each)]
    changes = {"graphs": each[0] if is_one else each, "state_maps": targets}
    return {**super()._saved_parts(), **changes}

  @classmethod
  def _from_saved_parts(cls, parts: dict[str, Any]) -> Self:
    maps = parts.get("state_maps")
    if "graphs" in parts and isinstance(maps, list):
      each = epoch_arguments.epoch_graphs(parts["graphs"], len(maps) + 1)
      sizes = [graph.num_phases for graph in each]
      state_maps = [
        state_maps_lib.from_targets(f"state_maps[{k}]", x, *sizes[k : k + 2])
        for k, x in enumerate(maps)
      ]
      parts = {**parts, "state_maps": state_maps}
    return super()._from_saved_parts(parts)

  @property
  def graphs(self) -> tuple[graph_lib.Graph, ...]:
    """The graph of each epoch."""
    return self._graphs()

  @property
  def params(self) -> tuple[epoch_arguments.EpochParams, ...]:
    """The parameters of each epoch: arrays (..., d_k), mappings or None."""
    return self._per_epoch("params")

  @property
  def edge_values(self) -> tuple[Array | None, ...]:
    """The weights of each epoch's edges: arrays (..., m_k) or None."""
    return self._per_epoch("edge_values")

  @property
  def boundaries(self) -> Array:
    """The times at which epochs end, an array (..., K - 1)."""
    return self._parameters["boundaries"]

  @property
  def num_epochs(self) -> int:
    """The number of epochs K."""
    return self._count()

  @property
  def dtype(self) -> str:
    """The name of the dtype of parameters, values and results."""
    # The constructor gave all arrays one dtype, so that one of them is enough.
    boundaries = {"boundaries": self._parameters["boundaries"]}
    return conversions.half_of(self) or dtypes.common_dtype(boundaries)

  def _scaled(self, factor: Array) -> Self:
    each = [
      time_units.scaled_weights(graph, params, weights, factor)
      for graph, params, weights in zip(
        self._graphs(), self.params, self.edge_values, strict=True
      )
    ]
    params, edge_values = zip(*each, strict=True)
    first = self._graphs()[0]
    if params[0] is None and time_units.has_free_start(first):
      time_units.refuse(
        self,
        "initial masses of its first graph depend on parameters; give it a "
        "graph whose initial masses do not, and edge_values / factor",
      )
    return self.copy(
      params=params,
      edge_values=edge_values,
      boundaries=self._ends() * factor[..., None],
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
    parts = epoch_values.occupancy(self._stages(), times)
    return self._phase_result("occupancy", parts, by_epoch, value)

  def expected_sojourn_times(
    self,
    until: ArrayLike | None = None,
    since: ArrayLike | None = None,
    by_epoch: bool = False,
  ) -> Result:
    """Computes expected times in the phases, until absorption or a given time.

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
          "since is given and until is None: pass both; for times after "
          "`since`, subtract the times until `since` from the times until "
          "absorption"
        )
      times = epoch_levels.sojourn_times(history)
      return self._phase_result(name, times, by_epoch, None)
    begin, end, ends = epoch_arguments.window(self._checked, name, since, until)
    times = epoch_levels.sojourn_times_within(history, begin, end)
    return self._phase_result(name, times, by_epoch, ends)

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
    shape = samples.static_shape(sample_shape)
    count = len(history.chains)
    jumps = sample_paths.checked_jumps(num_jumps, shape, batch, count)
    salted = random.sanitize_seed(seed, salt=f"{type(self).__name__} paths")
    paths = epoch_paths.sample(math.prod(shape), jumps, salted, history, batch)
    whole = (*shape, *batch, jumps + 1)
    phases, times, epochs = (np.reshape(x, whole) for x in paths)
    times = structures.cast(times, self.dtype)
    return epoch_paths.EpochPaths(phases, times, epochs)

  def cause_probs(self) -> Result:
    """Returns the probability of each cause, of shape (..., number of causes).

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
    probs = epoch_values.cause_probs(
      self._stages(), self._graphs(), self._causes()
    )
    shape = self._batch_shape()
    whole = [
      structures.cast(np.broadcast_to(x, shape), self.dtype) for x in probs
    ]
    return self._statistic("cause_probs", np.stack(whole, axis=-1))

  def cumulative_incidence(
    self, value: ArrayLike, cause: str | contents.Absorbed | None
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
    stages = self._stages_of(cause)
    last = value == math.inf
    incidence = self._cdf(np.where(last, 0.0, value), stages)
    known = static.concrete(last)
    if known is None or onp.any(known):
      (whole,) = epoch_values.cause_probs(
        self._stages(), self._graphs(), (cause,)
      )
      incidence = np.where(last, structures.cast(whole, self.dtype), incidence)
    return self._result("cumulative_incidence", incidence, value)

  def cause_log_prob(
    self, value: ArrayLike, cause: str | contents.Absorbed | None
  ) -> Result:
    """Computes the log density of absorption by the cause at the value.

    Arguments and errors are as for `cumulative_incidence`.
    """
    value, name = self._value(value), self._known_cause(cause)
    stages = self._stages_of(name)
    return self._result("cause_log_prob", self._log_prob(value, stages), value)

  def cause_prob(
    self, value: ArrayLike, cause: str | contents.Absorbed | None
  ) -> Result:
    """Computes the density of absorption by the cause at the value.

    Arguments and errors are as for `cumulative_incidence`.
    """
    value, name = self._value(value), self._known_cause(cause)
    stages = self._stages_of(name)
    return self._result("cause_prob", self._prob(value, stages), value)

  def cause_hazard(
    self, value: ArrayLike, cause: str | contents.Absorbed | None
  ) -> Result:
    """Computes the hazard of a cause: its absorption rate, if not yet absorbed.

    It is cause_prob(t) / P(X > t). Arguments and errors are as for
    `cumulative_incidence`.
    """
    value, name = self._value(value), self._known_cause(cause)
    by_cause = self._stages_of(name)
    hazard = self._at_times(
      lambda stages, times: epoch_values.cause_hazard(by_cause, stages, times),
      value,
    )
    return self._result("cause_hazard", hazard, value)

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
    name, function = "expected_statistics", function_kinds.kind_of(kind, "kind")
    wide = static.wide_float()
    times = structures.cast(self._argument(value, "value"), wide)
    if upper is not None:
      upper = structures.cast(self._argument(upper, "upper"), wide)
    rule = expected_statistics.weight_rule(function, upper is not None)
    weights = 1.0 if weights is None else weights
    counts = self._checked(name, weights, "weights", rule)
    counts = np.where(rule.holds(counts), counts, math.nan)
    counts = structures.cast(counts, wide)
    stages, batch = self._stages(), self._batch_shape()
    each = epoch_statistics.statistics(
      stages,
      self._parameters["state_maps"],
      [
        epoch_statistics.observed_kind(
          function, stages, times, upper, counts, batch
        )
      ],
      batch,
      upper is None and not function.startswith("log"),
    )
    missing = [x for one in each for x in one if array_utils.has_nan(x)]
    given = (times, times if upper is None else upper, counts)
    if missing and not any(map(array_utils.has_nan, given)):
      method_results.warn(self, name, missing[0])
    with user_warnings.derived():  # One warning for all of them.
      return tuple(
        expected_statistics.ExpectedStatistics._make(
          self._statistic(name, structures.cast(x, self.dtype)) for x in one
        )
        for one in each
      )
