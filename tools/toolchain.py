"""Prints what C++ code is built with beside its inputs, one thing a line.

Bazel does not see the compiler's version and the system's headers, and its
disk cache outlives an upgrade of them. setup.sh puts a digest of these lines
into the key of every action.
"""

import hashlib
import os
import pathlib
import shutil
import subprocess

# Compilers that the build or tools/sanitize.sh may choose.
_COMPILERS = ["cc", "c++", "gcc", "g++", "clang", "clang++"] + [
  f"clang-{version}" for version in range(11, 22)
]
_LIBRARY_FOLDERS = ["/usr/lib", "/usr/local/lib"]
_HEADERS = [
  "/usr/include/eigen3",
  "/usr/include/gtest",
  "/usr/local/include/gtest",
]


def version(*command: str) -> str:
  """Returns the first line that a command prints, or "none" without it."""
  if shutil.which(command[0]) is None:
    return "none"
  # Some print it as an error.
  output = subprocess.run(
    command,
    stdout=subprocess.PIPE,
    stderr=subprocess.STDOUT,
    text=True,
    env=os.environ | {"LC_ALL": "C"},
  ).stdout
  return (output.splitlines() or ["none"])[0]


def digest(paths: list[pathlib.Path]) -> str:
  """Returns a digest of the names and contents of files and folders."""
  files = set()
  for path in paths:
    files |= set(path.rglob("*")) if path.is_dir() else {path}
  total = hashlib.sha256()
  for file in sorted(files):
    if file.is_file():
      content = hashlib.sha256(file.read_bytes()).hexdigest()
      total.update(f"{content} {file}\n".encode())
  return total.hexdigest()


def _libraries(pattern: str) -> list[pathlib.Path]:
  """Returns the system's library files that match a pattern."""
  found = []
  for folder in map(pathlib.Path, _LIBRARY_FOLDERS):
    found += [*folder.glob(pattern), *folder.glob(f"*-linux-gnu/{pattern}")]
  return found


def lines() -> list[str]:
  """Returns one line for each compiler, library and tree of headers."""
  compilers = [*_COMPILERS, *filter(None, map(os.environ.get, ("CC", "CXX")))]
  return [
    *(f"{name}: {version(name, '--version')}" for name in compilers),
    f"linker: {version('ld', '--version')}",
    f"glibc: {os.confstr('CS_GNU_LIBC_VERSION')}, {version('ldd', '--version')}",
    f"libstdc++: {digest(_libraries('libstdc++.so.6'))}",
    f"GoogleTest: {digest(_libraries('libgtest*.a'))}",
    *(f"{path}: {digest([pathlib.Path(path)])}" for path in _HEADERS),
  ]


if __name__ == "__main__":
  print("\n".join(lines()))
