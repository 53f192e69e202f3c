"""Places of one system that the package must not name."""

from absl.testing import absltest

from tools.rooms import systems
from tools.rooms import trees

_FILE = "phasic/internal/a.py"


class SystemsTest(trees.TreeTestCase):
  def _check(self, text: str, name: str = _FILE) -> list[str]:
    return systems.check(self.write({name: text}))

  def test_places(self):
    for text in ("/proc/self/maps", "/dev/null", "/tmp", "libc.so.6", "libc"):
      with self.subTest(text):
        self.assert_one(
          self._check(f"\nopen({text!r})\n"), f"{_FILE}:2: has '{text}'"
        )

  def test_other_texts(self):
    self.assertEmpty(self._check("'a/tmp', 'libcurl', '/processes', '/'\n"))

  def test_other_folders_may(self):
    self.assertEmpty(self._check("'/proc'", "tools/a.py"))


if __name__ == "__main__":
  absltest.main()
