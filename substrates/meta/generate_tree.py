"""Generates the packages of all three substrates without Bazel.

    python substrates/meta/generate_tree.py --outputs_root /tmp/tree
    cd /tmp/tree && pytest tests/generated/jax

The tree has the packages, the generated and the single-substrate tests and
links to the native libraries. Files that did not change are not touched, and
files without a source are removed. Problems are printed and give exit status 1,
but all files that can be rewritten are written, so that work can go on.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
import os
import pathlib
import sys

if __package__ in (None, ""):
  # This file runs as a script. Find imports beside the path that was called,
  # and do not follow symbolic links: a sandboxed build then reads only its own
  # files.
  sys.path[0] = os.path.abspath(os.path.join(__file__, "..", "..", ".."))

from substrates.meta import exports
from substrates.meta import packages
from substrates.meta import paths
from substrates.meta import rewriter
from substrates.meta import source as source_lib
from substrates.meta import tables

# The text of phasic/__init__.py if the source has no such file.
_PACKAGE = '__version__ = "0"\n_PROJECT = "phasic-substrates"\n'


def _sources(root: pathlib.Path, substrate: str) -> Iterator[str]:
  for directory in ("phasic", f"substrates/{substrate}", "tests"):
    for path in sorted((root / directory).rglob("*.py")):
      name = path.relative_to(root).as_posix()
      seam = name.replace("phasic/internal/", f"substrates/{substrate}/", 1)
      if seam != name and (root / seam).exists():
        continue
      try:
        paths.output_path(name, substrate)
      except paths.PathError:
        continue
      yield name


def _copies(root: pathlib.Path) -> dict[str, str]:
  """Returns the files that are equal in all substrates: texts by path."""
  texts = {}
  for name in ("phasic/__init__.py", "phasic/py.typed"):
    if (root / name).exists():
      texts[name] = (root / name).read_text(encoding="utf-8")
  texts.setdefault("phasic/__init__.py", _PACKAGE)
  tests = root / "tests"
  for path in sorted([*tests.rglob("*.py"), *tests.rglob("*.cc")]):
    name = path.relative_to(root).as_posix()
    if path.relative_to(tests).parts[0] not in tables.WRITTEN_ONCE_TESTS:
      texts[name] = path.read_text(encoding="utf-8")
  return texts


def tree(
  root: pathlib.Path, substrates: Sequence[str]
) -> tuple[dict[str, str], list[source_lib.Problem]]:
  """Returns the generated files, texts by path, and all problems."""
  texts = _copies(root)
  problems: list[source_lib.Problem] = []
  texts["phasic/substrates/__init__.py"] = packages.init_text("substrates", "")
  for package in ("tests", "tests/generated"):
    texts[f"{package}/__init__.py"] = ""
  for substrate in substrates:
    array_names: frozenset[str] | None = None
    try:
      array_names = exports.array_names_of(substrate, root)
    except source_lib.RewriteError as error:
      problems += error.problems
    for name in _sources(root, substrate):
      text = (root / name).read_text(encoding="utf-8")
      try:
        result = rewriter.rewrite(text, name, substrate, array_names)
      except source_lib.RewriteError as error:
        problems += error.problems
        continue
      problems += result.problems
      texts[paths.output_path(name, substrate)] = result.text
    base = f"phasic/substrates/{substrate}"
    public = [
      package
      for package in tables.PUBLIC_PACKAGES
      if any(name.startswith(f"{base}/{package}/") for name in texts)
    ]
    besides = {
      name: module
      for name, module in tables.SUBSTRATE_NAMES[substrate].items()
      if f"{base}/internal/{module}.py" in texts
    }
    texts[f"{base}/__init__.py"] = packages.init_text(
      "substrate", substrate, public, besides
    )
    texts.setdefault(
      f"{base}/internal/__init__.py", packages.init_text("internal", substrate)
    )
    texts.setdefault(f"tests/generated/{substrate}/__init__.py", "")
    for package in public:
      texts.setdefault(f"{base}/{package}/__init__.py", "")
  return texts, problems


def _write(
  texts: dict[str, str], links: dict[str, pathlib.Path], output: pathlib.Path
) -> int:
  """Writes the files that changed; returns their number.

  Args:
    texts: the texts by path.
    links: the folders that are linked, by path.
    output: the output folder.
  """
  written = 0
  for name, text in texts.items():
    path = output / name
    if path.exists() and path.read_text(encoding="utf-8") == text:
      continue
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    written += 1
  for directory in ("phasic/substrates", "tests"):
    for path in (output / directory).rglob("*.py"):
      if path.relative_to(output).as_posix() not in texts:
        path.unlink()
  for name, target in links.items():
    link = output / name
    if link.is_symlink() or not link.exists():
      link.unlink(missing_ok=True)
      if target.is_dir():
        link.symlink_to(target, target_is_directory=True)
  return written


def main(argv: Sequence[str] | None = None) -> int:
  """Runs the command line; returns the exit status."""
  parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
  parser.add_argument("--source_root", default=".", type=pathlib.Path)
  parser.add_argument("--outputs_root", required=True, type=pathlib.Path)
  parser.add_argument(
    "--substrates",
    default=",".join(tables.SUBSTRATES),
    help="comma-separated; all by default",
  )
  parser.add_argument(
    "--native",
    type=pathlib.Path,
    help="directory with the native libraries; default phasic/_native",
  )
  arguments = parser.parse_args(argv)
  root = arguments.source_root.resolve()
  output = arguments.outputs_root.resolve()
  if output == root:
    parser.error("--outputs_root is the source tree itself")
  substrates = arguments.substrates.split(",")
  unknown = set(substrates) - set(tables.SUBSTRATES)
  if unknown:
    parser.error(f"unknown substrates: {', '.join(sorted(unknown))}")
  texts, problems = tree(root, substrates)
  native = (arguments.native or root / "phasic" / "_native").resolve()
  links = {
    "examples": root / "examples",
    "phasic/_native": native,
    "phasic/include": root / "phasic" / "include",
  }
  written = _write(texts, links, output)
  problems = list(dict.fromkeys(problems))  # Most occur once per substrate.
  for problem in problems:
    print(problem, file=sys.stderr)
  print(
    f"{output}: {len(texts)} files, {written} changed, {len(problems)} problems"
  )
  return 1 if problems else 0


if __name__ == "__main__":
  sys.exit(main())
