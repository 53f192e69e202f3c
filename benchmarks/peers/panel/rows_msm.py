"""Rows of R's msm, whose process runs beside this one.

Without msm there are no rows; on Debian `apt-get install
--no-install-recommends r-base-core r-cran-msm` installs it. The data are those of
`subjects.py`; calls are in `msm_calls.R`. A step is a likelihood and a gradient;
msm's optimizer takes about two likelihoods for each gradient. Fits have the
scale of the objective that msm's manual advises.
"""

import atexit
import functools
import os
import pathlib
import shutil
import subprocess
import tempfile

import subjects

_FILE = pathlib.Path(os.path.abspath(__file__)).with_name("msm_calls.R")


class _Process:
  """A process of msm_calls.R, until the end of this one."""

  def __init__(self):
    if shutil.which("Rscript") is None:
      raise NotImplementedError("R is not installed")
    self._folder = tempfile.TemporaryDirectory()
    path = pathlib.Path(self._folder.name) / "table.csv"
    table = subjects.table()
    lines = zip(*(column.tolist() for column in table.values()), strict=True)
    text = [",".join(table), *(",".join(map(repr, line)) for line in lines)]
    path.write_text("\n".join(text) + "\n", encoding="utf-8")
    numbers = (subjects.RATES, subjects.EFFECTS)
    arguments = [",".join(map(repr, x)) for x in numbers]
    self._process = subprocess.Popen(
      ["Rscript", "--vanilla", str(_FILE), str(path), *arguments],
      stdin=subprocess.PIPE,
      stdout=subprocess.PIPE,
      text=True,
      encoding="utf-8",
    )
    atexit.register(self._end)
    if not self._process.stdout.readline():
      raise NotImplementedError("R's package msm is not installed")

  def ask(self, what: str, with_age: bool, scale: float) -> list[float]:
    """Returns the numbers that a function returns."""
    self._process.stdin.write(f"{what} {int(with_age)} {scale!r}\n")
    self._process.stdin.flush()
    line = self._process.stdout.readline()
    if not line:
      raise RuntimeError(f"R's process ended in {what}")
    return [float(x) for x in line.split()]

  def _end(self) -> None:
    self._process.stdin.close()
    self._process.wait()
    self._folder.cleanup()


_process = functools.cache(_Process)


def _call(what: str, with_age: bool):
  process, scales = _process(), subjects.scales()
  return lambda: process.ask(what, with_age, next(scales))


def log_likelihood(with_age):
  call = _call("likelihood", with_age)
  return call, lambda: call()[0]


def value_and_gradient(with_age):
  call = _call("step", with_age)

  def values():
    value, *slopes = call()
    return [value, slopes]

  return call, values


def fit(with_age):
  call = _call("fit", with_age)
  return call, lambda: call()[0]
