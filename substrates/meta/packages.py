"""Generates the `__init__` files that have no source file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from substrates.meta import late as late_lib
from substrates.meta import tables

_TITLES = {"numpy": "NumPy", "jax": "JAX", "tf": "TensorFlow"}

# The package `phasic` on PyPI is another project. If it is installed after this
# one, its phasic/__init__.py replaces ours. So phasic/substrates/__init__.py,
# the file below, checks which of the two it imports.
_SUBSTRATES = '''"""One package for each array library: numpy, jax and tf.

Import the one you use: `from phasic.substrates import jax as ph`.
"""

import phasic

# Uninstalling the other project removes our __init__.py, too.
if getattr(phasic, "__file__", None) is None:
  raise ImportError(
    f"{next(iter(phasic.__path__))} has no __init__.py: another project, PyPI's "
    "phasic, has a file of that name, and was removed with it. Install "
    "phasic-substrates again: pip install --force-reinstall --no-deps "
    "phasic-substrates"
  )
if getattr(phasic, "_PROJECT", "") != "phasic-substrates":
  raise ImportError(
    f"{phasic.__file__} is of another project, PyPI's phasic; substrates, beside "
    "it, is of phasic-substrates. Both are installed, and have a package of the "
    "same name. Remove both and install one: pip uninstall phasic "
    "phasic-substrates; pip install phasic-substrates. To use both, install "
    "each in its own environment"
  )
'''

KINDS = ("substrates", "substrate", "internal")


def init_path(kind: str, substrate: str) -> str:
  """Returns the path of a generated `__init__.py` below the outputs root."""
  directory = {
    "substrates": "phasic/substrates",
    "substrate": f"phasic/substrates/{substrate}",
    "internal": f"phasic/substrates/{substrate}/internal",
  }[kind]
  return f"{directory}/__init__.py"


def init_text(
  kind: str,
  substrate: str,
  packages: Sequence[str] = tables.PUBLIC_PACKAGES,
  besides: Mapping[str, str] | None = None,
) -> str:
  """Returns the text of a generated `__init__.py`.

  Args:
    kind: "substrates" for the package of all substrates, "substrate" for one
      of them, "internal" for its backend-specific modules.
    substrate: one of `tables.SUBSTRATES`; ignored for "substrates".
    packages: the public packages that a substrate imports.
    besides: other names, with the backend-specific modules that define them;
      None for `tables.SUBSTRATE_NAMES`.
  """
  if kind == "substrates":
    return _SUBSTRATES
  if kind == "internal":
    return f'"""The seam to {_TITLES[substrate]}; private."""\n'
  names = sorted(packages)
  base = f"phasic.substrates.{substrate}"
  late = [name for name in names if name in tables.LATE_PACKAGES]
  eager = [name for name in names if name not in late]
  lines = [f'"""Phase-type distributions for {_TITLES[substrate]}."""', ""]
  lines += ["import typing", ""]
  lines.append("from phasic import __version__")
  lines += [f"from {base} import {name}" for name in eager]
  if besides is None:
    besides = tables.SUBSTRATE_NAMES[substrate]
  lines += [
    f"from {base}.internal.{module} import {name}"
    for name, module in besides.items()
  ]
  lines += [
    f"from {base}.internal import {module}"
    for module in ("kernel_ops", "late_names")
  ]
  if late:
    lines += ["", "if typing.TYPE_CHECKING:"]
    lines += [f"  from {base} import {name}" for name in late]
  listed = sorted(["__version__", *names, *besides])
  lines += ["", _all(listed)]
  # Import all classes, so that a program that only imports the substrate can
  # load a pickle.
  lines += ["", *[f"late_names.load({name})" for name in eager]]
  lines += ["", "kernel_ops.warn_if_missing()"]
  modules = {name: (f"{base}.{name}", None) for name in late}
  lines += ["", *late_lib.resolver_lines(modules)]
  return "\n".join(lines) + "\n"


def _all(names: Sequence[str]) -> str:
  """Returns `__all__` as text, in the formatter's layout."""
  quoted = [f'"{name}"' for name in names]
  line = f"__all__ = [{', '.join(quoted)}]"
  if len(line) <= 80:
    return line
  return "\n".join(["__all__ = [", *[f"  {name}," for name in quoted], "]"])
