"""Exported programs and saved models where nobody has imported phasic.

What the frameworks say is quoted in the table of docs/export.md, with the module
to import.
"""

import importlib.util
import pathlib
import re
import tempfile
import unittest

from absl.testing import absltest

from tests.faults import processes

_PAGE = pathlib.Path("docs/export.md")
# A row of the table: the message, cut off where it names a native function, and
# the module.
_ROW = re.compile(r"^\| `(.*)\.\.\.'?` \| import `(phasic\.substrates\.(\w+))`")

# These take the path of the program or model and the name of the module; the
# second ones print the error without the module, and the value with it.
_WRITE_PROGRAM = """
import pathlib
import sys

import jax
import jax.numpy as jnp
from phasic.substrates import jax as ph

def log_likelihood(rate, times):
  return ph.distributions.Erlang(2, rate).log_prob(times).sum()

exported = ph.export(log_likelihood)(
  jax.ShapeDtypeStruct((), jnp.float32), jax.ShapeDtypeStruct((3,), jnp.float32)
)
pathlib.Path(sys.argv[1]).write_bytes(exported.serialize())
"""
_READ_PROGRAM = """
import importlib
import pathlib
import sys

import jax
import jax.numpy as jnp

data = pathlib.Path(sys.argv[1]).read_bytes()
program = jax.export.deserialize(bytearray(data))
arguments = jnp.float32(2.0), jnp.array([0.5, 1.0, 2.0], jnp.float32)
try:
  program.call(*arguments)
except Exception as error:
  print(error)
assert "phasic" not in sys.modules
importlib.import_module(sys.argv[2])
print(f"value {program.call(*arguments):.4f}")
"""
_WRITE_MODEL = """
import sys

import tensorflow as tf
from phasic.substrates import tf as ph

class Model(tf.Module):
  @tf.function(input_signature=[tf.TensorSpec([None], tf.float64)])
  def log_likelihood(self, times):
    return tf.reduce_sum(ph.distributions.Erlang(2, 2.0).log_prob(times))

tf.saved_model.save(Model(), sys.argv[1])
"""
_READ_MODEL = """
import importlib
import sys

import tensorflow as tf

try:
  tf.saved_model.load(sys.argv[1])
except Exception as error:
  print(error)
assert "phasic" not in sys.modules
importlib.import_module(sys.argv[2])
model = tf.saved_model.load(sys.argv[1])
times = tf.constant([0.5, 1.0, 2.0], tf.float64)
print(f"value {model.log_likelihood(times):.4f}")
"""


def _rows():
  """Returns {substrate: (message, module)} of the page's table."""
  found = map(_ROW.match, _PAGE.read_text().splitlines())
  return {row[3]: (row[1], row[2]) for row in found if row}


def _has(library):
  return importlib.util.find_spec(library) is not None


class ExportedProgramsTest(absltest.TestCase):
  def check(self, substrate, write, read):
    message, module = _rows()[substrate]
    with tempfile.TemporaryDirectory() as folder:
      path = f"{folder}/saved"
      written = processes.run(write, path)
      self.assertEqual(written.returncode, 0, written.stderr)
      done = processes.run(read, path, module)
    self.assertEqual(done.returncode, 0, done.stderr)
    *error, value = done.stdout.splitlines()
    self.assertIn(message, "\n".join(error))
    # log f(t) = 2 log r + log t - r t, at times of the product one.
    self.assertEqual(value, "value -2.8411")

  @unittest.skipUnless(_has("jax"), "needs JAX")
  def test_program_of_jax(self):
    self.check("jax", _WRITE_PROGRAM, _READ_PROGRAM)

  @unittest.skipUnless(_has("tensorflow"), "needs TensorFlow")
  def test_saved_model(self):
    self.check("tf", _WRITE_MODEL, _READ_MODEL)


if __name__ == "__main__":
  absltest.main()
