"""The wheel writer: reproducible, and installable metadata."""

import contextlib
import io
import pathlib
import zipfile

from absl.testing import absltest
from absl.testing import parameterized

from tools.wheel import build
from tools.wheel import compare

_PYPROJECT = """
[project]
name = "some-name"
version = "1.2"
description = "A summary"
license = "Apache-2.0"
license-files = ["LICENSE", "others/*.txt"]
authors = [{name = "Some authors"}]
requires-python = ">=3.11"
keywords = ["a", "b"]
classifiers = ["Typing :: Typed"]
dependencies = ["numpy>=1.26"]
[project.optional-dependencies]
jax = ["jax>=0.10"]
old = ["a; python_version < '3.12'"]
[project.urls]
Source = "https://example.org/source"
"""
_LICENSES = {"LICENSE": "License\n", "others/a.txt": "Another\n"}
_TARGET = build.parse_target("cp313-manylinux_2_28_x86_64")
_FILES = {"pkg/b.py": b"b = 1\n", "pkg/__init__.py": b"", "pkg/a.so": b"\0"}


class BuildTest(absltest.TestCase):
  def _build(
    self,
    files: dict[str, bytes],
    licenses: dict[str, str] = _LICENSES,
    target: build.Target = _TARGET,
  ) -> pathlib.Path:
    directory = pathlib.Path(self.create_tempdir().full_path)
    return build.write_wheel(
      files, _PYPROJECT, "Text\n", licenses, directory, target
    )

  def test_same_bytes_twice(self):
    first = self._build(_FILES)
    second = self._build(dict(reversed(_FILES.items())))
    self.assertEqual(first.name, second.name)
    self.assertEqual(first.read_bytes(), second.read_bytes())

  def test_contents(self):
    with zipfile.ZipFile(self._build(_FILES)) as archive:
      self.assertIsNone(archive.testzip())
      names = archive.namelist()
      info = "some_name-1.2.dist-info"
      metadata = archive.read(f"{info}/METADATA").decode()
      record = archive.read(f"{info}/RECORD").decode()
      self.assertEqual(archive.read("pkg/b.py"), _FILES["pkg/b.py"])
      for name, text in _LICENSES.items():
        self.assertEqual(archive.read(f"{info}/licenses/{name}").decode(), text)
        self.assertIn(f"License-File: {name}\n", metadata)
    self.assertEqual(names[-1], f"{info}/RECORD")
    self.assertIn("Name: some-name\n", metadata)
    self.assertIn('Requires-Dist: jax>=0.10; extra == "jax"\n', metadata)
    self.assertIn(
      "Requires-Dist: a; (python_version < '3.12') and extra == \"old\"\n",
      metadata,
    )
    self.assertIn("Author: Some authors\n", metadata)
    self.assertIn("Project-URL: Source, https://example.org/source\n", metadata)
    self.assertEndsWith(metadata, "\n\nText\n")
    self.assertLen(record.splitlines(), len(names))

  def test_target(self):
    path = self._build(_FILES)
    self.assertEqual(path.name, "some_name-1.2-cp313-cp313-linux_x86_64.whl")
    with zipfile.ZipFile(path) as archive:
      wheel = archive.read("some_name-1.2.dist-info/WHEEL").decode()
    self.assertIn("Tag: cp313-cp313-linux_x86_64\n", wheel)

  def test_any_system(self):
    path = self._build(_FILES, target=build.parse_target("any"))
    self.assertEqual(path.name, "some_name-1.2-py3-none-any.whl")
    with zipfile.ZipFile(path) as archive:
      text = archive.read("some_name-1.2.dist-info/WHEEL").decode()
    self.assertIn("Root-Is-Purelib: true\nTag: py3-none-any\n", text)

  def test_license_without_a_pattern(self):
    licenses = _LICENSES | {"more/b.txt": "b"}
    with self.assertRaisesRegex(ValueError, "it must match more/b.txt"):
      self._build(_FILES, licenses)

  def test_pattern_without_a_license(self):
    with self.assertRaisesRegex(ValueError, r"others/\*.txt: it must match"):
      self._build(_FILES, {"LICENSE": "License\n"})


class CompareTest(parameterized.TestCase):
  """Of two wheels that somebody built, the differences are named."""

  def _write(self, times: dict[str, int], text: str = "x") -> pathlib.Path:
    path = pathlib.Path(self.create_tempdir().full_path) / "a.whl"
    with zipfile.ZipFile(path, "w") as archive:
      for name, year in times.items():
        archive.writestr(zipfile.ZipInfo(name, (year, 1, 1, 0, 0, 0)), text)
    return path

  def test_same(self):
    first, second = (self._write({"a": 1980}) for _ in range(2))
    self.assertEmpty(compare.differences(first, second))
    with contextlib.redirect_stdout(io.StringIO()) as output:
      self.assertEqual(compare.main(["", str(first), str(second)]), 0)
    self.assertIn("the same bytes twice, SHA-256 ", output.getvalue())

  @parameterized.parameters(
    ({"a": 1981, "b": 1980}, "x", r"a: time \(1980,.* and time \(1981,"),
    ({"a": 1980, "b": 1980}, "y", "a: other contents"),
    ({"a": 1980}, "x", "b: only in one"),
    ({"b": 1980, "a": 1980}, "x", "the order of the entries"),
  )
  def test_different(self, times, text, message):
    paths = (self._write({"a": 1980, "b": 1980}), self._write(times, text))
    self.assertRegex(compare.differences(*paths)[0], message)
    with contextlib.redirect_stdout(io.StringIO()) as output:
      self.assertEqual(compare.main(["", *map(str, paths)]), 1)
    self.assertRegex(output.getvalue(), message)


if __name__ == "__main__":
  absltest.main()
