r"""Rewrites shared source for one substrate; the build's entry point.

    python substrates/meta/rewrite.py --substrate jax --outputs_root out \
        phasic/math/likelihood/phase_type.py tests/shared/phase_type_test.py

writes out/phasic/substrates/jax/math/phase_type.py and
out/tests/generated/jax/shared/phase_type_test.py. If constructs are refused,
they are printed as file:line:column: message, nothing is written, and the exit
status is 1.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
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


def _parser() -> argparse.ArgumentParser:
  parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
  parser.add_argument("--substrate", choices=tables.SUBSTRATES, required=True)
  parser.add_argument(
    "--omit_deps",
    default="",
    help="modules or Bazel labels, comma-separated, whose imports are dropped",
  )
  parser.add_argument("--source_root", default=".", type=pathlib.Path)
  where = parser.add_mutually_exclusive_group()
  where.add_argument("--outputs_root", type=pathlib.Path)
  where.add_argument(
    "--output", type=pathlib.Path, help="the output of the only input"
  )
  where.add_argument(
    "--check", action="store_true", help="write nothing, report problems"
  )
  parser.add_argument(
    "--init",
    choices=packages.KINDS,
    action="append",
    default=[],
    help="also write this __init__.py",
  )
  parser.add_argument("files", nargs="*", metavar="FILE")
  return parser


def _relative(name: str, root: pathlib.Path) -> str:
  """Returns the path of an input relative to the source root."""
  path = pathlib.Path(os.path.abspath(name))
  root = pathlib.Path(os.path.abspath(root))
  if not path.is_relative_to(root):
    path = pathlib.Path(os.path.abspath(root / name))
  if not path.is_relative_to(root):
    raise paths.PathError("is outside the source root")
  return path.relative_to(root).as_posix()


def run(arguments: argparse.Namespace) -> dict[pathlib.Path, str]:
  """Rewrites all inputs.

  Returns:
    The texts to write, by output path.

  Raises:
    RewriteError: with the problems of all files.
  """
  substrate, root = arguments.substrate, arguments.source_root
  omit_deps = frozenset(filter(None, arguments.omit_deps.split(",")))
  array_names = exports.array_names_of(substrate, root)
  outputs_root = arguments.outputs_root or pathlib.Path()
  texts: dict[pathlib.Path, str] = {}
  problems: list[source_lib.Problem] = []
  matched: set[str] = set()
  for kind in arguments.init:
    target = outputs_root / packages.init_path(kind, substrate)
    texts[arguments.output or target] = packages.init_text(kind, substrate)
  for name in arguments.files:
    try:
      path = _relative(name, root)
      target = outputs_root / paths.output_path(path, substrate)
      text = (root / path).read_text(encoding="utf-8")
      result = rewriter.rewrite(text, path, substrate, array_names, omit_deps)
    except (paths.PathError, OSError, UnicodeDecodeError) as error:
      problems.append(source_lib.Problem(name, 1, 1, str(error)))
    except source_lib.RewriteError as error:
      problems += error.problems
    else:
      problems += result.problems
      matched |= result.matched_omit_deps
      texts[arguments.output or target] = result.text
  for dependency in sorted(omit_deps - matched):
    first = arguments.files[0] if arguments.files else "."
    problems.append(
      source_lib.Problem(
        first, 1, 1, f"--omit_deps {dependency} matched no import"
      )
    )
  if problems:
    raise source_lib.RewriteError(problems)
  return texts


def main(argv: Sequence[str] | None = None) -> int:
  """Runs the command line; returns the exit status."""
  parser = _parser()
  arguments = parser.parse_args(argv)
  inputs = len(arguments.files) + len(arguments.init)
  if arguments.output and inputs != 1:
    parser.error("--output takes exactly one input")
  if not (arguments.outputs_root or arguments.output or arguments.check):
    parser.error("one of --outputs_root, --output, --check is required")
  try:
    texts = run(arguments)
  except source_lib.RewriteError as error:
    print(error, file=sys.stderr)
    return 1
  if not arguments.check:
    for path, text in texts.items():
      path.parent.mkdir(parents=True, exist_ok=True)
      path.write_text(text, encoding="utf-8")
  return 0


if __name__ == "__main__":
  sys.exit(main())
