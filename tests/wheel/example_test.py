"""The example of a native op, built outside against the installed wheel."""

import os
import pathlib
import shutil
import subprocess
import tempfile

from absl.testing import absltest

from tests.wheel import environments

_CHECK = """
import numpy as onp
import jax
jax.config.update("jax_enable_x64", True)
import tensorflow as tf
import kepler.jax, kepler.numpy, kepler.tf

mean = onp.linspace(-3.0, 3.0, 7)
expected = kepler.numpy.kepler(mean, 0.6)
onp.testing.assert_array_equal(kepler.jax.kepler(mean, 0.6), expected)
onp.testing.assert_array_equal(kepler.tf.kepler(mean, 0.6), expected)
slope = jax.vmap(jax.grad(lambda m: kepler.jax.kepler(m, 0.6)[0]))(mean)
x = tf.constant(mean)
with tf.GradientTape() as tape:
  tape.watch(x)
  y = kepler.tf.kepler(x, 0.6)[0]
onp.testing.assert_allclose(tape.gradient(y, x), slope, rtol=1e-13)
print("OK")
"""


class ExampleTest(absltest.TestCase):
  def test_builds_and_runs(self):
    folder = pathlib.Path(self.create_tempdir().full_path)
    packages = ["jax", "tensorflow-cpu", "setuptools"]
    python = environments.create(folder / "venv", packages)
    (wheel,) = pathlib.Path("tools/wheel/wheel").glob("*.whl")
    environments.install(python, wheel.absolute())
    project = folder / "kepler"
    shutil.copytree(
      "examples/kepler", project, ignore=shutil.ignore_patterns("*.so")
    )
    for arguments in (["setup.py", "build_native"], ["-c", _CHECK]):
      done = subprocess.run(
        [str(python), *arguments],
        cwd=project,
        env={
          "PATH": os.defpath,
          "HOME": tempfile.gettempdir(),
          "JAX_PLATFORMS": "cpu",
          "TF_CPP_MIN_LOG_LEVEL": "3",
        },
        capture_output=True,
        text=True,
        check=False,
      )
      self.assertEqual(done.returncode, 0, done.stderr[-3000:])
    self.assertEqual(done.stdout.split(), ["OK"])


if __name__ == "__main__":
  absltest.main()
