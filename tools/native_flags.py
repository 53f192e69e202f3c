"""Prints the compiler flags of the native code, one a line, for clang-tidy."""

import importlib.metadata
import pathlib
import sysconfig


def _directory(package: str, *parts: str) -> str | None:
  try:
    distribution = importlib.metadata.distribution(package)
  except importlib.metadata.PackageNotFoundError:
    return None
  # Not by way of a clone's link to the environment, which clones share.
  path = pathlib.Path(str(distribution.locate_file(pathlib.Path(*parts))))
  return str(path.resolve())


def flags() -> list[str]:
  """Returns the flags."""
  includes = [
    sysconfig.get_paths()["include"],
    _directory("pybind11", "pybind11", "include"),
    _directory("jaxlib", "jaxlib", "include"),
    _directory("tensorflow-cpu", "tensorflow", "include"),
  ]
  found = ["-std=c++17", "-xc++", "-I.", "-Iphasic/include"]
  found += [f"-isystem{path}" for path in includes if path]
  if includes[2]:
    found.append("-DPHASIC_HAVE_XLA")
  return found


def main() -> None:
  print("\n".join(flags()))


if __name__ == "__main__":
  main()
