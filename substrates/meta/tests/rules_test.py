"""Tests of how the rules rewrite valid code."""

from __future__ import annotations

import textwrap

from absl.testing import absltest
from absl.testing import parameterized

from substrates.meta import omit
from substrates.meta.tests import testing

_ARRAYS = "import numpy as np\nimport numpy as onp\n"


class ImportsTest(parameterized.TestCase):
  """Tests of rewritten import lines."""

  @parameterized.parameters(
    ("import numpy as np", "import jax.numpy as np"),
    ("import numpy as onp", "import numpy as onp"),
    ("import os, math", "import os, math"),
    ("from __future__ import annotations",) * 2,
    ("from phasic import __version__",) * 2,
    ("from phasic import _native",) * 2,
    ("from phasic._native import _kernel",) * 2,
    ("import phasic",) * 2,
    ("from phasic import math", "from phasic.substrates.jax import math"),
    (
      "from  phasic.math  import (\n  a,  # phasic.a\n  b as c,\n)",
      "from  phasic.substrates.jax.math  import (\n"
      "  a,  # phasic.a\n  b as c,\n)",
    ),
    (
      "import phasic.math as m, os",
      "import phasic.substrates.jax.math as m, os",
    ),
    (
      "import phasic\nimport phasic.math\nprint(phasic.math.f, phasic.__version__)",
      "import phasic\nimport phasic.substrates.jax.math\n"
      "print(phasic.substrates.jax.math.f, phasic.__version__)",
    ),
    (
      "if True:\n  import numpy as np; x = np.sum(1)",
      "if True:\n  import jax.numpy as np; x = np.sum(1)",
    ),
  )
  def test_library(self, before, after):
    self.assertEqual(testing.body(before), after + "\n")

  @parameterized.parameters(
    (
      "from tests import test_util",
      "from tests.generated.jax import test_util",
    ),
    ("import tests.a.b as c", "import tests.generated.jax.a.b as c"),
    ("from tests.oracle import models",) * 2,
    ("from tests import oracle",) * 2,
    ("from scipy import stats",) * 2,
    ("from absl.testing import absltest",) * 2,
  )
  def test_tests(self, before, after):
    self.assertEqual(testing.body(before, testing.TEST), after + "\n")


class DialectTest(parameterized.TestCase):
  """Tests that methods and in-place stores are allowed on host values."""

  @parameterized.parameters(
    "x = {}\nx['a'] = 1",
    "x: dict[str, int] = f()\nx['a'] = 1",
    "def f(**x):\n  x['a'] = 1",
    "def f(x: list[int]):\n  x[0] += 1",
    "x = onp.zeros(3)\nx[0] = 1\nx += 1\nprint(x.sum(), x.T.shape)",
    "def f(x: onp.ndarray):\n  return x.max()",
    "def g(x) -> onp.ndarray:\n  return x\n\n\ny = g(1).size",
    "n = 0\nn += 1",
    "for n in range(3):\n  n += 1",
    "n = max(1, len('a')) * 2\nn -= 1",
    "shape = static.shape(1)\nn, m = shape\nn += 1",
    "shape = static.shape(1)\nn = shape[0] + 1\nn += 1",
    "x = static.concrete(1)\nx.max()",
    "x = np.finfo('float32').max",
    "np.finfo('float32').max",
    "x = np.finfo('float32')\nx.min",
    "x = [1]\nx.sort()",
    "def f(self, cls):\n  return self.shape, cls.size, super().shape",
    "class Shape:\n  size = 1\n\n\nx = Shape.size",
    "import itertools\nitertools.repeat(1)",
    "def f(dist):\n  return dist.mean(), dist.copy(), dist.mode()",
    "def f(x):\n  x = x + 1\n  return x[0], x[..., None]",
    "print('a'.join(['b']), sum(x for x in [1]))",
  )
  def test_good(self, code):
    code = _ARRAYS + "from phasic.internal import static\n" + code
    self.assertEqual(testing.refusals(code), [])

  @parameterized.parameters(
    "def f(x):\n  x[0] = 1\n  return x.sum(), x @ x",
    "x = onp.asarray(np.zeros(3))\nx[0] = 1\nx.reshape(3)",
    "self.x = 1\nself.x += 1",
  )
  def test_tests_are_refused_less(self, code):
    self.assertEqual(testing.refusals(_ARRAYS + code, testing.TEST), [])


