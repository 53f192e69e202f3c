"""Golden files: the rewriter's expected output for testdata/source.

They end in .txt so that no tool takes them for code of the project.
"""

from __future__ import annotations

import pathlib
import tempfile

from substrates.meta import paths
from substrates.meta import rewrite
from substrates.meta import tables

_TESTDATA = pathlib.Path(__file__).parent / "testdata"
SOURCE = _TESTDATA / "source"
GOLDEN = _TESTDATA / "golden"

# The values of --omit_deps for JAX, by golden directory.
_OMITTED = {
  "omit_one": "phasic.distributions.erlang",
  "omit_module": "//phasic/distributions:phase_type",
  "omit_several": "phasic/distributions:coxian,phasic/distributions:erlang",
}


def sources(substrate: str) -> list[str]:
  """Returns the paths of the sources that a substrate includes."""
  names = []
  for path in sorted(SOURCE.rglob("*.py.txt")):
    name = path.relative_to(SOURCE).as_posix().removesuffix(".txt")
    try:
      paths.output_path(name, substrate)
    except paths.PathError:
      continue
    names.append(name)
  return names


def outputs(substrate: str, names: list[str], *options: str) -> dict[str, str]:
  """Rewrites a copy of the sources by the command line; returns the outputs.

  Args:
    substrate: the target.
    names: the sources to rewrite.
    *options: further options of the command line.

  Returns:
    The texts written, by path below the outputs root.
  """
  with tempfile.TemporaryDirectory() as directory:
    root = pathlib.Path(directory)
    for path in SOURCE.rglob("*.py.txt"):
      copy = root / path.relative_to(SOURCE).with_suffix("")
      copy.parent.mkdir(parents=True, exist_ok=True)
      copy.write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    output = root / "out"
    where = [f"--source_root={root}", f"--outputs_root={output}"]
    if rewrite.main([f"--substrate={substrate}", *where, *options, *names]):
      raise RuntimeError("testdata/source has problems")
    return {
      path.relative_to(output).as_posix(): path.read_text(encoding="utf-8")
      for path in output.rglob("*.py")
    }


def expected() -> dict[str, str]:
  """Returns the stored golden files by `<directory>/<output path>`."""
  return {
    path.relative_to(GOLDEN).as_posix().removesuffix(".txt"): path.read_text(
      encoding="utf-8"
    )
    for path in GOLDEN.rglob("*.txt")
  }


def actual() -> dict[str, str]:
  """Returns the current rewriter's output, with the keys of `expected`."""
  cases = {
    substrate: outputs(
      substrate, sources(substrate), "--init=substrates", "--init=substrate"
    )
    for substrate in tables.SUBSTRATES
  }
  for case, omitted in _OMITTED.items():
    cases[case] = outputs(
      "jax", ["phasic/distributions/__init__.py"], f"--omit_deps={omitted}"
    )
  return {
    f"{case}/{name}": text
    for case, texts in cases.items()
    for name, text in texts.items()
  }
