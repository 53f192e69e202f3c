"""Prints where the build finds headers, as key=path lines.

    python probe.py JAX_HEADERS

JAX_HEADERS is the folder of JAX's headers that setup.sh made: those of the
oldest jaxlib that is supported, not those of the one that is installed.
Finds packages without importing them: TensorFlow alone takes seconds.
"""

import importlib.util
import pathlib
import sys
import sysconfig


def package_dir(name: str) -> pathlib.Path | None:
  """The directory of an installed package, or None."""
  spec = importlib.util.find_spec(name)
  if spec is None or not spec.submodule_search_locations:
    return None
  return pathlib.Path(next(iter(spec.submodule_search_locations)))


def existing(*parts: pathlib.Path | str | None) -> str:
  """The joined path if all of it exists, else an empty string."""
  if parts[0] is None:
    return ""
  path = pathlib.Path(*parts)  # type: ignore[arg-type]
  return str(path) if path.exists() else ""


def main() -> None:
  tensorflow = package_dir("tensorflow")
  jax = pathlib.Path(sys.argv[1]) if package_dir("jax") else None
  found = {
    "python_include": sysconfig.get_paths()["include"],
    "pybind11_include": existing(package_dir("pybind11"), "include"),
    "jax_include": existing(jax, "include"),
    "tf_include": existing(tensorflow, "include"),
    "tf_library": str(tensorflow or ""),
  }
  print("\n".join(f"{key}={value}" for key, value in found.items()))


if __name__ == "__main__":
  main()
