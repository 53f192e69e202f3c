"""Type aliases of models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from phasic.internal.arrays import Array, ArrayLike, SparseMatrix
from phasic.math.model.edge_probs import EdgeProbs
from phasic.math.model.edge_rates import EdgeRates
from phasic.math.model.edge_rates import Edges

# The types that users may pass as the subgenerator S, or the matrix T of steps.
SubgeneratorLike: TypeAlias = ArrayLike | SparseMatrix | EdgeRates
SubtransitionLike: TypeAlias = ArrayLike | SparseMatrix | EdgeProbs
# The types that users may pass as any argument; None if it is derived.
Given: TypeAlias = ArrayLike | SparseMatrix | Edges | None
# A dense matrix, or the edges of a sparse one.
Matrix: TypeAlias = Array | Edges
# Initial masses, matrix, exits and the mass at zero; None for absent ones.
Model: TypeAlias = tuple[Array, Matrix, Array | None, Array | None]
# A model with a matrix.
MatrixModel: TypeAlias = tuple[Array, Array, Array | None, Array | None]
# A sparse model whose exits are edges.
EdgeModel: TypeAlias = tuple[Array, Edges, None, Array | None]
# A model with times, or other values such as rewards, after the matrix.
TimedModel: TypeAlias = tuple[Array, Matrix, Array, Array | None, Array | None]
# The kernel's five operands of a timed model, all arrays.
KernelArrays: TypeAlias = Sequence[Array]
# The kernel's four operands of a model.
ModelArrays: TypeAlias = Sequence[Array]
# The edges of a sparse model: indices, constants and coefficients.
EdgeArrays: TypeAlias = Sequence[Array]
