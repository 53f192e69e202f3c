"""Which file pip takes on which system: a wheel of the platform, or the other."""

from collections.abc import Sequence
import pathlib
import tomllib

from absl.testing import absltest
from absl.testing import parameterized
from packaging import tags
from packaging import utils

from tools.wheel import build
from tools.wheel import metadata

_ANY = build.parse_target("any").tag
# The oldest glibc of each name that pip knows besides manylinux_2_N.
_OLD_NAMES = {17: "manylinux2014", 12: "manylinux2010", 5: "manylinux1"}
_PYTHONS = ((3, 11), (3, 12), (3, 13), (3, 14))


def _glibc(minor: int, processor: str) -> list[str]:
  """Returns the platforms of a Linux with glibc 2.minor, the best first."""
  found = []
  for i in range(minor, 4, -1):
    found.append(f"manylinux_2_{i}_{processor}")
    if i in _OLD_NAMES:
      found.append(f"{_OLD_NAMES[i]}_{processor}")
  return [*found, f"linux_{processor}"]


def _musl(processor: str) -> list[str]:
  return [*(f"musllinux_1_{i}_{processor}" for i in (2, 1, 0))] + [
    f"linux_{processor}"
  ]


def _cpython(
  version: tuple[int, int], platforms: Sequence[str], abi: str = ""
) -> list[tags.Tag]:
  name = f"cp{version[0]}{version[1]}"
  return [
    *tags.cpython_tags(version, [abi or name], platforms),
    *tags.compatible_tags(version, name, platforms),
  ]


def _pypy(version: tuple[int, int], platforms: Sequence[str]) -> list[tags.Tag]:
  name = f"pp{version[0]}{version[1]}"
  return [
    *tags.generic_tags(name, ["pypy311_pp73"], platforms),
    *tags.compatible_tags(version, name, platforms),
  ]


def _released() -> list[str]:
  """Returns the names of the files of a release."""
  project = tomllib.loads(pathlib.Path("pyproject.toml").read_text())["project"]
  stem = f"{metadata.distribution(project)}-{project['version']}"
  return [
    *(
      f"{stem}-cp{a}{b}-cp{a}{b}-manylinux_2_28_{processor}.whl"
      for a, b in _PYTHONS
      for processor in ("x86_64", "aarch64")
    ),
    f"{stem}-{_ANY}.whl",
    f"{stem}.tar.gz",
  ]


def _taken(supported: Sequence[tags.Tag], names: Sequence[str]) -> str:
  """Returns what pip takes: the wheel of the best tag, else the sdist."""
  ranks = {tag: i for i, tag in enumerate(supported)}
  best = {}
  for name in names:
    if name.endswith(".whl"):
      *_, own = utils.parse_wheel_filename(name)
      at = [ranks[tag] for tag in own if tag in ranks]
      if at:
        best[min(at)] = name
  if not best:
    return "sdist"
  name = best[min(best)]
  return "any" if _ANY in name else name.partition("-cp")[2][:-4]


class TagsTest(parameterized.TestCase):
  @parameterized.named_parameters(
    ("debian", _cpython((3, 12), _glibc(36, "x86_64")), "x86_64"),
    ("glibc_2_28", _cpython((3, 11), _glibc(28, "x86_64")), "x86_64"),
    ("aarch64", _cpython((3, 14), _glibc(31, "aarch64")), "aarch64"),
    ("glibc_2_17", _cpython((3, 12), _glibc(17, "x86_64")), "any"),
    ("musl", _cpython((3, 13), _musl("x86_64")), "any"),
    (
      "macos_arm64",
      _cpython((3, 12), [*tags.mac_platforms((14, 0), "arm64")]),
      "any",
    ),
    (
      "macos_x86_64",
      _cpython((3, 12), [*tags.mac_platforms((13, 0), "x86_64")]),
      "any",
    ),
    ("windows", _cpython((3, 13), ["win_amd64"]), "any"),
    ("pypy", _pypy((3, 11), _glibc(36, "x86_64")), "any"),
    (
      "free_threaded",
      _cpython((3, 14), _glibc(36, "x86_64"), "cp314t"),
      "any",
    ),
  )
  def test_taken(self, supported, expected):
    taken = _taken(supported, _released())
    if expected == "any":
      self.assertEqual(taken, "any")
      # pip compiles there if it is told to: --no-binary phasic-substrates.
      sources = [x for x in _released() if x.endswith(".tar.gz")]
      self.assertEqual(_taken(supported, sources), "sdist")
    else:
      self.assertEndsWith(taken, f"manylinux_2_28_{expected}")


if __name__ == "__main__":
  absltest.main()
