"""Which words are reported, and where."""

import pathlib

from absl.testing import absltest
from absl.testing import parameterized

from tools.words import check

_FILE = "phasic/inference/fits.py"


class FoundWordsTest(parameterized.TestCase):
  @parameterized.parameters(
    *("_climb_once", "ClimbResult", "heights", "_start_of", "time_to"),
    *("VECTORISED", "normalised_rates", "make_neighbours"),
  )
  def test_found(self, identifier: str):
    self.assertLen(check.found_words(identifier), 1)

  @parameterized.parameters(
    *("time_to_absorption", "climate", "maximize", "start_offset"),
    *("normalized", "optimizer"),
  )
  def test_not_found(self, identifier: str):
    self.assertEmpty(check.found_words(identifier))


class CheckTest(parameterized.TestCase):
  def _check(self, files: dict[str, str], allowed: str = "") -> list[str]:
    root = pathlib.Path(self.create_tempdir().full_path)
    files = {"tools/words/allowed.txt": allowed, **files}
    for name, text in files.items():
      path = root / name
      path.parent.mkdir(parents=True, exist_ok=True)
      path.write_text(text, encoding="utf-8")
    return check.check(root)

  @parameterized.parameters(
    "def climb():\n  pass\n",
    "class Climb:\n  pass\n",
    "def f(climb):\n  pass\n",
    "f = lambda climb: 1\n",
    "climb = 1\n",
    "x.climb = 1\n",
    "for climb in x:\n  pass\n",
    "import x as climb\n",
  )
  def test_definitions(self, text: str):
    errors = self._check({_FILE: text})
    self.assertLen(errors, 1)
    self.assertEqual(
      errors[0], f"{_FILE}:1: {errors[0].split()[1]} has climb: use maximize"
    )

  def test_uses_and_text_are_not_checked(self):
    text = '"""A climb."""\nx = other.climb(climb)  # climb\n'
    self.assertEmpty(self._check({_FILE: text}))

  def test_files(self):
    for name in ("phasic/hills.py", "native/ladder.h", "tests/hills_test.py"):
      with self.subTest(name):
        errors = self._check({name: ""})
        self.assertLen(errors, 1)
        self.assertStartsWith(errors[0], f"{name}:1: ")

  def test_allowed(self):
    files = {_FILE: "climb = height = 1\n"}
    self.assertEmpty(self._check(files, "phasic/inference *  # not yet\n"))
    errors = self._check(files, f"{_FILE} climb\n")
    self.assertLen(errors, 1)
    self.assertIn("height", errors[0])
    self.assertLen(self._check(files, "phasic/infer *\n"), 2)

  def test_allowed_without_use(self):
    errors = self._check({}, "# a comment\nphasic climb\nphasic/math *\n")
    self.assertLen(errors, 1)
    self.assertStartsWith(errors[0], "tools/words/allowed.txt:2: ")


if __name__ == "__main__":
  absltest.main()
