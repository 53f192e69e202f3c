"""Phase-type distributions for NumPy, JAX and TensorFlow.

The public packages are `phasic.substrates.numpy`, `phasic.substrates.jax` and
`phasic.substrates.tf`; importing `phasic` gives the version and nothing heavy.
"""

import os

__version__ = "0.1.0"

# The PyPI name of this project; `phasic` at PyPI is an unrelated project.
_PROJECT = "phasic-substrates"
# Files that only the unrelated project has in its package `phasic`.
_OTHERS = ("phasic.h", "svgd.py")


def _check_folder() -> None:
  """Raises ImportError if PyPI's `phasic` is installed in this folder."""
  for name in _OTHERS:
    if os.path.exists(os.path.join(__path__[0], name)):
      raise ImportError(
        f"{__path__[0]} has files of another project: {name} and all but "
        "substrates, include and _native are of PyPI's phasic, these and "
        "__init__.py of phasic-substrates. Both are installed, and have a "
        "package of the same name. Remove both and install one: pip uninstall "
        "phasic phasic-substrates; pip install phasic-substrates. To use both, "
        "install each in its own environment"
      )


_check_folder()
