"""Tests of refused stores, methods and branches: positions and messages."""

from __future__ import annotations

from absl.testing import absltest
from absl.testing import parameterized

from substrates.meta.tests import testing

_ARRAYS = "import numpy as np\nimport numpy as onp\n"
_HOST = " (host value: annotate its name or function as onp.ndarray)"
_STORE = (
  "arrays are not written to; use np.where or np.concatenate (a local dict,"
  " list or onp array is fine)"
)


class DialectTest(parameterized.TestCase):
  """Tests that stores into arrays and array methods are refused."""

  @parameterized.named_parameters(
    (
      "store",
      "def f(x):\n  x[0] = 1",
      f"4:3: in-place store to x[...]: {_STORE}",
    ),
    (
      "add",
      "def f(x):\n  x[0] += 1",
      f"4:3: in-place store to x[...]: {_STORE}",
    ),
    (
      "delete",
      "def f(x):\n  del x[0]",
      f"4:7: in-place store to x[...]: {_STORE}",
    ),
    (
      "unpacked",
      "def f(x):\n  x[0], y = 1, 2",
      f"4:3: in-place store to x[...]: {_STORE}",
    ),
    (
      "attribute",
      "def f(self):\n  self.x[0] = 1",
      f"4:3: in-place store to self.x[...]: {_STORE}",
    ),
    (
      "list_of_arrays",
      "x = [np.zeros(3)]\nx[0][1] = 1",
      f"4:1: in-place store to x[0][...]: {_STORE}",
    ),
    (
      "augmented",
      "def f(x):\n  x += 1",
      "4:3: augmented assignment to x may write in place: write x = x + ..."
      " (a name bound to Python numbers is fine)",
    ),
    (
      "augmented_array",
      "n = 0\nn = np.zeros(3)\nn *= 2",
      "5:1: augmented assignment to n may write in place: write n = n + ..."
      " (a name bound to Python numbers is fine)",
    ),
    ("out", "np.add(1, 2, out=3)", "3:14: out= stores in place"),
    (
      "matmul",
      "def f(a, b):\n  return a @ b",
      "4:10: operator @: use np.matmul",
    ),
    (
      "invert",
      "def f(a, b):\n  return ~(a >= b)",
      "4:10: operator ~ of an array: use np.logical_not (TensorFlow's graph"
      f" optimizer makes x < y of ~(x >= y), wrong of NaN){_HOST}",
    ),
    (
      "sum",
      "def f(x):\n  return x.sum()",
      f"4:10: .sum of an array: use np.sum(x, ...){_HOST}",
    ),
    (
      "transpose",
      "def f(x):\n  return (x + 1).T",
      "4:10: .T of an array: use np.transpose(x) or np.swapaxes(x, -1,"
      f" -2){_HOST}",
    ),
    (
      "shape",
      "np.zeros(3).shape",
      "3:1: .shape of an array: use static.shape, static.rank or onp on host"
      f" values{_HOST}",
    ),
    (
      "item",
      "def f(x):\n  return x[0].item()",
      f"4:10: .item of an array: use static.concrete(x), then onp{_HOST}",
    ),
    (
      "at",
      "def f(x):\n  return x.at[0].set(1)",
      f"4:10: .at of an array: the dialect has no in-place stores{_HOST}",
    ),
    (
      "attribute_of_self",
      "def f(self):\n  return self.rate.astype(int)",
      "4:10: .astype of an array: use np.asarray(x, dtype) or np.astype(x,"
      f" dtype){_HOST}",
    ),
    (
      "element_of_a_list",
      "for x in [np.zeros(3)]:\n  x.dot(x)",
      f"4:3: .dot of an array: use np.dot(x, ...){_HOST}",
    ),
  )
  def test_library(self, code, message):
    self.assertEqual(testing.refusals(_ARRAYS + code), [message])

  @parameterized.named_parameters(
    ("method", "np.zeros(3).sum()", "3:1: .sum of an array"),
    ("name", "x = np.zeros(3)\nx.reshape(3)", "4:1: .reshape of an array"),
    ("store", "x = np.zeros(3)\nx[0] = 1", "4:1: in-place store to x[...]"),
    ("sum", "x = 2 * np.zeros(3)\nx += 1", "4:1: augmented assignment to x"),
  )
  def test_tests(self, code, message):
    (found,) = testing.refusals(_ARRAYS + code, testing.TEST)
    self.assertStartsWith(found, message)


class ModesTest(parameterized.TestCase):
  """Tests of invalid branches on MODE."""

  _HINT = (
    "MODE may only be tested in an if statement, as MODE =="
    ' "jax", MODE != "jax", MODE in ("jax", "tf") or MODE not in (...)'
  )

  @parameterized.named_parameters(
    (
      "unknown_mode",
      "if MODE == 'torch':\n  pass",
      "2:12: unknown mode 'torch'; the modes are numpy, jax, tf",
    ),
    (
      "expression",
      "if MODE == 'jax':\n  pass\nx = 1 if MODE == 'jax' else 2",
      f"4:10: {_HINT}",
    ),
    (
      "combined",
      "if MODE == 'jax':\n  pass\nif MODE == 'jax' and 1:\n  pass",
      f"4:4: {_HINT}",
    ),
    (
      "chain",
      "if MODE == 'tf':\n  pass\nelif __name__:\n  pass",
      "4:6: tests MODE and something else in a chain",
    ),
    (
      "late",
      "if __name__:\n  pass\nelif MODE == 'tf':\n  pass",
      "4:6: tests MODE and something else in a chain",
    ),
    (
      "one_line",
      "if MODE == 'jax': pass",
      "2:19: a branch on MODE needs a line of its own",
    ),
    ("unused", "x = 1", "1:1: MODE is set, but no branch tests it"),
    (
      "unknown_name",
      "if MODE == 'jax':\n  pass\nif JAX_MODE:\n  pass",
      "4:4: unknown mode name JAX_MODE",
    ),
    (
      "dead_code",
      "def f():\n  if MODE == 'jax':\n    return 1\n  return 2",
      "3:3: a branch on MODE leaves the block: use else for the rest",
    ),
    (
      "framework_of_another",
      "if MODE == 'jax':\n  import tensorflow",
      "3:3: import of tensorflow is not in the table of allowed imports",
    ),
  )
  def test_mode(self, code, message):
    self.assertEqual(testing.refusals(f"MODE = 'numpy'\n{code}"), [message])

  def test_not_set(self):
    self.assertEqual(
      testing.refusals("if MODE == 'jax':\n  pass"),
      ['1:4: MODE is tested: write MODE = "numpy" in this file'],
    )

  def test_set_otherwise(self):
    self.assertEqual(
      testing.refusals("MODE = 'jax'\nif MODE == 'jax':\n  pass"),
      ['1:1: write MODE = "numpy"'],
    )

  def test_imported(self):
    self.assertEqual(
      testing.refusals("from phasic.internal.modes import MODE"),
      ['1:35: MODE is not imported: write MODE = "numpy"'],
    )


if __name__ == "__main__":
  absltest.main()
