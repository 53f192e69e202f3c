"""Sparse models: the rates of edges between phases, linear in parameters.

A model with many phases has few transitions out of each. `EdgeRates` lists
them, and replaces the subgenerator in the functions of `phase_type`. The exits
are edges too, so no rate is computed by subtraction.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Self, TypeAlias, TypeVar

import numpy as np
import numpy as onp

from phasic.internal import array_ops
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array, ArrayField
from phasic.math.model import edge_probs
from phasic.math.model.edge_probs import EdgeProbs
from phasic.math.numeric import kept_indices
from phasic.saving import pickles
from phasic.saving import saved

# The largest number of phases for which `dense` makes a matrix.
MAX_DENSE_PHASES = 4096


class EdgeRates(NamedTuple):
  """The rates of a sparse model's edges, linear in parameters.

  Edge e leads from sources[e] to targets[e] at

      rate_e = constants[e] + sum_c coefficients[e, c] parameters[..., c]

  per unit of time. Target p, the number of phases, is absorption. Parallel
  edges add up; an edge from a phase to itself has no effect. Derivatives exist
  in `parameters`. To differentiate in coefficients or constants, compute the
  rates yourself and pass them as parameters without coefficients.

  Attributes:
    sources: (m,), integers in [0, p).
    targets: (m,), integers in [0, p].
    parameters: theta, (..., d); without coefficients the rates, (..., m).
      Every rate must be finite and >= 0, else values are NaN.
    coefficients: (m, d), or None.
    constants: (m,), or None for zeros.

  Example: a coalescent of three lineages, whose pairs merge at rate theta.

    >>> import numpy as np
    >>> from phasic import math as pm
    >>> edges = pm.EdgeRates([0, 1], [1, 2], [2.0], [[3.0], [1.0]])
    >>> value = pm.phase_type.prob(0.5, [1.0, 0.0], edges)
    >>> print(f"{float(value):.6f}")
    0.954277
  """

  sources: ArrayField
  targets: ArrayField
  parameters: ArrayField
  coefficients: ArrayField | None = None
  constants: ArrayField | None = None

  def __repr__(self) -> str:
    return edge_probs.text_of(self)

  def __reduce__(self) -> tuple[object, ...]:
    return pickles.reduce(self)

  def to_json(self) -> str:
    """Returns the edges as JSON text, see `Distribution.to_json`.

    Raises:
      TypeError: a field is not an array of numbers, e.g. a function.
      ValueError: a field is traced, or shapes do not fit.
    """
    text = saved.dumps(self)
    edge_probs.check_parts(self._asdict())
    return text

  @classmethod
  def from_json(cls, text: str | bytes) -> Self:
    """Reads edges from text of `to_json`, see `Distribution.from_json`.

    Rates and ranges of indices are checked where the edges are used.

    Args:
      text: version 1 of the format.

    Raises:
      TypeError: `text` is neither a str nor bytes.
      ValueError: it is not JSON, has another version or class, or shapes or
        dtypes do not fit.
    """
    return saved.loads(text, cls)

  def _saved_parts(self) -> dict[str, object]:
    return self._asdict()

  @classmethod
  def _from_saved_parts(cls, parts: dict[str, Any]) -> Self:
    edge_probs.check_parts(parts)
    return cls(**parts)


# The types of edges, which may be given instead of a matrix.
EDGES = (EdgeRates, EdgeProbs)
# A sparse model, given by its edges.
Edges: TypeAlias = EdgeRates | EdgeProbs
_Edges = TypeVar("_Edges", EdgeRates, EdgeProbs, Edges)


def convert(edges: _Edges, dtype: str) -> _Edges:
  """Converts the edges to arrays: int32 indices, all others of `dtype`.

  Raises:
    TypeError: an index is not an integer.
    ValueError: shapes do not fit.
  """
  sources = structures.as_index_array(edges.sources, "sources")
  targets = structures.as_index_array(edges.targets, "targets")
  parameters = structures.as_array(edges.parameters, dtype, "parameters")
  coefficients, constants = edges.coefficients, edges.constants
  if coefficients is not None:
    coefficients = structures.as_array(coefficients, dtype, "coefficients")
  if constants is not None:
    constants = structures.as_array(constants, dtype, "constants")
  converted = edges._replace(
    sources=sources,
    targets=targets,
    parameters=parameters,
    coefficients=coefficients,
    constants=constants,
  )
  edge_probs.check_shapes(converted)
  return converted


def check_range(edges: Edges, phases: int) -> None:
  """Raises ValueError for an edge whose phase index is concrete and invalid."""
  rows = (("sources", edges.sources, 0), ("targets", edges.targets, 1))
  for name, indices, above in rows:
    known = static.concrete(indices)
    if known is None:
      continue
    wrong: onp.ndarray = (known < 0) | (known >= phases + above)
    if wrong.any():
      e = int(wrong.argmax())
      rule = f"{phases} is absorption" if above else "phases count from zero"
      raise ValueError(
        f"{name}[{e}] = {int(known[e])}: with {phases} phases it must be in "
        f"[0, {phases + above}); {rule}"
      )


def arrays(edges: Edges, batch_rank: int) -> tuple[Array, Array, Array]:
  """Returns the kernel's arrays of edges: indices, constants, coefficients.

  Args:
    edges: edges as `convert` returns them.
    batch_rank: the number of batch dimensions of the operands.
  """
  ones = (1,) * batch_rank
  (m,) = static.shape(edges.sources)
  (indices,) = kept_indices.evaluate(stacked, edges.sources, edges.targets)
  constants = edges.constants
  if constants is None:
    constants = structures.empty((0,), edges.parameters)
  coefficients = edges.coefficients
  if coefficients is None:
    coefficients = structures.empty((m, 0), edges.parameters)
  if batch_rank == 0:
    return indices, constants, coefficients
  return (
    np.reshape(indices, (*ones, 2, m)),
    np.reshape(constants, (*ones, *static.shape(constants))),
    np.reshape(coefficients, (*ones, *static.shape(coefficients))),
  )


def stacked(sources: Array, targets: Array) -> tuple[Array]:
  """Returns sources and targets as one array of shape (2, m)."""
  return (np.stack([sources, targets]),)


def values(
  parameters: Array, constants: Array | None, coefficients: Array | None
) -> Array:
  """Computes the weights of edges (..., m), linear in the parameters.

  Args:
    parameters: (..., d), or (..., m) without coefficients.
    constants: (..., m); None or an empty array for zeros.
    coefficients: (..., m, d); None or an array with d = 0 if the parameters are
      the weights.
  """
  weights = parameters
  if coefficients is not None and static.shape(coefficients)[-1] == 1:
    weights = coefficients[..., 0] * parameters
  elif coefficients is not None and static.shape(coefficients)[-1] > 0:
    weights = np.matmul(coefficients, parameters[..., None])[..., 0]
  if constants is not None and static.shape(constants)[-1] > 0:
    weights = weights + constants
  return weights


def dense(phases: int, edges: Edges) -> tuple[Array, Array]:
  """Computes the dense rates between phases (..., p, p), and exits (..., p).

  The diagonal holds the edges from a phase to itself. `edges` must come from
  `convert`.

  Raises:
    ValueError: there are more than 4096 phases.
  """
  if phases > MAX_DENSE_PHASES:
    raise ValueError(
      f"the model, given by edges, has {phases} phases: this function needs a "
      f"dense matrix, which may have at most {MAX_DENSE_PHASES} phases"
    )
  sources, targets = edges.sources, edges.targets
  lost = (sources < 0) | (sources >= phases)
  lost = lost | (targets < 0) | (targets > phases)
  rates = values(edges.parameters, edges.constants, edges.coefficients)
  rates = np.where(lost | np.logical_not(rates >= 0.0), float("nan"), rates)
  # Edges whose index is out of range add NaN to entry 0.
  places = np.where(lost, 0, sources * (phases + 1) + targets)
  sums = array_ops.segment_sum(rates, places, phases * (phases + 1))
  shape = (*static.shape(rates)[:-1], phases, phases + 1)
  sums = np.reshape(sums, shape)
  return sums[..., :phases], sums[..., phases]
