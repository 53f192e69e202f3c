"""Runs in a clean environment: `isolated_check.py {numpy,jax,tf}`.

Imports one substrate from the installed wheel, computes with it and prints
what it found as JSON.
"""

import importlib
import inspect
import json
import math
import sys

import phasic

SUBSTRATE = sys.argv[1]
HEAVY = ("jax", "tensorflow", "numpy")
# Packages that only adapters, or single functions, import.
OPTIONAL = (
  "formulaic",
  "matplotlib",
  "networkx",
  "numpyro",
  "statsmodels",
  "tensorflow_probability",
  "tqdm",
)
ADAPTERS = {"numpy": ["scipy"], "jax": ["numpyro", "tfp"], "tf": ["tfp"]}


def duplicates() -> list[str]:
  """Classes of phasic that are loaded from more than one module."""
  homes: dict[str, set[str]] = {}
  for name, module in list(sys.modules.items()):
    if name.split(".")[0] != "phasic":
      continue
    for _, cls in inspect.getmembers(module, inspect.isclass):
      if cls.__module__.split(".")[0] == "phasic":
        homes.setdefault(cls.__qualname__, set()).add(cls.__module__)
  return sorted(name for name, modules in homes.items() if len(modules) > 1)


def adapters(root: str) -> dict[str, str]:
  """What importing each adapter says, where its library is missing."""
  found = {}
  for name in ADAPTERS[SUBSTRATE]:
    try:
      importlib.import_module(f"{root}.interop.{name}")
      found[name] = ""
    except ImportError as error:
      found[name] = str(error)
  return found


def main() -> None:
  light = not any(name in sys.modules for name in HEAVY)
  root = f"phasic.substrates.{SUBSTRATE}"
  module = importlib.import_module(root)
  for name in module.__all__:  # Some are imported when they are asked for.
    getattr(module, name)
  others = [
    name
    for name in sys.modules
    if name.startswith("phasic.substrates.") and f"{name}.".find(f"{root}.")
  ]
  dist = module.distributions.PhaseType(
    [0.25, 0.75], [[-3.0, 1.0], [0.0, -2.0]]
  )
  value = float(dist.log_prob(1.5))
  kernel_ops = importlib.import_module(f"{root}.internal.kernel_ops")
  # alpha exp(S t) s, from the triangular matrix's two exponentials.
  a, b = math.exp(-3.0 * 1.5), math.exp(-2.0 * 1.5)
  exact = math.log(0.25 * (2.0 * a + 2.0 * (b - a)) + 0.75 * 2.0 * b)
  print(
    json.dumps(
      {
        "version": phasic.__version__,
        "file": phasic.__file__,
        "light": light,
        "frameworks": [n for n in ("jax", "tensorflow") if n in sys.modules],
        "optional": [n for n in OPTIONAL if n in sys.modules],
        "adapters": adapters(root),
        "other_substrates": others,
        "duplicates": duplicates(),
        "path": kernel_ops.path(),
        "reason": kernel_ops.unavailable_reason(),
        "error": abs(value - exact),
      }
    )
  )


if __name__ == "__main__":
  main()
