"""Type aliases of models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from phasic.internal.arrays import Array, ArrayLike, SparseMatrix
from phasic.math.model.edge_probs import EdgeProbs
from phasic.math.model.edge_rates import EdgeRates
from phasic.math.model.edge_rates import Edges

# The types that users may pass as the subgenerator S or the subtransition T.
SubgeneratorLike: TypeAlias = ArrayLike | SparseMatrix | EdgeRates
SubtransitionLike: TypeAlias = ArrayLike | SparseMatrix | EdgeProbs
# The types that users may pass as some argument of a model. None stands for an
# argument that is derived from the others.
Given: TypeAlias = ArrayLike | SparseMatrix | Edges | None
# The matrix of a model: a dense array, or the edges of a sparse matrix.
Matrix: TypeAlias = Array | Edges
# A model: initial masses, matrix, exits and mass at zero. The last two may be
# None.
Model: TypeAlias = tuple[Array, Matrix, Array | None, Array | None]
# A model with a matrix.
MatrixModel: TypeAlias = tuple[Array, Array, Array | None, Array | None]
# A sparse model. Its exits are edges to absorption, so the third entry is None.
EdgeModel: TypeAlias = tuple[Array, Edges, None, Array | None]
# A model with times, or other values such as rewards, after the matrix.
TimedModel: TypeAlias = tuple[Array, Matrix, Array, Array | None, Array | None]
# The kernel's five operands of a timed model, all arrays.
KernelArrays: TypeAlias = Sequence[Array]
# The kernel's four operands of a model.
ModelArrays: TypeAlias = Sequence[Array]
# The edges of a sparse model: indices, constants and coefficients.
EdgeArrays: TypeAlias = Sequence[Array]
