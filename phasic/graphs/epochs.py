"""Graphs whose parameters change at known times."""

from collections.abc import Callable, Sequence
import math
from typing import Any

import numpy as np
import numpy as onp

from phasic import math as pm
from phasic.graphs import epoch_arguments
from phasic.graphs import epoch_stages
from phasic.graphs import epoch_values
from phasic.graphs import graph as graph_lib
from phasic.graphs import state_maps as state_maps_lib
from phasic.internal import random
from phasic.internal import static
from phasic.internal import structures
from phasic.math import jump_chain


class Epochs:
  """The time until absorption where parameters change at known times.

  There are K epochs: the first lasts from zero to boundaries[0], the k-th until
  boundaries[k], the last for ever. Each has its parameters, and may have its
  own graph. At a boundary a path is in the state it was in, or in the one that
  a function makes of it. With S_k the subgenerators, D_k the lengths and M_k
  the matrix of the k-th function, the masses of phases after k boundaries are

      alpha_k = alpha_{k-1} exp(S_k D_k) M_k,

  and in an epoch the law is the phase-type one with these masses. So nothing is
  approximated, and values from different epochs are added, never subtracted.
  In JAX and TensorFlow derivatives exist in all parameters and boundaries. NumPy
  needs the native kernel for more than one epoch.

  The density jumps at a boundary; there its value is that of the later epoch.
  At a boundary phases count as empty whose probability is below about 1e-288
  (1e-28 in single precision). Where that might be seen logarithms are NaN.

  References:
    R. C. Griffiths, S. Tavare, Sampling theory for neutral alleles in a varying
      environment, Phil. Trans. R. Soc. B 344, 1994.

  Example: two lineages in a population that was larger before time one.

    >>> from phasic import graphs
    >>> pair = graphs.models.kingman(2)
    >>> history = graphs.Epochs(pair, [[1.0], [0.5]], [1.0])
    >>> print(f"{float(history.mean()):.6f}")
    1.367879
  """

  def __init__(
    self,
    graphs: graph_lib.Graph | Sequence[graph_lib.Graph],
    params: Any,
    boundaries: Any,
    state_maps: Sequence[Callable[[Any], Any] | None] | None = None,
  ):
    """Makes the law of K epochs.

    Args:
      graphs: a continuous graph for all epochs, or K of them. Paths start as
        the first one says; the starts of others are not looked at.
      params: those of each epoch: a sequence of K arrays (..., d_k) or mappings
        of names, or an array (K, ..., d).
      boundaries: (..., K - 1), positive and increasing, in units of time.
      state_maps: K - 1 functions, the k-th from the states of the k-th graph to
        those of the next; None in the place of one that changes nothing, None
        for all if there are none.

    Raises:
      TypeError: an argument has a wrong type, or dtypes differ.
      ValueError: numbers of epochs do not fit, shapes do not fit, a graph is
        discrete, boundaries do not increase, or a function has a value that is
        no state of the next graph.
    """
    known = hasattr(boundaries, "shape")
    shape = static.shape(boundaries) if known else onp.shape(boundaries)
    if len(shape) < 1:
      raise ValueError(
        "boundaries is a number: it must be an array (..., K - 1)"
      )
    count = shape[-1] + 1
    self._graphs = epoch_arguments.epoch_graphs(graphs, count)
    given = epoch_arguments.epoch_params(params, count)
    # All is computed in the widest dtype, as masses go through many hands.
    self._params, self._boundaries, self._dtype = epoch_arguments.as_arrays(
      given, boundaries, self._graphs
    )
    epoch_arguments.check_boundaries(self._boundaries)
    functions = [None] * (count - 1) if state_maps is None else list(state_maps)
    if len(functions) != count - 1:
      raise ValueError(
        f"state_maps has {len(functions)} functions: there are {count - 1} "
        "boundaries"
      )
    self._state_maps = tuple(
      state_maps_lib.make(
        f"state_maps[{k}]", self._graphs[k], self._graphs[k + 1], function
      )
      for k, function in enumerate(functions)
    )

  @property
  def num_epochs(self) -> int:
    """The number of epochs K."""
    return len(self._graphs)

  @property
  def boundaries(self) -> Any:
    """When epochs end, (..., K - 1)."""
    return self._narrow(self._boundaries)

  def prob(self, value: Any) -> Any:
    """Returns the density f(t), and the atom at t = 0 if there is one.

    Args:
      value: t, (...), in units of time.

    Returns:
      An array with the broadcast shape of t, parameters and boundaries.
    """
    return self._in_epochs(
      value,
      lambda s, t: np.exp(s.log_mass) * epoch_values.of_stage(pm.density, s, t),
    )

  def log_prob(self, value: Any) -> Any:
    """Returns log f(t); see `prob`."""
    return self._in_epochs(
      value, lambda s, t: epoch_values.log_of_stage(pm.log_density, s, t)
    )

  def survival_function(self, value: Any) -> Any:
    """Returns P(X > t); see `prob`."""
    return self._in_epochs(
      value,
      lambda s, t: (
        np.exp(s.log_mass) * epoch_values.of_stage(pm.survival, s, t)
      ),
    )

  def log_survival_function(self, value: Any) -> Any:
    """Returns log P(X > t); see `prob`."""
    return self._in_epochs(
      value, lambda s, t: epoch_values.log_of_stage(pm.log_survival, s, t)
    )

  def cdf(self, value: Any) -> Any:
    """Returns P(X <= t), the sum of what each epoch adds; see `prob`."""

    def add(before: Any, stage: epoch_stages.Stage, t: Any) -> Any:
      return before + np.exp(stage.log_mass) * epoch_values.of_stage(
        pm.cdf, stage, t
      )

    return self._accumulated(value, add, 0.0)

  def log_cdf(self, value: Any) -> Any:
    """Returns log P(X <= t), accurate in the left tail too; see `prob`."""

    def add(before: Any, stage: epoch_stages.Stage, t: Any) -> Any:
      own = stage.log_mass + epoch_values.of_stage(pm.log_cdf, stage, t)
      total = own if before is None else epoch_values.log_sum(before, own)
      return epoch_values.seen(pm.log_cdf, stage, t, total)

    return self._accumulated(value, add, None)

  def mean(self) -> Any:
    """Returns E[X], the sum of the expected times within each epoch.

    Returns:
      An array with the batch shape; inf if absorption may never come.
    """
    return self._narrow(self._mean())

  def second_moment(self) -> Any:
    """Returns E[X^2], twice the integral of t P(X > t)."""
    return self._narrow(self._second_moment())

  def variance(self) -> Any:
    """Returns E[X^2] - E[X]^2."""
    return self._narrow(self._variance())

  def stddev(self) -> Any:
    """Returns the root of the variance."""
    return self._narrow(np.sqrt(self._variance()))

  def sample(self, sample_shape: int | tuple[int, ...] = (), seed: Any = None):
    """Returns exact samples, the same ones for the same seed.

    A path that survives an epoch is, at its end, in a phase that does not
    depend on when the epoch was to end. So each epoch has times of its own, and
    the first that ends within its epoch counts.

    Args:
      sample_shape: an int or a tuple of ints.
      seed: for NumPy an int, SeedSequence or Generator, for JAX a key, for
        TensorFlow an int or a pair of ints.

    Returns:
      An array of shape sample_shape + batch shape.
    """
    seed = random.sanitize_seed(seed, salt="Epochs")
    shape = (sample_shape,) if isinstance(sample_shape, int) else sample_shape
    seeds = random.split_seed(seed, self.num_epochs)
    result: Any = None
    for one, stage in list(zip(seeds, self._stages()))[::-1]:
      times = jump_chain.sample(
        math.prod(shape),
        one,
        stage.initial,
        stage.edges,
        prob_zero=stage.prob_zero,
      )
      found = stage.start + times
      if result is not None:
        found = np.where(times < stage.length, found, result)
      result = found
    result = self._narrow(result)
    return np.reshape(result, (*shape, *static.shape(result)[1:]))

  def _mean(self) -> Any:
    total: Any = 0.0
    for stage in self._stages():
      within = epoch_values.time_within(stage, 1)
      total = total + np.exp(stage.log_mass) * within
    return total

  def _second_moment(self) -> Any:
    total: Any = 0.0
    for stage in self._stages():
      within = epoch_values.time_within(stage, 2)
      shifted = stage.start * epoch_values.time_within(stage, 1)
      total = total + np.exp(stage.log_mass) * 2.0 * (shifted + within)
    return total

  def _variance(self) -> Any:
    return self._second_moment() - np.square(self._mean())

  def _narrow(self, x: Any) -> Any:
    """Returns numbers in the dtype of the arguments."""
    return np.asarray(x, dtype=self._dtype)

  def _stages(self) -> list[epoch_stages.Stage]:
    return epoch_stages.stages(
      self._graphs, self._params, self._boundaries, self._state_maps
    )

  def _value(self, value: Any) -> Any:
    """Returns times in the widest dtype."""
    structures.common_dtype({"value": value, "boundaries": self.boundaries})
    value = structures.as_array(value, self._dtype, "value")
    return np.asarray(value, dtype=static.wide_float())

  def _in_epochs(self, value: Any, function: Any) -> Any:
    """Returns a function of a stage and of times since its start."""
    value = self._value(value)
    result: Any = None
    for stage in self._stages():
      local, later = epoch_values.since(stage, value)
      found = function(stage, local)
      result = found if result is None else np.where(later, found, result)
    return self._narrow(result)

  def _accumulated(self, value: Any, add: Any, before: Any) -> Any:
    """Returns what stages add up to, one after another."""
    value = self._value(value)
    result: Any = None
    for stage in self._stages():
      local, later = epoch_values.since(stage, value)
      found = add(before, stage, local)
      result = found if result is None else np.where(later, found, result)
      if stage.length is not None:
        before = add(before, stage, stage.length)
    return self._narrow(result)
