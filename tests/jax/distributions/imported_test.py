"""What importing the whole substrate does."""

import subprocess
import sys
import textwrap

from absl.testing import absltest


class ImportedTest(absltest.TestCase):
  def test_registers_and_starts_no_backend(self):
    code = """
      import sys
      sys.path[:] = sys.argv[1:]
      import phasic.substrates.jax
      from jax.extend import backend
      from phasic.substrates.jax.internal import ffi_targets
      assert ffi_targets._load.cache_info().currsize == 1
      import jax
      assert not jax._src.xla_bridge._backends
    """
    result = subprocess.run(
      [sys.executable, "-c", textwrap.dedent(code), *sys.path],
      capture_output=True,
      text=True,
      check=False,
    )
    self.assertEqual(result.returncode, 0, result.stderr)


if __name__ == "__main__":
  absltest.main()
