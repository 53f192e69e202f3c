"""Values and derivatives of phase-type functions, by kernel or portable path.

Arguments are the five of `operands.ARGUMENTS`, or with `discrete` those of
`operands.DISCRETE_ARGUMENTS`.
"""

from phasic.internal import kernel_ops
from phasic.math.model import operands as operands_lib
from phasic.math.portable import portable_edges


def value(kind, arguments, discrete=False):
  """Lays the arguments out, calls the kernel and restores the shape."""
  operands, layout, edges = _prepare(arguments, discrete)
  result = kernel_ops.phase_type(
    kind, operands, fallback(discrete), edges, discrete=discrete
  )
  return operands_lib.result(layout, result)


def fallback(discrete):
  """The function of the portable path."""
  if discrete:
    return portable_edges.discrete_phase_type
  return portable_edges.phase_type


def _prepare(arguments, discrete):
  """Returns operands, layout and the arrays of edges."""
  names = operands_lib.names(discrete)
  arguments = operands_lib.convert(*arguments, names=names)
  operands, layout = operands_lib.canonical(arguments, names)
  return operands, layout, operands_lib.edges(layout, arguments)
