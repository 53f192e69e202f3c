"""Graphs whose parameters change at known times."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import itertools
from typing import ClassVar, Self

import numpy as np
import numpy as onp

from phasic.distributions.absorption import of_graph
from phasic.distributions.base import deferred
from phasic.distributions.base import kept_results
from phasic.distributions.base import structure
from phasic.distributions.epochs import epoch_arguments
from phasic.distributions.epochs import epoch_parameters
from phasic.distributions.epochs import epoch_rewards
from phasic.distributions.epochs import epoch_stages
from phasic.graphs.core import graph as graph_lib
from phasic.graphs.core import linear_weights
from phasic.graphs.parts import state_maps as state_maps_lib
from phasic.graphs.parts.contents import State
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.internal.arrays import ArrayLike
from phasic.math.model import value_checks

# Messages refer to initial masses and edge weights by these graph methods.
_WEIGHTS = ("initial_probs", "edge_values")


@structures.register
class Epochs(epoch_parameters.EpochParameters):
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
    boundaries = deferred.settled("boundaries", boundaries)
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

  # See `kept_results`.
  _kept: ClassVar[
    tuple[tuple[object, ...], list[epoch_stages.Stage], tuple[object, ...]]
    | None
  ] = None
  _is_keeper: ClassVar[bool] = False
  # The stages, in what `_for_one_call` returned.
  _stages_of_call: ClassVar[list[epoch_stages.Stage] | None] = None

  def _for_one_call(self) -> Self:
    if self._stages_of_call is not None:
      return self
    found = self._unflatten(self._parts())
    # In TensorFlow distributions are modules, which look for variables in what
    # is assigned.
    object.__setattr__(found, "_stages_of_call", self._stages())
    return found

  def _stages(self) -> list[epoch_stages.Stage]:
    """Returns a stage for each epoch; with `validate_args` they are checked."""
    if self._stages_of_call is not None:
      return self._stages_of_call
    return kept_results.derived(
      self, self._derived_stages, epoch_stages.arrays_of
    )

  def _origin(self) -> tuple[object, ...]:
    arrays = self._leaves()
    # Names and arrays of mappings, which are shown to users.
    return (*self._parameters.values(), *arrays, *arrays.values())

  def _origin_arrays(self) -> tuple[object, ...]:
    # A graph that is not fixed counts as an array that is none.
    changing = (graph for graph in self.graphs if not graph._is_fixed())
    return (*changing, *self._leaves().values())

  def _leaves(self) -> dict[str, object]:
    given = self._parameters
    return structure.leaves({name: given[name] for name in self._properties()})

  def _derived_stages(self) -> list[epoch_stages.Stage]:
    history = self._history()
    return epoch_stages.stages(
      history.chains, history.boundaries, history.state_maps
    )

  def _history(self) -> epoch_rewards.History:
    """Returns the epochs' chains; with `validate_args` they are checked."""
    # The widest dtype is used because rounding errors accumulate over stages.
    wide = static.wide_float()
    arrays = self._arrays()
    chains: list[epoch_stages.StageChain] = []
    for k, graph in enumerate(self.graphs):
      x, values = (
        arrays.get(epoch_arguments.name(of, k)) for of in self._MAPPINGS
      )
      names = [f"graphs[{k}].{of}(params[{k}])" for of in _WEIGHTS]
      if values is None:
        x = structures.cast(graph.params_array(None) if x is None else x, wide)
        values = graph.edge_values(x)
      else:
        names[1] = epoch_arguments.name("edge_values", k)
      edges = graph.edge_weights(edge_values=structures.cast(values, wide))
      if k == 0:
        initial, atom = linear_weights.start_arrays(graph, x, wide)
      else:
        p = graph.num_phases
        initial, atom = np.zeros((p,), dtype=wide) + 1.0 / p, None
      if self.validate_args:
        if x is not None:
          of_graph.check_params(epoch_arguments.name("params", k), graph, x)
        initial, edges, atom = value_checks.check_edge_model(
          initial, edges, atom, names=(names[0], names[1])
        )
      chains.append(epoch_stages.StageChain(initial, edges, atom))
    boundaries = arrays["boundaries"]
    boundaries = structures.cast(boundaries, wide)
    maps = self._parameters["state_maps"]
    return epoch_rewards.History(chains, boundaries, maps)

  def _jumps(self) -> Array | None:
    return self._ends() if self.num_epochs > 1 else None

  def _refined(self, other: object, jumps: Array) -> Self:
    own = self._ends()
    known = static.concrete(own), static.concrete(jumps)
    if own is jumps or (
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
    first, second = (onp.asarray(x) for x in known)
    added = onp.setdiff1d(second, first)
    return self._split(first, onp.union1d(first, added))

  def _split(self, own: onp.ndarray, all_of_them: onp.ndarray) -> Self:
    """Returns the same distribution with additional boundaries."""
    starts = [0.0, *all_of_them.tolist()]
    parts = onp.searchsorted(own, starts, side="right").tolist()
    maps = self._parameters["state_maps"]
    stay = state_maps_lib.StateMap(None)
    found = [
      stay if k == after else maps[k] for k, after in itertools.pairwise(parts)
    ]
    return self.copy(
      graphs=[self.graphs[k] for k in parts],
      params=[self.params[k] for k in parts],
      edge_values=[self.edge_values[k] for k in parts],
      boundaries=all_of_them,
      state_maps=found,
    )
