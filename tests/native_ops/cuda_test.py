"""The example's kernel for CUDA compiles, where there is a compiler for it."""

import pathlib
import shutil
import subprocess
import tempfile

from absl.testing import absltest

from tests.native_ops import libraries


class CudaTest(absltest.TestCase):
  def test_compiles(self):
    if shutil.which("nvcc") is None:
      self.skipTest("there is no nvcc")
    jaxlib = libraries.package("jaxlib")
    if jaxlib is None:
      self.skipTest("there is no JAX")
    libraries.kepler()
    from kepler import library

    source = library.PATH.parents[1] / "native" / "kepler_op.cu"
    with tempfile.TemporaryDirectory() as folder:
      target = pathlib.Path(folder) / "kepler.o"
      subprocess.run(
        [
          *("nvcc", "-std=c++17", "-Xcompiler", "-fPIC"),
          *("--expt-relaxed-constexpr", "-DPHASIC_WITH_XLA"),
          *("-gencode=arch=compute_80,code=sm_80", f"-I{source.parent}"),
          f"-I{libraries.include_dir()}",
          *("-isystem", str(jaxlib / "include"), "-c", str(source)),
          *("-o", str(target)),
        ],
        check=True,
      )
      self.assertIn(b"phasic_op_kepler_cuda", target.read_bytes())


if __name__ == "__main__":
  absltest.main()
