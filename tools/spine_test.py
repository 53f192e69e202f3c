"""What is counted in the kernel."""

import contextlib
import io
import pathlib
from unittest import mock

from absl.testing import absltest

from tools import spine

_FILES = {
  "values/points.h": """
#include "native/kernel/methods/squaring/squared_powers.h"
#include "native/kernel/methods/squaring/squaring_path.h"
#include "native/kernel/uniformization/poisson.h"
""",
  "values/choice.h": "if (StepCost(model) < SquaringCost(model)) return;",
  "methods/squaring/squared_powers.h": """
#include "native/kernel/methods/squaring/power.h"
""",
  "uniformization/mixture.h": "weight = walk->Down(table, weight);",
  "uniformization/poisson.h": "class PoissonWalk {};",
  "uniformization/mixture_test.cc": "walk.Down(t, w); StepCost(model);",
  "fuzz/runs.cc": "StepCost(model);",
}


class SpineTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.root = pathlib.Path(self.create_tempdir().full_path)
    for name, text in _FILES.items():
      path = self.root / "native/kernel" / name
      path.parent.mkdir(parents=True, exist_ok=True)
      path.write_text(text)

  def test_what_is_found(self):
    self.assertEqual(
      spine.found(self.root),
      {
        "choices": ["values/choice.h"],
        "includes": ["values/points.h"] * 2,
        "walks": ["uniformization/mixture.h"],
      },
    )

  def test_limits(self):
    for limit, status in ((1, 1), (2, 0), (3, 1)):
      limits = {"choices": 1, "includes": limit, "walks": 1}
      said = io.StringIO()
      with (
        mock.patch.object(spine, "LIMITS", limits),
        contextlib.redirect_stdout(said),
      ):
        self.assertEqual(spine.main(self.root), status)
      text = f"includes: 2, the limit in tools/spine.py is {limit}:"
      self.assertEqual(text in said.getvalue(), status == 1)


if __name__ == "__main__":
  absltest.main()