class SeedsTest(parameterized.TestCase):
  """Tests that integer seeds become JAX keys without a new line."""

  @parameterized.parameters(
    (
      '"""T."""\n\nimport os\nf(seed=1)',
      '"""T."""\nimport jax\nimport os\nf(seed=jax.random.key(1))',
    ),
    (
      "from __future__ import annotations\n\nimport os\nf(seed=1)",
      "from __future__ import annotations\nimport jax\nimport os\n"
      "f(seed=jax.random.key(1))",
    ),
    (
      "import os\nf(seed=1, g=g(seed=0x2))",
      "import jax; import os\n"
      "f(seed=jax.random.key(1), g=g(seed=jax.random.key(0x2)))",
    ),
    (
      "from phasic.internal import random as r\nr.uniform(3, (2,), 'float32')",
      "import jax; from phasic.substrates.jax.internal import random as r\n"
      "r.uniform(jax.random.key(3), (2,), 'float32')",
    ),
    ("import os\nf(seed=None, salt=1)",) * 2,
    ("import os\nf(seed=seed)",) * 2,
    ("import hypothesis\nhypothesis.f(seed=1)",) * 2,
  )
  def test_jax(self, before, after):
    self.assertEqual(testing.body(before, testing.TEST), after + "\n")

  @parameterized.parameters("numpy", "tf")
  def test_others(self, substrate):
    code = "import os\nf(seed=1)"
    self.assertEqual(testing.body(code, testing.TEST, substrate), code + "\n")


class ProductsTest(parameterized.TestCase):
  """Tests that JAX is asked for products in full precision."""

  @parameterized.parameters(
    ("np.matmul(x, y)[0]", 'np.matmul(x, y, precision="highest")[0]'),
    ("np.dot(x, (y + z))", 'np.dot(x, (y + z), precision="highest")'),
    (
      "np.matmul(\n  x,\n  np.inner(y, z),\n)",
      'np.matmul(\n  x,\n  np.inner(y, z, precision="highest"),'
      ' precision="highest"\n)',
    ),
    (
      'np.einsum("ij,j", x, y, optimize=(False))',
      'np.einsum("ij,j", x, y, optimize=(False), precision="highest")',
    ),
    ("np.matmul(*x)", 'np.matmul(*x, precision="highest")'),
    ("np.multiply(x, y)",) * 2,
    ("onp.matmul(x, y)",) * 2,
  )
  def test_jax(self, before, after):
    imports = "import jax.numpy as np\nimport numpy as onp\n"
    self.assertEqual(testing.body(_ARRAYS + before), imports + after + "\n")

  def test_examples(self):
    code = '"""F.\n\n  >>> np.matmul(x, y)\n"""\n'
    after = code.replace("y)", 'y, precision="highest")')
    self.assertEqual(testing.body(code), after)

  def test_numpy(self):
    code = _ARRAYS + "np.matmul(x, y)\n"
    self.assertEqual(testing.body(code, substrate="numpy"), code)

  @parameterized.parameters(
    ("f(np.matmul)", "3:3: np.matmul is a value"),
    ("np.matmul(\n  x,\n  y,  # A note.\n)", "3:1: np.matmul: its last"),
    ("np.matmul()", "3:1: np.matmul: its last"),
  )
  def test_refusals(self, code, message):
    for substrate in ("numpy", "jax"):
      (found,) = testing.refusals(_ARRAYS + code, substrate=substrate)
      self.assertStartsWith(found, message)


