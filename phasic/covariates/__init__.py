"""Covariates: columns of numbers, from formulas, names or arrays."""

from phasic.covariates.columns import column
from phasic.covariates.designs import Design
from phasic.covariates.designs import design

__all__ = [
  "Design",
  "column",
  "design",
]
