"""Type aliases of models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from phasic.internal.arrays import Array
from phasic.internal.arrays import ArrayLike
from phasic.internal.arrays import SparseMatrix
from phasic.math.model.edge_probs import EdgeProbs
from phasic.math.model.edge_rates import EdgeRates
from phasic.math.model.edge_rates import Edges

# What users give as S, or as T.
SubgeneratorLike: TypeAlias = ArrayLike | SparseMatrix | EdgeRates
SubtransitionLike: TypeAlias = ArrayLike | SparseMatrix | EdgeProbs
# What users give for any argument of a model; None for a derived one.
Given: TypeAlias = ArrayLike | SparseMatrix | Edges | None
# A matrix, or its edges.
Matrix: TypeAlias = Array | Edges
# Initial masses, matrix, exits and the mass at zero; None for absent ones.
Model: TypeAlias = tuple[Array, Matrix, Array | None, Array | None]
# The same with times, or another argument in their place, in the middle.
TimedModel: TypeAlias = tuple[Array, Matrix, Array, Array | None, Array | None]
# The kernel's five operands of a timed model, all arrays.
KernelArrays: TypeAlias = Sequence[Array]
# The kernel's four operands of a model.
ModelArrays: TypeAlias = Sequence[Array]
# The edges of a sparse model: indices, constants and coefficients.
EdgeArrays: TypeAlias = Sequence[Array]
