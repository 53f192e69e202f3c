"""What models are called in signatures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from phasic.internal.arrays import Array
from phasic.internal.arrays import ArrayLike
from phasic.math.model.edge_probs import EdgeProbs
from phasic.math.model.edge_rates import EdgeRates
from phasic.math.model.edge_rates import Edges

# What users give in the place of S, or of T.
SubgeneratorLike: TypeAlias = ArrayLike | EdgeRates
SubtransitionLike: TypeAlias = ArrayLike | EdgeProbs
# What users give for any argument of a model; None for what is derived.
Given: TypeAlias = ArrayLike | Edges | None
# A matrix, or the edges that it is made of.
Matrix: TypeAlias = Array | Edges
# Starts, matrix, exits and the mass at zero, as arrays; None for absent ones.
Model: TypeAlias = tuple[Array, Matrix, Array | None, Array | None]
# The same with times, or what stands in their place, in the middle.
TimedModel: TypeAlias = tuple[Array, Matrix, Array, Array | None, Array | None]
# Operands of the kernel: a timed model's five, all arrays.
KernelArrays: TypeAlias = Sequence[Array]
# The four of them that are the model's.
ModelArrays: TypeAlias = Sequence[Array]
# Of a sparse model, its edges: sources, targets, constants and coefficients.
EdgeArrays: TypeAlias = Sequence[Array]
