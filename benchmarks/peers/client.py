"""Processes of `worker.py`, one for each environment and file of rows."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
from typing import Any

_FOLDER = pathlib.Path(os.path.abspath(__file__)).parent
_ONE_THREAD = (
  "MKL_NUM_THREADS",
  "NUMBA_NUM_THREADS",
  "OMP_NUM_THREADS",
  "OPENBLAS_NUM_THREADS",
  "PHASIC_NUM_THREADS",
  "TF_NUM_INTEROP_THREADS",
  "TF_NUM_INTRAOP_THREADS",
)


class Unavailable(Exception):
  """A library has no such function; the message is the reason."""


class Worker:
  """A process that computes and times the rows of one file.

  It runs on the cores of this process, with one thread, and in a home folder of
  its own, as libraries keep caches there. Leaving the `with` block ends it.
  """

  def __init__(self, rows: str, python: str | None = None):
    """Starts the process.

    Args:
      rows: the name of a file of this folder, without its suffix.
      python: a peer's interpreter, which does not see our packages; None for
        the interpreter of this process, with its packages.
    """
    self._name = rows
    self._home = tempfile.TemporaryDirectory()
    self._errors = pathlib.Path(self._home.name) / "errors.txt"
    environment = {
      name: value
      for name, value in os.environ.items()
      if name not in ("JAX_COMPILATION_CACHE_DIR", "PYTHONPATH")
    }
    environment |= dict.fromkeys(_ONE_THREAD, "1")
    environment |= {
      "HOME": self._home.name,
      "JAX_ENABLE_COMPILATION_CACHE": "0",
      "JAX_ENABLE_X64": "1",
      "JAX_PLATFORMS": "cpu",
      "PYTHONDONTWRITEBYTECODE": "1",
      "TF_CPP_MIN_LOG_LEVEL": "3",
    }
    if python is None:
      environment["PYTHONPATH"] = os.pathsep.join(x for x in sys.path if x)
    with self._errors.open("w") as errors:
      self._process = subprocess.Popen(
        [
          python or sys.executable,
          str(_FOLDER / "worker.py"),
          str(_FOLDER / f"{rows}.py"),
        ],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        text=True,
        encoding="utf-8",
      )

  def __enter__(self) -> "Worker":
    return self

  def __exit__(self, *unused: object) -> None:
    self._process.stdin.close()
    self._process.stdout.close()
    self._process.wait()
    self._home.cleanup()

  def values(self, row: str, arguments: dict[str, Any]) -> Any:
    """Computes the values of a row, as nested lists.

    Raises:
      Unavailable: the library cannot compute them.
      RuntimeError: the row raised another exception, or the process died.
    """
    return self._ask(row, arguments, 0)["values"]

  def seconds(self, row: str, arguments: dict[str, Any]) -> float:
    """Returns the seconds of one call of a row, by one timing.

    Raises: as `values`.
    """
    return self._ask(row, arguments, 1)["seconds"][0]

  def _ask(
    self, row: str, arguments: dict[str, Any], repeats: int
  ) -> dict[str, Any]:
    request = {"row": row, "arguments": arguments, "repeats": repeats}
    try:
      self._process.stdin.write(json.dumps(request) + "\n")
      self._process.stdin.flush()
      line = self._process.stdout.readline()
    except BrokenPipeError:
      line = ""
    if not line:
      last = self._errors.read_text(errors="replace")[-2000:]
      raise RuntimeError(f"{self._name}, {row}: the process ended: {last}")
    answer = json.loads(line)
    if "unavailable" in answer:
      raise Unavailable(answer["unavailable"])
    if "error" in answer:
      raise RuntimeError(f"{self._name}, {row}: {answer['error']}")
    return answer
