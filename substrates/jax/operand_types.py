"""Types of the operands and results of a `multilinear.Map`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

import jax
from jax.interpreters import ad
from jax.interpreters import mlir
import numpy as onp

from phasic.substrates.jax.internal import static
from phasic.substrates.jax.internal.arrays import Array

# The size of a dimension: an int, or symbolic in an export. JAX has no public
# type of symbolic sizes.
Size: TypeAlias = Any
# The shape and the dtype of a result.
Spec: TypeAlias = tuple[static.Shape, onp.dtype]
# A tangent or a cotangent.
Tangent: TypeAlias = Array | ad.Zero
# The tree of an argument or a result.
TreeDef: TypeAlias = jax.tree_util.PyTreeDef
# The values of a lowered call, as `mlir.LoweringRule` returns them.
Lowered: TypeAlias = "Sequence[mlir.ir.Value | Sequence[mlir.ir.Value]]"


class Shaped(Protocol):
  """An array, or an abstract value of JAX in place of one."""

  @property
  def shape(self) -> static.Shape:
    """Returns the sizes, which may be symbolic."""

  @property
  def dtype(self) -> onp.dtype:
    """Returns the dtype."""
