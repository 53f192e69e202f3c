"""The parameters of `Epochs`: arrays of each epoch, and boundaries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

import numpy as onp

from phasic.distributions.absorption import of_graph
from phasic.distributions.base import half_precision
from phasic.distributions.base import parameter_properties
from phasic.distributions.base import slicing
from phasic.distributions.base.parameter_properties import ParameterValue
from phasic.distributions.epochs import epoch_arguments
from phasic.distributions.epochs import epoch_fits
from phasic.graphs.core import graph as graph_lib
from phasic.internal import dtypes
from phasic.internal import halves
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array

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
# Those of which each epoch has an array.
_OF_EPOCHS = ("params", "edge_values")


class EpochParameters(epoch_fits.EpochFits):
  """Keeps arrays of each epoch under names such as params[0]."""

  _MAPPINGS = _OF_EPOCHS

  @classmethod
  def _parameter_properties(cls) -> parameter_properties.Properties:
    return _PROPERTIES

  @classmethod
  def _children(cls) -> tuple[str, ...]:
    return ("graphs", "state_maps", *super()._children())

  @property
  def parameters(self) -> dict[str, ParameterValue]:
    """The constructor's arguments, by name; those of epochs as sequences."""
    found = dict(self._parameters)
    for of in _OF_EPOCHS:
      given = found[of]
      if given is not None and not structures.is_variable(given):
        found[of] = self._of_epochs(of)
    return found

  @property
  def graphs(self) -> tuple[graph_lib.Graph, ...]:
    """The graph of each epoch."""
    given = self._parameters["graphs"]
    return given if isinstance(given, tuple) else (given,) * self.num_epochs

  @property
  def params(self) -> tuple[epoch_arguments.EpochParams, ...]:
    """The parameters of each epoch, arrays (..., d_k), mappings or None."""
    return self._of_epochs("params")

  @property
  def edge_values(self) -> tuple[Array | None, ...]:
    """The weights of each epoch's edges, (..., m_k), or None."""
    return self._of_epochs("edge_values")

  @property
  def boundaries(self) -> Array:
    """The times at which epochs end, (..., K - 1)."""
    return self._parameters["boundaries"]

  @property
  def num_epochs(self) -> int:
    """The number of epochs K."""
    return epoch_arguments.epoch_count(self._parameters["boundaries"])

  def _of_epochs(self, of: str) -> tuple[ParameterValue, ...]:
    given = self._parameters[of]
    return tuple(epoch_arguments.of_epochs(of, given, self.num_epochs))

  def _places(self) -> dict[str, tuple[str, int]]:
    """Returns the parameter and the epoch of each array, by its name."""
    return {
      epoch_arguments.name(of, k): (of, k)
      for of in _OF_EPOCHS
      for k, x in enumerate(self._of_epochs(of))
      if of == "params" or x is not None
    }

  def _arrays(self) -> dict[str, ParameterValue]:
    """Returns the arrays of each epoch, None for no params, and boundaries."""
    arrays: dict[str, ParameterValue] = {}
    graphs = self.graphs
    count = len(graphs)
    for of in _OF_EPOCHS:
      given = self._parameters[of]
      if structures.is_variable(given):
        given = structures.as_array(given, None, of)
      for k, x in enumerate(epoch_arguments.of_epochs(of, given, count)):
        name = epoch_arguments.name(of, k)
        if of == "params":
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
    found = {name: _PROPERTIES[of] for name, (of, _) in self._places().items()}
    return {**found, "boundaries": _PROPERTIES["boundaries"]}

  def _given_array(self, name: str) -> ParameterValue:
    if name == "boundaries":
      return self.boundaries
    of, k = self._places()[name]
    return self._of_epochs(of)[k]

  def _graph_of(self, name: str) -> graph_lib.Graph:
    return self.graphs[self._places()[name][1]]

  def _with_arrays(
    self, arrays: Mapping[str, object], **options: object
  ) -> Self:
    places = self._places()
    changed = {x: y for x, y in arrays.items() if x not in places}
    for of in _OF_EPOCHS:
      own = list(self._of_epochs(of))
      for name, (parameter, k) in places.items():
        if parameter == of and name in arrays:
          own = [*own[:k], arrays[name], *own[k + 1 :]]
      changed[of] = own
    return self.copy(**changed, **options)

  def _sliced(
    self, index: slicing.Index, batch: static.Shape | None = None
  ) -> Self:
    properties = self._array_properties()
    sliced = slicing.slice_parameters(properties, self._arrays(), index, batch)
    # `_arrays` converts half precision, which the slice has as well.
    return self._with_arrays(
      halves.result(sliced, half_precision.half_of(self))
    )

  @property
  def dtype(self) -> str:
    """The name of the dtype of parameters, values and results."""
    # All arrays were given one dtype.
    boundaries = {"boundaries": self._parameters["boundaries"]}
    return half_precision.half_of(self) or dtypes.common_dtype(boundaries)

  def _found_batch(self) -> static.Shape:
    # All arrays have one dimension behind those of the batch.
    arrays = [x for x in self._arrays().values() if x is not None]
    return static.broadcast_shapes(*(static.shape(x)[:-1] for x in arrays))

  def _is_plausible(self, known: Mapping[str, ParameterValue]) -> bool:
    graphs = self.graphs
    params, values = (
      epoch_arguments.of_epochs(of, known[of], len(graphs)) for of in _OF_EPOCHS
    )
    is_one = all(graph is graphs[0] for graph in graphs)
    is_one = is_one and all(type(x) is onp.ndarray for x in params)
    if is_one and len({static.shape(x) for x in params}) == 1:
      # One graph without edge values: all epochs are a batch.
      return of_graph.is_plausible(graphs[0], onp.stack(params))
    return all(
      of_graph.is_plausible(graph, x, edge_values=weights)
      for graph, x, weights in zip(graphs, params, values, strict=True)
    )
