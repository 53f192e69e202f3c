"""Small trees of phasic and its tests, on which the checks are tried."""

import pathlib

from absl.testing import absltest

TESTS = """
TESTS = {
    "folder/group": dict(
        files = ["folder/first_test"],
    ),
}
"""
MAP = """
## Map

### phasic

| room | what its lines are about |
| --- | --- |
| `internal` | the seam |
| `internal/native` | calls |
| `math/low` | sums |
| `math/high` | means |
| `graphs/models` | queues |
| `graphs/last` | ends |
| `binding` | users' functions |
| `covariates` | a wing |

### substrates

| `jax` | one seam |
| `tf` | another |

### native

| `low` | numbers |
| `high` | sweeps |
"""
FILES = {
  "CONTRIBUTING.md": MAP,
  "native/low/a.h": "",
  "native/high/b.cc": '#include <vector>\n#include "native/low/a.h"\n',
  "phasic/__init__.py": "",
  "phasic/_native/__init__.py": "",
  "phasic/include/__init__.py": "",
  "phasic/internal/__init__.py": "",
  "phasic/internal/seam.py": "from phasic import _native\n",
  "phasic/internal/native/calls.py": "from phasic.internal import seam\n",
  "phasic/math/__init__.py": (
    "from phasic.internal.seam import path\n"
    "from phasic.math.low.sums import total\n"
    "from phasic.math.high.means import mean as average\n"
  ),
  "phasic/math/low/sums.py": "from phasic.internal.native import calls\n",
  "phasic/math/high/means.py": (
    "import phasic.internal.seam\nfrom phasic.math.low import sums\n"
  ),
  "phasic/graphs/__init__.py": (
    "from phasic.graphs import models\nfrom phasic.graphs.last.ends import end\n"
  ),
  "phasic/graphs/models/__init__.py": (
    "from phasic.graphs.models.queues import queue\n"
  ),
  "phasic/graphs/models/queues.py": (
    "from phasic import math as pm\n\npm.average\n"
  ),
  "phasic/graphs/last/ends.py": "",
  "phasic/binding/__init__.py": "from phasic.binding.bound import bind\n",
  "phasic/binding/bound.py": (
    "from phasic import include\nfrom phasic.internal import seam\n"
  ),
  "phasic/covariates/__init__.py": (
    "from phasic.covariates.effects import effect\n"
  ),
  "phasic/covariates/effects.py": (
    "from phasic import math as pm\nfrom phasic.internal import seam\n\n"
    "pm.average\n"
  ),
  "substrates/jax/seam.py": "",
  "substrates/tf/ops.py": "",
  "substrates/tf/seam.py": "",
  "tests/helpers/cases.py": "from phasic import math as pm\n\npm.total\n",
  "tests/helpers/models.py": "from tests.helpers import cases\n",
  "tests/shared/folder/first_test.py": (
    "from phasic.math import average\nfrom tests.helpers import cases\n"
  ),
}


class TreeTestCase(absltest.TestCase):
  """Writes trees into temporary folders."""

  def write(self, files: dict[str, str]) -> pathlib.Path:
    """Writes a tree that is in order, with these files besides."""
    root = pathlib.Path(self.create_tempdir().full_path)
    for name, text in {"tests/shared.bzl": TESTS, **FILES, **files}.items():
      path = root / name
      path.parent.mkdir(parents=True, exist_ok=True)
      path.write_text(text, encoding="utf-8")
    return root

  def assert_one(self, errors: list[str], start: str, *parts: str) -> None:
    """Asserts that there is one error, at a place, which says these parts."""
    self.assertLen(errors, 1, errors)
    self.assertStartsWith(errors[0], start)
    for part in parts:
      self.assertIn(part, errors[0])
