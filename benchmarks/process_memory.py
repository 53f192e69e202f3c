"""The most memory that this process uses during a call."""

from collections.abc import Callable
import pathlib
import re

_PROCESS = pathlib.Path("/proc/self")


def available() -> bool:
  """Whether the system tells a process's peak since some moment."""
  return (_PROCESS / "clear_refs").exists()


def bytes_above_baseline(call: Callable[[], object]) -> int:
  """The most memory that was in use during `call`, less what was before it."""
  (_PROCESS / "clear_refs").write_text("5")  # The peak starts from here.
  before = _status_bytes("VmRSS")
  call()
  return _status_bytes("VmHWM") - before


def _status_bytes(name: str) -> int:
  for line in (_PROCESS / "status").read_text().splitlines():
    found = re.fullmatch(rf"{name}:\s+(\d+) kB", line)
    if found:
      return int(found.group(1)) << 10
  raise RuntimeError(f"/proc/self/status has no {name}")
