"""Phase-type distributions for NumPy, JAX and TensorFlow.

The public packages are `phasic.substrates.numpy`, `phasic.substrates.jax` and
`phasic.substrates.tf`; importing `phasic` gives the version and nothing heavy.
"""

import os

__version__ = "0.1.0"

# The name that this project has at PyPI, whose `phasic` is another project.
_PROJECT = "phasic-substrates"
# Files that only the other one has in its package: one look at each is cheap.
_OTHERS = ("phasic.h", "svgd.py")


def _check_folder() -> None:
  """Raises ImportError where the other project was installed into this folder."""
  for name in _OTHERS:
    if os.path.exists(os.path.join(__path__[0], name)):
      raise ImportError(
        f"{__path__[0]} has files of another project: phasic and "
        "phasic-substrates are both installed, and have a package of the same "
        "name. Remove both and install one: pip uninstall phasic "
        "phasic-substrates; pip install phasic-substrates. For both, make an "
        "environment for each"
      )


_check_folder()
