"""What inference may know of a distribution."""

from absl.testing import absltest

from tools.rooms import asking
from tools.rooms import trees

_FILE = "phasic/inference/em/steps.py"


class AskingTest(trees.TreeTestCase):
  def _check(self, text: str) -> list[str]:
    return asking.check(self.write({_FILE: text}))

  def test_classes(self):
    for text in (
      "from phasic.distributions.families import coxian\n"
      "isinstance(x, coxian.Coxian)\n",
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

  def test_private_members(self):
    for text in ("x._model()", "x.chain._DISCRETE", "f(x)._parameters[0]"):
      with self.subTest(text):
        errors = self._check(text + "\n")
        self.assertLen(errors, 1)
        self.assertEndsWith(errors[0], "is private to another module")

  def test_private_members_of_one_s_own(self):
    text = (
      "class A:\n"
      "  _B = 1\n"
      "  def __init__(self):\n"
      "    self._c = 2\n"
      "  def _d(self):\n"
      "    return A._B + self._c\n"
      "def f(a):\n"
      "  return a._d(), a._c, a._replace(x=1), a.__class__\n"
    )
    self.assertEmpty(self._check(text))

  def test_other_rooms_may(self):
    tree = {"phasic/distributions/base/a.py": "x._model()\n"}
    self.assertEmpty(asking.check(self.write(tree)))


if __name__ == "__main__":
  absltest.main()
