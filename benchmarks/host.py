"""Where a benchmark runs, and where its pages are."""

from collections.abc import Iterable
import datetime
import importlib.metadata
import os
import pathlib
import platform


def machine() -> str:
  """The processor's name, as the system tells it."""
  try:
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
      for line in lines:
        if line.startswith("model name"):
          return line.split(":", 1)[1].strip()
  except OSError:
    pass
  return platform.processor() or platform.machine()


def docs_folder() -> pathlib.Path:
  """docs/ of the sources, which `bazel run` names."""
  root = os.environ.get("BUILD_WORKSPACE_DIRECTORY")
  return pathlib.Path(root or pathlib.Path(__file__).parents[1]) / "docs"


def facts(packages: Iterable[str], rounds: int) -> dict[str, str]:
  """What figures hold for: the machine, the versions of packages, the day."""
  versions = [f"{name} {importlib.metadata.version(name)}" for name in packages]
  return {
    "machine": f"{machine()}, one core",
    "system": f"{platform.system()} {platform.machine()}",
    "versions": ", ".join([f"Python {platform.python_version()}", *versions]),
    "day": datetime.date.today().isoformat(),
    "rounds": str(rounds),
  }
