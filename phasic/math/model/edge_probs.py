"""Sparse discrete models: probabilities of edges, linear in parameters."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as onp

from phasic.internal import dtypes
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import ArrayField
from phasic.saving import pickles
from phasic.saving import saved
from phasic.saving import texts


class EdgeProbs(NamedTuple):
  """The probabilities of a sparse chain's edges, linear in parameters.

  In each step edge e leads from sources[e] to targets[e] with probability

      prob_e = constants[e] + sum_c coefficients[e, c] parameters[..., c].

  Target p, the number of phases, is absorption. Parallel edges add up. The
  probability of staying in a phase is one minus the probabilities of its edges
  to other phases and to absorption. So edges from a phase to itself may be left
  out. A deficit of a row up to 4 p eps counts as rounding; a row above one
  gives NaN. Derivatives follow this rule: the derivative in an edge from a
  phase to itself is zero by definition, and any other edge moves the
  probability of staying too. Derivatives exist in `parameters`. To
  differentiate in coefficients or constants, compute the probabilities yourself
  and pass them as parameters without coefficients.

  Attributes:
    sources: (m,), integers in [0, p).
    targets: (m,), integers in [0, p].
    parameters: theta, (..., d); without coefficients the probabilities, (...,
      m). Every probability must be >= 0, else values are NaN.
    coefficients: (m, d), or None.
    constants: (m,), or None for zeros.

  Example: three heads, where a head comes with probability 1/4.

    >>> import numpy as np
    >>> from phasic import math as pm
    >>> edges = pm.EdgeProbs([0, 1, 2], [1, 2, 3], [0.25], [[1.0]] * 3)
    >>> value = pm.discrete_phase_type.prob(4, [1.0, 0.0, 0.0], edges)
    >>> print(f"{float(value):.6f}")
    0.035156
  """

  sources: ArrayField
  targets: ArrayField
  parameters: ArrayField
  coefficients: ArrayField | None = None
  constants: ArrayField | None = None

  def __repr__(self) -> str:
    return text_of(self)

  def __reduce__(self) -> tuple[object, ...]:
    return pickles.reduce(self)

  def to_json(self) -> str:
    """Returns the edges as JSON text, see `Distribution.to_json`.

    Raises:
      TypeError: a field is not an array of numbers, e.g. a function.
      ValueError: a field is traced, or shapes do not fit.
    """
    text = saved.dumps(self)
    check_parts(self._asdict())
    return text

  @classmethod
  def from_json(cls, text: str | bytes) -> Self:
    """Reads edges from text of `to_json`, see `Distribution.from_json`.

    Probabilities and ranges of indices are checked where the edges are used.

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
    check_parts(parts)
    return cls(**parts)


def text_of(edges: tuple[object, ...]) -> str:
  """Returns the text of a sparse model for `repr`: its class and shapes."""
  names = EdgeProbs._fields
  shapes = [
    f"{name}={getattr(x, 'shape', None) or onp.shape(onp.asarray(x))}"
    for name, x in zip(names, edges, strict=True)
    if x is not None
  ]
  return f"<{type(edges).__name__} of shapes {', '.join(shapes)}>"


def check_parts(parts: dict[str, Any]) -> None:
  """Raises TypeError or ValueError unless edges can be made of their fields."""
  texts.check_keys(parts, EdgeProbs._fields, "parameters")
  arrays = dict(parts)
  for end in ("sources", "targets"):
    arrays[end] = structures.as_index_array(parts[end], end)
  dtypes.numeric(parts["parameters"], "parameters")
  weights = ("parameters", "coefficients", "constants")
  dtype = dtypes.common_dtype({name: parts[name] for name in weights})
  for name in weights:
    if parts[name] is not None:
      arrays[name] = structures.as_array(parts[name], dtype, name)
  check_shapes(EdgeProbs(**arrays))


def check_shapes(edges: Any) -> None:
  """Raises ValueError unless the shapes of the arrays fit each other."""
  sources, targets = static.shape(edges.sources), static.shape(edges.targets)
  if len(sources) != 1 or sources != targets:
    raise ValueError(
      f"sources have shape {sources} and targets {targets}: both must be (m,)"
    )
  (m,) = sources
  parameters = static.shape(edges.parameters)
  if edges.constants is not None and static.shape(edges.constants) != (m,):
    raise ValueError(
      f"constants have shape {static.shape(edges.constants)}: they must have "
      f"the shape of the sources, ({m},)"
    )
  if edges.coefficients is None:
    wanted = m
  else:
    coefficients = static.shape(edges.coefficients)
    if len(coefficients) != 2 or coefficients[0] != m or coefficients[1] == 0:
      raise ValueError(
        f"coefficients have shape {coefficients}: they must be ({m}, d) with "
        "d > 0"
      )
    wanted = coefficients[1]
  if len(parameters) < 1 or parameters[-1] != wanted:
    raise ValueError(
      f"parameters have shape {parameters}: they must be (..., {wanted})"
    )