class ComparisonsTest(parameterized.TestCase):
  """Tests that tensors are compared by functions in TensorFlow."""

  @parameterized.parameters(
    ("y = x == 0", "y = np.equal(x, 0)"),
    ("y = f(x)[0] != -math.inf", "y = np.not_equal(f(x)[0], -math.inf)"),
    ("y = (x + 1) == (z)", "y = np.equal((x + 1), (z))"),
    (
      "y = (x == z) != (w == 0)",
      "y = np.not_equal((np.equal(x, z)), (np.equal(w, 0)))",
    ),
    ("y = (\n  x\n  == z\n)", "y = (\n  np.equal(x\n, z)\n)"),
    ("y = x == z and w is None", "y = np.equal(x, z) and w is None"),
    ("y = kind == 'cdf'",) * 2,
    ("y = shape == (2,)",) * 2,
    ("y = x is None != z",) * 2,
    ("y = static.rank(x) == 0",) * 2,
    ("y = onp.asarray(x) == 0",) * 2,
    ("def f(n: int):\n  return n == 0",) * 2,
    ("y = x < 0",) * 2,
  )
  def test_tensorflow(self, before, after):
    imports = (
      "from phasic.substrates.tf.internal import array_functions as np\n"
    )
    found = testing.body(_ARRAYS + before, substrate="tf")
    self.assertEqual(found, imports + "import numpy as onp\n" + after + "\n")

  @parameterized.parameters("numpy", "jax")
  def test_others(self, substrate):
    code = "import numpy as np\ny = x == 0\n"
    found = testing.body(code, substrate=substrate)
    self.assertEndsWith(found, "\ny = x == 0\n")

  def test_without_arrays(self):
    code = "y = x == 0\n"
    self.assertEqual(testing.body(code, substrate="tf"), code)

  def test_refusals(self):
    code = "import numpy as np\ny = (x  # A note.\n== z)\n"
    (found,) = testing.refusals(code, substrate="tf")
    self.assertStartsWith(found, "2:6: a comment beside ==")


class FoldingTest(parameterized.TestCase):
  """Tests of which branches on MODE are kept."""

  @parameterized.parameters(
    ("jax", "\n\nx = 1\n\n\n\n\ny = 2\n"),
    ("tf", "\n\n\n\nx = 2\n\n\ny = 2\n"),
    ("numpy", "\n\n\n\n\n\nx = 3\ny = 2\n"),
  )
  def test_chain(self, substrate, after):
    code = """
      MODE = "numpy"
      if MODE == "jax":
        x = 1
      elif MODE == "tf":
        x = 2
      else:
        x = 3
      y = 2
    """
    self.assertEqual(testing.body(code, substrate=substrate), after)

  def test_empty_block_gets_pass(self):
    code = """
      MODE = "numpy"
      try:
        if MODE == "tf":
          # Dropped.
          x = 1
      except ValueError:
        pass
    """
    self.assertEqual(
      testing.body(code),
      "\ntry:\n  pass\n\n\nexcept ValueError:\n  pass\n",
    )

  def test_other_rules_work_in_moved_code(self):
    code = """
      import numpy as np
      MODE = "numpy"
      if MODE == "jax":
        if MODE != "tf":
          import jax
          from phasic.math import gamma
          x = np.asarray([
              1,
          ])
          y = '''
              text
          '''
      else:
        np.datetime64("1")
    """
    self.assertEqual(
      testing.body(code),
      textwrap.dedent("""
        import jax.numpy as np



        import jax
        from phasic.substrates.jax.math import gamma
        x = np.asarray([
            1,
        ])
        y = '''
                text
            '''


      """).lstrip("\n"),
    )


class OmitTest(parameterized.TestCase):
  """Tests of imports that are dropped for omitted dependencies."""

  @parameterized.parameters(
    ("phasic.math", "phasic.math"),
    ("//phasic/math", "phasic.math"),
    ("//phasic/math:math", "phasic.math"),
    ("phasic/math:gamma", "phasic.math.gamma"),
    ("numpyro", "numpyro"),
  )
  def test_module_of(self, dependency, module):
    self.assertEqual(omit.module_of(dependency), module)

  @parameterized.parameters(
    ("from phasic.m import a, b, c", "b", "a, c"),
    ("from phasic.m import a, b, c", "c", "a, b"),
    ("from phasic.m import a, b, c", "a", "b, c"),
    ("from phasic.m import a, b, c", "b c", "a"),
    ("from phasic.m import a, b, c", "a c", "b"),
  )
  def test_names(self, before, names, after):
    result = testing.rewrite(
      f"{before}\n__all__ = ['a', 'b', 'c']\n",
      omit_deps=frozenset(f"phasic.m.{name}" for name in names.split()),
    )
    self.assertEmpty(result.problems)
    listed = ", ".join(f"'{name}'" for name in after.split(", "))
    self.assertStartsWith(
      result.text,
      f"from phasic.substrates.jax.m import {after}\n__all__ = [{listed}]\n",
    )
    self.assertLen(result.matched_omit_deps, len(names.split()))

  def test_prefix_is_no_match(self):
    result = testing.rewrite(
      "from phasic.math import gamma_functions",
      omit_deps=frozenset({"phasic.math.gamma"}),
    )
    self.assertEmpty(result.matched_omit_deps)


if __name__ == "__main__":
  absltest.main()
