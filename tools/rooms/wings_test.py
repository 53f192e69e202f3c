"""What wings may import, on trees that keep it and trees that do not."""

from absl.testing import absltest

from tools.rooms import phasic_rooms
from tools.rooms import trees

_WING = "phasic/covariates/effects.py"


class WingsTest(trees.TreeTestCase):
  def _check(self, text: str) -> list[str]:
    return phasic_rooms.Rooms(self.write({_WING: text})).errors

  def test_public_names_and_the_seam(self):
    for text in (
      "from phasic import math as pm\npm.average(1)\n",
      "from phasic.math import average\n",
      "from phasic.math import average as mean, total\n",
      "from phasic import graphs\n\ndef late(): return graphs.end(1)\n",
      "from phasic import graphs\ngraphs.models.queue(1)\n",
      "from phasic.graphs import models\nmodels.queue(1)\n",
      "from phasic.graphs.models import queue\n",
      "from phasic.internal import seam\n",
      "from phasic.internal.native import calls\n",
      "from phasic.covariates import effect\n",
    ):
      with self.subTest(text):
        self.assertEmpty(self._check(text))

  def test_a_private_room_is_an_error(self):
    for line, text in (
      (1, "from phasic.math.high import means\n"),
      (1, "from phasic.math.high.means import mean\n"),
      (1, "import phasic.math.high.means\n"),
      (1, "from phasic.substrates.jax.math.high import means\n"),
      (2, "def late():\n  from phasic.math.high.means import mean\n"),
      (2, "if TYPE_CHECKING:\n  from phasic.math.high import means\n"),
      (2, "from phasic import math as pm\npm.high.means.mean(1)\n"),
    ):
      with self.subTest(text):
        self.assert_one(
          self._check(text),
          f"{_WING}:{line}: covariates imports phasic.math.high.means",
          "private to math",
          "from phasic.math;",
        )

  def test_a_private_module_of_a_public_one_is_an_error(self):
    errors = self._check("from phasic.graphs.models import queues\n")
    self.assert_one(errors, f"{_WING}:1: ", "phasic.graphs.models.queues")

  def test_packages_that_wings_may_not_use(self):
    for text in (
      "from phasic import binding\nbinding.bind(1)\n",
      "from phasic.binding import bind\n",
    ):
      with self.subTest(text):
        self.assert_one(self._check(text), _WING, "which imports only math,")

  def test_other_rooms_do_not_import_a_wing(self):
    file = "phasic/binding/bound.py"
    files = {file: "from phasic.covariates import effect\n"}
    errors = phasic_rooms.Rooms(self.write(files)).errors
    self.assert_one(errors, f"{file}:1: ", "comes after that of binding")


if __name__ == "__main__":
  absltest.main()
