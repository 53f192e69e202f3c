"""What inference may know of a distribution."""

from absl.testing import absltest

from tools.rooms import asking
from tools.rooms import trees

_FILE = "phasic/inference/em/steps.py"
_ASKS = (
  "from phasic.distributions.families import coxian\n"
  "isinstance(x, coxian.Coxian)\n"
)


class AskingTest(trees.TreeTestCase):
  def _check(self, text: str) -> list[str]:
    return asking.check(self.write({_FILE: text}))

  def test_classes(self):
    for text in (
      _ASKS,
      "from phasic.distributions.families.coxian import Coxian as C\n"
      "isinstance(x, (str, C))\n",
      "from phasic.distributions.wrapped import truncated\n"
      "issubclass(type(x), truncated.Truncated)\n",
    ):
      with self.subTest(text):
        self.assert_one(self._check(text), f"{_FILE}:2: asks for the class")

  def test_what_all_are(self):
    text = (
      "from phasic.distributions.base import distribution\n"
      "isinstance(x, distribution.Distribution) and isinstance(y, str)\n"
    )
    self.assertEmpty(self._check(text))

  def test_other_rooms_may(self):
    tree = {"phasic/distributions/base/a.py": _ASKS}
    self.assertEmpty(asking.check(self.write(tree)))


if __name__ == "__main__":
  absltest.main()
