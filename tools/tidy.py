"""Runs clang-tidy on the native sources that changed since they last passed.

    python tools/tidy.py FOLDER

FOLDER keeps an empty file for each source that passed, named by a digest of all
that clang-tidy read: the source, the headers of this project that it includes,
the flags, the checks, and the versions of the tools and packages.
"""

import argparse
import concurrent.futures
import hashlib
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import sysconfig

from tools import toolchain

_INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
# Where a header's path may start.
_ROOTS = ("", "phasic/include")


def included(source: pathlib.Path, root: pathlib.Path) -> set[pathlib.Path]:
  """Returns a source and the headers below `root` that it includes."""
  found: set[pathlib.Path] = set()
  pending = [source]
  while pending:
    path = pending.pop()
    if path in found:
      continue
    found.add(path)
    for name in _INCLUDE.findall(path.read_text(encoding="utf-8")):
      candidates = [root / start / name for start in _ROOTS]
      candidates.append(path.parent / name)
      pending += [other for other in candidates if other.is_file()]
  return found


def digest(
  source: pathlib.Path, root: pathlib.Path, settings: list[str]
) -> str:
  """Returns the name under which a source that passed is kept."""
  total = hashlib.sha256("\n".join(settings).encode())
  for path in sorted(included(source, root)):
    content = hashlib.sha256(path.read_bytes()).hexdigest()
    total.update(f"{content} {path.relative_to(root)}\n".encode())
  return total.hexdigest()


def _flags() -> list[str]:
  """Returns the compiler flags of the native code."""
  found = ["-std=c++17", "-xc++", "-I.", "-Iphasic/include"]
  found.append(f"-isystem{sysconfig.get_paths()['include']}")
  for package in ("pybind11", "jaxlib", "tensorflow"):
    spec = importlib.util.find_spec(package)
    if spec and spec.origin:
      # Not by way of a clone's link to the environment, which clones share.
      folder = pathlib.Path(spec.origin).resolve().parent
      found.append(f"-isystem{folder / 'include'}")
      if package == "jaxlib":
        found.append("-DPHASIC_HAVE_XLA")
  return found


def _settings(binary: str, flags: list[str]) -> list[str]:
  """Returns what the result depends on beside the sources."""
  freeze = subprocess.check_output(
    [sys.executable, "tools/freeze.py"], text=True
  )
  checks = pathlib.Path(".clang-tidy").read_text(encoding="utf-8")
  version = toolchain.version(binary, "--version")
  return [version, *flags, checks, freeze, *toolchain.lines()]


def main(argv: list[str] | None = None) -> int:
  """Runs clang-tidy; returns the exit status."""
  parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
  parser.add_argument("folder", type=pathlib.Path)
  folder = parser.parse_args(argv).folder
  folder.mkdir(parents=True, exist_ok=True)
  binary = str(pathlib.Path(sys.executable).parent / "clang-tidy")
  flags = _flags()
  settings = _settings(binary, flags)
  root = pathlib.Path.cwd()
  sources = [
    path
    for path in sorted((root / "native").rglob("*.cc"))
    if not path.name.endswith("_test.cc")
  ]

  def run(source: pathlib.Path) -> str | None:
    passed = folder / digest(source, root, settings)
    if passed.exists():
      os.utime(passed)  # The least recently used are pruned.
      return None
    result = subprocess.run(
      [binary, "--quiet", str(source.relative_to(root)), "--", *flags],
      check=False,
      stdout=subprocess.PIPE,
      stderr=subprocess.DEVNULL,
      text=True,
    )
    if result.returncode == 0:
      passed.touch()
      return ""
    return result.stdout or f"{source}: clang-tidy failed without a message"

  with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    results = list(pool.map(run, sources))
  ran = [result for result in results if result is not None]
  print(f"clang-tidy: {len(ran)} of {len(sources)} sources checked again")
  for result in filter(None, ran):
    print(result)
  return int(any(ran))


if __name__ == "__main__":
  sys.exit(main())
