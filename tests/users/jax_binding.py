"""A function of one's own on the host, with both Jacobian products."""

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt

from phasic.substrates import jax as ph

binding = ph.binding


Floats = npt.NDArray[np.float64]


def _cube(x: Floats) -> Floats:
  return x * x * x


def _slope(x: Floats, tangent: Floats) -> Floats:
  return 3.0 * x * x * tangent


def _jvp(primals: tuple[Floats], tangents: tuple[Floats]) -> Floats:
  return _slope(primals[0], tangents[0])


def _vjp(primals: tuple[Floats], cotangent: Floats) -> tuple[Floats]:
  return (_slope(primals[0], cotangent),)


def main() -> dict[str, float]:
  """Returns the value and the derivative of a cube at two."""
  cube = binding.bind(_cube, jvp=_jvp, vjp=_vjp)
  x = jnp.asarray(2.0)
  value = jax.jit(cube)(x)
  slope = jax.grad(lambda y: jnp.sum(cube(y)))(x)
  _, along = jax.jvp(cube, (x,), (jnp.asarray(1.0),))
  return {"value": float(value), "slope": float(slope), "along": float(along)}


if __name__ == "__main__":
  print(main())
