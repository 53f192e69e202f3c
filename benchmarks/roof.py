"""The limits of one core: multiply-adds, and loads from its caches."""

from collections.abc import Callable
import ctypes
import pathlib

import numpy as onp

from benchmarks import native_library

_CACHES = pathlib.Path("/sys/devices/system/cpu/cpu0/cache")
# Where the system does not tell.
_DEFAULT_BYTES = {"L1": 32 << 10, "L2": 512 << 10}
FMA = "multiply-adds"


def cache_bytes(level: str) -> int:
  """The size of a core's data cache, "L1" or "L2"."""
  for folder in sorted(_CACHES.glob("index*")):
    kind = (folder / "type").read_text().strip()
    if (
      kind != "Instruction" and f"L{(folder / 'level').read_text()[0]}" == level
    ):
      return int((folder / "size").read_text().strip().removesuffix("K")) << 10
  return _DEFAULT_BYTES[level]


class Roof:
  """Functions to time, and what their times mean."""

  def __init__(self):
    self._library = native_library.load("roof")
    self._library.roof_fma.restype = ctypes.c_double
    self._library.roof_load.restype = ctypes.c_double
    self._rounds = 100_000
    self._work = {FMA: self._rounds * self._library.roof_fma_per_round()}
    self._functions = {
      FMA: lambda: self._library.roof_fma(ctypes.c_int64(self._rounds))
    }
    for level in _DEFAULT_BYTES:
      self._add_level(level)

  def _add_level(self, level: str) -> None:
    # Half of the cache, so that nothing else pushes it out; whole lines.
    count = cache_bytes(level) // 16
    data = onp.ones(count + 8)
    data = data[-data.ctypes.data % 64 // 8 :][:count]
    rounds = (16 << 20) // data.nbytes
    self._work[level] = rounds * data.nbytes
    self._functions[level] = lambda: self._library.roof_load(
      data.ctypes.data_as(ctypes.c_void_p),
      ctypes.c_int64(len(data)),
      ctypes.c_int64(rounds),
    )

  @property
  def functions(self) -> dict[str, Callable[[], object]]:
    """What to time, by name."""
    return dict(self._functions)

  @property
  def doubles_per_vector(self) -> int:
    """Eight with AVX-512, four with AVX2."""
    return self._library.roof_width()

  def rates(self, seconds: dict[str, float]) -> dict[str, float]:
    """Multiply-adds a second, and bytes a second from each cache."""
    return {name: work / seconds[name] for name, work in self._work.items()}


def seconds_at_least(
  multiply_adds: float, stored_bytes: float, rates: dict[str, float]
) -> tuple[float, str]:
  """The least time that a sweep's step can take on one core.

  A multiply-add takes one of its factors from a cache: the other one, and the
  sum, may stay in registers.

  Args:
    multiply_adds: of one step.
    stored_bytes: what one step reads, all in all: it decides which cache.
    rates: of `Roof.rates`.

  Returns:
    Seconds, and what binds: "multiply-adds", "L1" or "L2".
  """
  level = "L1" if stored_bytes <= cache_bytes("L1") else "L2"
  loads = 8.0 * multiply_adds / rates[level]
  sums = multiply_adds / rates[FMA]
  return (loads, level) if loads > sums else (sums, FMA)
