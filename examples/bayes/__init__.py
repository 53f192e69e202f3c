"""Posteriors by the samplers of NumPyro and BlackJAX.

The log-likelihood is phasic's, unchanged; priors, samplers and optimizers are
those libraries' own.
"""

import jax

# JAX computes in single precision unless told otherwise before it is used.
jax.config.update("jax_enable_x64", True)
