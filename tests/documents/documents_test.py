"""The code of the README and of the pages in docs runs as it stands."""

import math
import pathlib
import re

from absl.testing import absltest
from absl.testing import parameterized

_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# What needs a library of the reader's own.
_FRAGMENT = "bind_native("


def _blocks(document: str) -> list[tuple[int, str]]:
  """Returns the line of each block of Python, and its text."""
  text = pathlib.Path(document).read_text()
  return [
    (text.count("\n", 0, match.start(1)), match.group(1))
    for match in _BLOCK.finditer(text)
  ]


class DocumentsTest(parameterized.TestCase):
  @parameterized.parameters(
    ("README.md", 6),
    ("docs/guide.md", 7),
    ("docs/binding.md", 3),
    ("docs/fitting.md", 2),
    ("docs/bayes.md", 3),
  )
  def test_runs(self, document, at_least):
    blocks = _blocks(document)
    self.assertGreaterEqual(len(blocks), at_least)
    names = {}  # Later blocks may stand on earlier ones, as a reader does.
    for line, block in blocks:
      if _FRAGMENT in block:
        continue
      with self.subTest(f"{document}:{line}"):
        exec(compile("\n" * line + block, document, "exec"), names)

  def test_posteriors_are_of_the_same_data(self):
    (_, model), _, (_, density) = _blocks("docs/bayes.md")
    names = {}
    exec(model, names)
    exec(density.partition("warmup =")[0], names)
    from numpyro.infer import util

    for rate in (0.5, 2.0):
      log_rate = math.log(rate)
      of_model, _ = util.log_density(names["model"], (), {}, {"rate": rate})
      found = float(names["log_density"](log_rate))
      self.assertAlmostEqual(found, float(of_model) + log_rate, places=9)


if __name__ == "__main__":
  absltest.main()
