"""Tests of refused imports and names, with positions and messages."""

from __future__ import annotations

from absl.testing import absltest
from absl.testing import parameterized

from substrates.meta.tests import testing

_ARRAYS = "import numpy as np\nimport numpy as onp\n"
_NUMPY_FORMS = (
  "NumPy is imported as `import numpy as np` (array code) or `import numpy as"
  " onp` (host work), nothing else"
)


class ImportsTest(parameterized.TestCase):
  """Tests of imports that the table does not list."""

  @parameterized.named_parameters(
    ("bare_numpy", "import numpy", f"1:1: {_NUMPY_FORMS}"),
    ("other_alias", "import numpy as n", f"1:1: {_NUMPY_FORMS}"),
    ("submodule", "import numpy.linalg as np", f"1:1: {_NUMPY_FORMS}"),
    ("from_numpy", "from numpy import sum", f"1:1: {_NUMPY_FORMS}"),
    (
      "two_on_a_line",
      "import math, numpy as np",
      "1:1: NumPy is imported on a line of its own",
    ),
    ("star", "from math import *", "1:1: star import: name what is imported"),
    (
      "relative",
      "from . import gamma",
      "1:1: relative import: name the module in full",
    ),
    (
      "framework",
      "import jax.numpy as jnp",
      "1:1: import of jax.numpy is not in the table of allowed imports",
    ),
    (
      "third_party",
      "if True:\n  from scipy import stats",
      "2:3: import of scipy is not in the table of allowed imports",
    ),
    (
      "tests_package",
      "from tests import test_util",
      "1:1: import of tests is not in the table of allowed imports",
    ),
    (
      "importlib",
      "import importlib",
      "1:1: import of importlib is not in the table of allowed imports",
    ),
    (
      "hidden_state",
      "import random",
      "1:1: import of random is not in the table of allowed imports",
    ),
    (
      "substrate",
      "from phasic.substrates import tf",
      "1:1: import of phasic.substrates.tf: source written once names no"
      " substrate",
    ),
    (
      "substrate_package",
      "from phasic import substrates",
      "1:1: import of phasic.substrates: source written once names no substrate",
    ),
    (
      "version_and_module",
      "from phasic import __version__, math",
      "1:1: import __version__ on a line of its own",
    ),
    (
      "phasic_renamed",
      "import phasic as p",
      "1:1: import modules of phasic, not phasic itself",
    ),
    (
      "broken_line",
      "from \\\n  phasic.math import gamma",
      "1:1: write `from module import` on one line",
    ),
    (
      "dunder_import",
      "x = __import__('jax')",
      "1:5: __import__ hides an import from the rewriter",
    ),
    (
      "string",
      "x = 'phasic.math.gamma'",
      "1:5: module name 'phasic.math.gamma' in a string",
    ),
  )
  def test_import(self, code, message):
    self.assertEqual(testing.refusals(code), [message])

  def test_framework_outside_a_branch_in_a_test(self):
    self.assertEqual(
      testing.refusals("import jax", testing.TEST),
      ["1:1: import of jax is not in the table of allowed imports"],
    )

  def test_optional_packages_are_imported_in_functions(self):
    inside = "def f():\n  import networkx\n  from matplotlib import pyplot"
    self.assertEqual(testing.refusals(inside), [])
    for code, module in (
      ("import networkx", "networkx"),
      ("class A:\n  from matplotlib import pyplot", "matplotlib"),
      ("def f():\n  import polars", "polars"),
    ):
      (message,) = testing.refusals(code)
      self.assertEndsWith(
        message, f"import of {module} is not in the table of allowed imports"
      )

  @parameterized.parameters(
    ("import tensorflow", "tensorflow"),
    ("from phasic.substrates.tf import math", "phasic.substrates.tf.math"),
    ("from phasic.math import gamma", "phasic.math.gamma"),
    ("from . import static", None),
  )
  def test_seam(self, code, module):
    (message,) = testing.refusals(code, "substrates/jax/x.py")
    if module is None:
      self.assertEqual(message, "1:1: relative import: name the module in full")
    else:
      self.assertStartsWith(message, f"1:1: import of {module}")


class NamesTest(parameterized.TestCase):
  """Tests of uses of np, onp and phasic."""

  @parameterized.named_parameters(
    ("lacking", "np.datetime64('1')", "3:1: np.datetime64 is not in jax.numpy"),
    (
      "lacking_in_submodule",
      "np.linalg.nothing(1)",
      "3:1: np.linalg.nothing is not in jax.numpy",
    ),
    (
      "random",
      "np.random.uniform()",
      "3:1: np.random keeps hidden state; use phasic.internal.random",
    ),
    ("in_place", "np.copyto(1, 2)", "3:1: np.copyto writes in place"),
    (
      "ufunc_method",
      "np.add.reduce([1])",
      "3:1: np.add.reduce: attributes of np.<name> differ",
    ),
    ("as_value", "getattr(np, 'sum')", "3:9: np may only be used as np.<name>"),
    ("rebound", "np = onp", "3:1: np is rebound; its meaning is fixed"),
    (
      "written",
      "np.pi = 3",
      "3:1: np.pi is written to; np belongs to all",
    ),
    (
      "pattern",
      "match 1:\n  case {**np}:\n    pass",
      "4:8: np is rebound; its meaning is fixed",
    ),
    (
      "rebound_host",
      "for onp in ():\n  pass",
      "3:5: onp is rebound; its meaning is fixed",
    ),
    (
      "parameter",
      "def f(np=1):\n  pass",
      "3:7: np is rebound; its meaning is fixed",
    ),
    (
      "imported",
      "from math import pi as np",
      "3:1: np is rebound; its meaning is fixed",
    ),
    (
      "function",
      "def phasic():\n  pass",
      "3:1: phasic is rebound; its meaning is fixed",
    ),
    (
      "dotted",
      "import phasic\nphasic.math.f()",
      "4:1: phasic.math is used without `import phasic.math`",
    ),
    (
      "phasic_as_value",
      "import phasic.math\nf = phasic",
      "4:5: phasic may only be used as phasic.<name>",
    ),
    (
      "after_two_byte_letters",
      "x = 'éé', np.nothing",
      "3:11: np.nothing is not in jax.numpy",
    ),
  )
  def test_name(self, code, message):
    self.assertEqual(testing.refusals(_ARRAYS + code), [message])

  def test_the_table_is_the_target_s(self):
    code = _ARRAYS + "np.exp(1)\nnp.linalg.solve(1, 2)\nnp.linalg.det(1)"
    self.assertEqual(testing.refusals(code, substrate="numpy"), [])
    self.assertEqual(
      testing.refusals(code, substrate="tf"),
      [
        "3:1: np.exp is not in TensorFlow's table",
        "5:1: np.linalg.det is not in TensorFlow's table",
      ],
    )


if __name__ == "__main__":
  absltest.main()
