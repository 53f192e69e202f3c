"""Results that have no derivative: whoever asks for one is told why."""

from phasic.internal import custom_gradient


def _forward(advice, value, *arrays):
  return attach(advice, value, *arrays), ()


def _no_vjp(advice, residuals, cotangent):
  raise NotImplementedError(advice)


def _no_jvp(advice, primals, tangents):
  raise NotImplementedError(advice)


@custom_gradient.custom_gradient(
  vjp_fwd=_forward,
  vjp_bwd=_no_vjp,
  jvp_fn=_no_jvp,
  nondiff_argnums=(0,),
  eager=True,
)
def attach(advice, value, *arrays):
  """Returns the value, whose derivatives in the arrays raise.

  Args:
    advice: what NotImplementedError then says.
    value: an array, a constant to the frameworks.
    *arrays: what it was computed from.
  """
  del advice, arrays
  return value
