"""Processes of their own for faults that a test does not survive, or may hang in."""

from collections.abc import Iterator, Sequence
import contextlib
import os
import socket
import subprocess
import sys
import textwrap

# Seconds after which a process hangs; a test takes a tenth of this.
LONGEST = 120.0


def command(code: str, *arguments: str) -> list[str]:
  """Returns the command that runs code with this process's import path."""
  start = f"import sys; sys.path[:] = {sys.path!r}\n"
  return [sys.executable, "-c", start + textwrap.dedent(code), *arguments]


def environment(**variables: str) -> dict[str, str]:
  """Returns this process's environment, with variables set for one on the CPU."""
  quiet = {"JAX_PLATFORMS": "cpu", "TF_CPP_MIN_LOG_LEVEL": "3"}
  return {**os.environ, **quiet, **variables}


def run(
  code: str,
  *arguments: str,
  timeout: float = LONGEST,
  variables: dict[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
  """Runs code in a new process until it ends.

  Raises:
    subprocess.TimeoutExpired: the process hangs; it has been killed.
  """
  return subprocess.run(
    command(code, *arguments),
    capture_output=True,
    check=False,
    env=environment(**(variables or {})),
    text=True,
    timeout=timeout,
  )


@contextlib.contextmanager
def started(
  commands: Sequence[Sequence[str]], **variables: str
) -> Iterator[list[subprocess.Popen[str]]]:
  """Starts processes at the same time, and kills those that are left."""
  processes = [
    subprocess.Popen(
      arguments,
      stdin=subprocess.PIPE,
      stdout=subprocess.PIPE,
      stderr=subprocess.PIPE,
      env=environment(**variables),
      text=True,
    )
    for arguments in commands
  ]
  try:
    yield processes
  finally:
    for process in processes:
      process.kill()
      process.communicate()


def free_port() -> int:
  """Returns a port of this machine that nobody listens on."""
  with socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
    return int(probe.getsockname()[1])
