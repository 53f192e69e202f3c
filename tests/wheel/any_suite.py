"""The wheel for any system, as a user without a compiler gets it.

    python -m tests.wheel.any_suite WHEEL TREE

TREE has the generated tests (substrates/meta/generate_tree.py). They run from
the wheel in an environment of its own, without a compiler and without the clone
on the path: with the versions' suites, the cells of pages, and all public
functions in JAX and TensorFlow against NumPy's. Prints a line for each step, and
closes with `N passed, N failed, N skipped`.
"""

import json
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time

from tests.wheel import environments

_PACKAGES = [
  *("numpy", "scipy", "jax", "flatbuffers", "tensorflow-cpu"),
  *("statsmodels", "matplotlib", "tqdm", "networkx", "pandas", "formulaic"),
  *("pytest", "absl-py", "hypothesis", "mpmath", "gmpy2", "python-flint"),
]
_PAGES = [
  "getting-started/quickstart.md",
  "tutorials/survival.md",
  "tutorials/coalescent-trees.md",
]
# Values against closed forms, ball arithmetic and many digits.
_NUMPY = [
  "kernel/portable_test",
  "kernel/portable_accuracy_test",
  "kernel/portable_derivatives_test",
  "kernel/phase_type_test",
  "kernel/discrete_phase_type_test",
  "kernel/edge_rates_test",
  "kernel/expected_statistics_test",
  "kernel/expected_statistics_laws_test",
  "quantiles/quantile_test",
  "quantiles/quantile_portable_test",
  "moments/moments_test",
  "moments/elimination_test",
  "moments/phase_weights_test",
  "moments/transition_probs_test",
  "intervals/intervals_test",
  "conformance/conformance_quantiles_test",
  "conformance/conformance_structure_test",
  "inference/em_step_test",
  "inference/fit_em_test",
  "graphs/graphs_test",
]
_JAX = [
  "kernel/portable_test",
  "kernel/expected_statistics_laws_test",
  "moments/elimination_test",
]
_CROSS = ["public_math_test", "public_inference_test"]
_SECONDS = 1800  # for a step
_TESTS_OF_FILES = re.compile(r"(\d+) (passed|failed|skipped|error)")


class Suite:
  """Steps in one environment.

  Attributes:
    counts: numbers of tests by their results.
  """

  def __init__(self, folder: pathlib.Path, python: pathlib.Path):
    self.counts = {"passed": 0, "failed": 0, "skipped": 0}
    self._folder, self._python = folder, python

  def run(self, name: str, *arguments: str, path: str = "") -> None:
    """Runs Python; counts the tests that its last lines name, or one."""
    begin = time.monotonic()
    environment = {
      "PATH": str(self._folder / "no-programs"),
      "HOME": str(self._folder),
      "JAX_PLATFORMS": "cpu",
      "MPLBACKEND": "Agg",
      "OPENBLAS_NUM_THREADS": "1",
      "PHASIC_REQUIRE_KERNEL": "0",
      "PHASIC_EXPECTED_PATH": "portable",
      "PYTHONPATH": path,
      "TF_CPP_MIN_LOG_LEVEL": "3",
    }
    isolated = [] if path else ["-I"]
    log = ""
    try:
      result = subprocess.run(
        [str(self._python), "-B", *isolated, *arguments],
        cwd=self._folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_SECONDS,
        check=False,
      )
      is_bad, log = result.returncode != 0, result.stdout
    except subprocess.TimeoutExpired:
      is_bad, log = True, f"more than {_SECONDS} s"
    last = (log.strip().splitlines() or [""])[-1]
    found = {kind: int(n) for n, kind in _TESTS_OF_FILES.findall(last)}
    found = found or {"failed" if is_bad else "passed": 1}
    if is_bad and not found.get("failed"):
      found["failed"] = 1
    for kind in self.counts:
      self.counts[kind] += found.get(kind, 0)
    print(f"{name}: {last} ({time.monotonic() - begin:.0f} s)", flush=True)
    if is_bad:
      print(log[-6000:], flush=True)


def main() -> int:
  """Runs the command line; returns the exit status."""
  wheel, tree = (pathlib.Path(x).absolute() for x in sys.argv[1:3])
  root = pathlib.Path(__file__).absolute().parents[2]
  with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    python = environments.create(folder / "venv", _PACKAGES)
    environments.install(python, wheel)
    for part in ("tests", "examples"):
      shutil.copytree(tree / part, folder / "tree" / part)
    shutil.copytree(root / "docs", folder / "docs")
    shutil.copy(root / "tools/test_main.py", folder / "test_main.py")
    suite = Suite(folder, python)
    for substrate in ("numpy", "jax", "tf"):
      check = str(root / "tests/wheel/isolated_any.py")
      suite.run(f"import of {substrate}", check, substrate)
    for page in _PAGES:
      code = str(root / "tests/wheel/isolated_page.py")
      suite.run(f"page {page}", code, str(folder / "docs" / page))
    versions = str(root / "tests/versions/run_suites.py")
    suite.run(
      "suites of versions",
      *(versions, "numpy", "jax", "tf"),
      path=str(folder / "tree/tests/versions"),
    )
    files = [f"tests/generated/numpy/shared/{file}.py" for file in _NUMPY]
    files += [f"tests/generated/jax/shared/{file}.py" for file in _JAX]
    files += [f"tests/cross/{file}.py" for file in _CROSS]
    for file in files:
      suite.run(
        file,
        *(str(folder / "test_main.py"), str(folder / "tree" / file)),
        path=str(folder / "tree"),
      )
  python_version = platform.python_version()
  print(
    json.dumps(
      {"versions": {"python": python_version}, "skips": [], **suite.counts}
    )
  )
  return 1 if suite.counts["failed"] else 0


if __name__ == "__main__":
  sys.exit(main())
