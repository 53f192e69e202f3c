"""Public names, by `dir` and by the file of all public names."""

import inspect
import pathlib
import re

from absl.testing import absltest
from absl.testing import parameterized

from tests.cross import public_names

_IMPORT = re.compile(r">>> (?:from|import) (phasic[.\w]*)")
_GOLDEN = pathlib.Path("tests/cross/public_names.txt")


class PublicNamesTest(parameterized.TestCase):
  @parameterized.parameters(*public_names.SUBSTRATES)
  def test_dir_has_the_public_names(self, substrate):
    modules = public_names.modules(substrate)
    self.assertContainsSubset(
      {
        *("", "binding", "config", "distributions", "graphs", "inference"),
        *("graphs.models", "inference.datasets", "interop"),
        *("math", "math.phase_type"),
      },
      modules,
    )
    for name, module in modules.items():
      with self.subTest(name):
        listed = [x for x in dir(module) if not x.startswith("_")]
        public = [x for x in module.__all__ if not x.startswith("_")]
        self.assertEqual(listed, sorted(public))

  @parameterized.parameters(*public_names.SUBSTRATES)
  def test_examples_import_public_modules(self, substrate):
    base = f"phasic.substrates.{substrate}"
    public = {
      f"{base}.{name}".rstrip(".") for name in public_names.modules(substrate)
    }
    public.add("phasic.substrates")
    # The rewriter puts this for `import numpy as np` in TensorFlow's docstrings.
    own = f"from {base}.internal import array_functions as np"
    for name, value in public_names.documented(substrate):
      text = (inspect.getdoc(value) or "").replace(own, "")
      imported = _IMPORT.findall(text)
      with self.subTest(name):
        self.assertContainsSubset(imported, public)

  @parameterized.parameters(*public_names.SUBSTRATES)
  def test_public_classes_and_functions_have_examples(self, substrate):
    for name, module in public_names.modules(substrate).items():
      for public in module.__all__:
        value = getattr(module, public)
        if inspect.isclass(value) or inspect.isroutine(value):
          with self.subTest(f"{name}.{public}"):
            self.assertIn(">>>", inspect.getdoc(value) or "")

  def test_names_and_signatures(self):
    self.assertMultiLineEqual(
      public_names.text(),
      _GOLDEN.read_text(encoding="utf-8"),
      "the public interface has changed: look at the difference, and if it "
      "is meant run `make golden`",
    )


if __name__ == "__main__":
  absltest.main()
