"""Writes array_names.py from the installed NumPy and JAX.

Run `python substrates/meta/make_array_names.py` after an upgrade of either;
a test compares the table with the installed modules.
"""

from __future__ import annotations

import os
import sys
import textwrap
import types

if __package__ in (None, ""):
  # This file runs as a script. Find imports beside the path that was called,
  # and do not follow symbolic links: a sandboxed build then reads only its own
  # files.
  sys.path[0] = os.path.abspath(os.path.join(__file__, "..", "..", ".."))

from substrates.meta import tables

_HEADER = '''"""The `np.` names of NumPy and of jax.numpy.

Written by make_array_names.py. TensorFlow's names are read from
substrates/tf/array_functions.py.
"""

from __future__ import annotations
'''


def names_of(module: types.ModuleType) -> list[str]:
  """Returns the public names of an array namespace, e.g. `linalg.<name>`."""
  found = []
  listed: list[str] = getattr(module, "__all__", dir(module))
  for name in listed:
    value = getattr(module, name)
    if name in tables.ARRAY_SUBMODULES:
      found += [f"{name}.{inner}" for inner in names_of(value)]
    elif (
      not name.startswith("_")
      and not isinstance(value, types.ModuleType)
      and name not in tables.REFUSED_ARRAY_NAMES
    ):
      found.append(name)
  return sorted(found)


def module_text() -> str:
  """Returns the text of array_names.py for the installed NumPy and JAX."""
  import jax.numpy
  import numpy

  parts = [_HEADER]
  for name, module, later in (
    ("_NUMPY", numpy, tables.LATER_NUMPY_NAMES | tables.GONE_NUMPY_NAMES),
    ("_JAX", jax.numpy, frozenset[str]()),
  ):
    body = textwrap.fill(
      " ".join(x for x in names_of(module) if x not in later),
      78,
      initial_indent="  ",
      subsequent_indent="  ",
      break_on_hyphens=False,
    )
    parts.append(f'\n{name} = """\n{body}\n"""\n')
  parts.append(
    "\nNAMES = {\n"
    '  "numpy": frozenset(_NUMPY.split()),\n'
    '  "jax": frozenset(_JAX.split()),\n'
    "}\n"
  )
  return "".join(parts)


def main() -> None:
  """Writes array_names.py beside this file."""
  path = os.path.join(os.path.dirname(__file__), "array_names.py")
  with open(path, "w", encoding="utf-8") as file:
    file.write(module_text())


if __name__ == "__main__":
  main()
