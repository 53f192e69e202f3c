"""The sdist: the wheel's Python files, and a build by CMake that equals Bazel's."""

import json
import os
import pathlib
import shlex
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile

from absl.testing import absltest

from tools.wheel import sdist

_FOLDER = "phasic_substrates-0.1.0"
# What CMake adds for the language, headers and paths.
_ADDED = ("-std=c++17", "-fPIC", "-I", "-ffile-prefix-map=")
_WITH_VALUE = ("-isystem", "-o", "-c")


def _sdist() -> pathlib.Path:
  (path,) = pathlib.Path("tools/wheel/sdist").glob("*.tar.gz")
  return path


def _wheel_files() -> dict[str, bytes]:
  """Returns the wheel's files, except the native libraries and metadata."""
  (path,) = pathlib.Path("tools/wheel/wheel").glob("*.whl")
  with zipfile.ZipFile(path) as archive:
    return {
      name: archive.read(name)
      for name in archive.namelist()
      if name.startswith("phasic/") and not name.endswith((".so", "/"))
    }


def _compiled(command: str) -> tuple[list[str], list[str]]:
  """Returns the options and the defines of a command."""
  options, defines = [], []
  arguments = iter(shlex.split(command)[1:])
  for argument in arguments:
    if argument in _WITH_VALUE:
      next(arguments)
    elif argument.startswith("-D"):
      defines.append(argument[2:])
    elif not argument.startswith(_ADDED):
      options.append(argument)
  return options, defines


class SdistTest(absltest.TestCase):
  @classmethod
  def setUpClass(cls):
    super().setUpClass()
    cls.scratch = pathlib.Path(
      cls.enterClassContext(tempfile.TemporaryDirectory())
    )
    with tarfile.open(_sdist()) as archive:
      archive.extractall(cls.scratch, filter="data")
    cls.source = cls.scratch / _FOLDER
    cls.build = cls.scratch / "build"
    lines = pathlib.Path("tests/wheel/compiled.jsonl").read_text().splitlines()
    cls.level, *cls.by_bazel = map(json.loads, lines)
    cls._cmake(
      *("-S", str(cls.source), "-B", str(cls.build)),
      f"-DPython_EXECUTABLE={sys.executable}",
      f"-DPHASIC_LEVEL={cls.level['level']}",
      "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
    )

  @classmethod
  def _cmake(cls, *arguments: str) -> None:
    cmake = pathlib.Path(sysconfig.get_path("scripts")) / "cmake"
    result = subprocess.run(
      [cmake, *arguments],
      capture_output=True,
      text=True,
      check=False,
      env={"PATH": os.defpath},
    )
    if result.returncode:
      raise AssertionError(result.stdout + result.stderr)

  def test_compiles_what_bazel_compiles(self):
    by_bazel = [
      (entry["source"], entry["options"], entry["defines"])
      for entry in self.by_bazel
    ]
    by_cmake = []
    text = (self.build / "compile_commands.json").read_text()
    for entry in json.loads(text):
      path = pathlib.Path(entry["file"])
      if path.is_relative_to(self.source):
        name = path.relative_to(self.source).as_posix()
        by_cmake.append((name, *_compiled(entry["command"])))
    self.assertGreater(len(by_bazel), 50)
    self.assertCountEqual(by_cmake, by_bazel)

  def test_installs_the_files_of_the_wheel(self):
    """Of the libraries, which are not compiled here, nothing is installed."""
    installed = self.scratch / "installed"
    self._cmake(
      *("--install", str(self.build), "--component", "python"),
      *("--prefix", str(installed)),
    )
    files = {
      path.relative_to(installed).as_posix(): path.read_bytes()
      for path in installed.rglob("*")
      if path.is_file()
    }
    expected = _wheel_files()
    self.assertEqual({*files}, {*expected})
    self.assertEmpty([x for x in files if files[x] != expected[x]])

  def test_headers_of_others_are_named(self):
    names = {"eigen": "Eigen", "jax": "OpenXLA", "tf": "TensorFlow"}
    vendored = self.source / "third_party" / "include"
    self.assertEqual({path.name for path in vendored.iterdir()}, {*names})
    notice = (self.source / "NOTICE").read_text()
    for name in names.values():
      self.assertIn(name, notice)

  def test_metadata_is_that_of_the_wheel(self):
    (path,) = pathlib.Path("tools/wheel/wheel").glob("*.whl")
    with zipfile.ZipFile(path) as archive:
      metadata = archive.read(f"{_FOLDER}.dist-info/METADATA")
    self.assertEqual((self.source / "PKG-INFO").read_bytes(), metadata)

  def test_same_bytes_when_written_again(self):
    with tarfile.open(_sdist()) as archive:
      entries = archive.getmembers()
      files = {x.name: archive.extractfile(x).read() for x in entries}
    self.assertLen(files, len(entries))
    again = self.scratch / "again.tar.gz"
    sdist.write_tar(again, dict(reversed(files.items())))
    self.assertEqual(again.read_bytes(), _sdist().read_bytes())


class IncludedHeadersTest(absltest.TestCase):
  def test_follows_includes(self):
    root = pathlib.Path(self.create_tempdir().full_path)
    texts = {
      "a/first.h": '#include "second.h"\n#  include <a/b/third.h>\n',
      "a/second.h": '#if 0\n#include "../a/first.h"\n#endif\n',
      "a/b/third.h": '#include <c/other.h>\n// #include "unused.h"\n',
      "a/b/unused.h": "",
      "c/other.h": "",
    }
    for name, text in texts.items():
      (root / name).parent.mkdir(parents=True, exist_ok=True)
      (root / name).write_text(text)
    found = sdist.included_headers(["#include <a/first.h>"], root, ("a/",))
    self.assertEqual(set(found), {"a/first.h", "a/second.h", "a/b/third.h"})


if __name__ == "__main__":
  absltest.main()
