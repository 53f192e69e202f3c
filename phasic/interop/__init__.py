"""Adapters to other libraries, one in each module.

Each is there for the substrates where its library lives, and imports it:
`interop.scipy` for NumPy, `interop.numpyro` for JAX, `interop.tfp` for JAX and
TensorFlow. All have `wrap(distribution)`.
"""

MODE = "numpy"

if MODE == "numpy":
  from phasic.interop import scipy

  __all__ = ["scipy"]
if MODE == "jax":
  from phasic.interop import numpyro
  from phasic.interop import tfp

  __all__ = ["numpyro", "tfp"]
if MODE == "tf":
  from phasic.interop import tfp

  __all__ = ["tfp"]
