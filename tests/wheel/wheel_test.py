"""The wheel as a user gets it: installed where only one framework is."""

import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib
import zipfile

from absl.testing import absltest
from absl.testing import parameterized
from elftools.elf import elffile

from phasic.substrates.numpy.internal import frameworks
from tests.wheel import environments
from tools.wheel import build

_PACKAGES = {"numpy": "numpy", "jax": "jax", "tf": "tensorflow-cpu"}
_THIRD_PARTY = [
  f"third_party/licenses/{name}.txt" for name in ("Eigen", "LLVM", "pybind11")
]
_OPTIONAL = [
  *("formulaic", "matplotlib", "networkx", "numpyro", "statsmodels"),
  *("tfp-nightly", "tqdm"),
]
_FRAMEWORK = {"numpy": [], "jax": ["jax"], "tf": ["tensorflow"]}


def _wheel() -> pathlib.Path:
  (wheel,) = pathlib.Path("tools/wheel/wheel").glob("*.whl")
  return wheel.absolute()


def _run(python: pathlib.Path, *arguments: str) -> str:
  environment = {
    "PATH": os.defpath,
    "HOME": tempfile.gettempdir(),
    "JAX_PLATFORMS": "cpu",
    "TF_CPP_MIN_LOG_LEVEL": "3",
  }
  result = subprocess.run(
    [str(python), "-I", *arguments],
    env=environment,
    capture_output=True,
    text=True,
    check=False,
  )
  if result.returncode:
    raise AssertionError(result.stderr[-3000:])
  return result.stdout.splitlines()[-1] if result.stdout else ""


class WheelContentsTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    with zipfile.ZipFile(_wheel()) as archive:
      self.names = {n for n in archive.namelist() if not n.endswith("/")}

  def test_has_what_it_needs(self):
    for name in (
      "phasic/__init__.py",
      "phasic/py.typed",
      "phasic/_native/__init__.py",
      "phasic/_native/_kernel.so",
      "phasic/_native/libphasic_tf.so",
      "phasic/include/__init__.py",
      "phasic/include/phasic/op.h",
      "phasic/include/phasic/op/xla.h",
      "phasic/substrates/__init__.py",
      *(
        f"phasic/substrates/{substrate}/{name}"
        for substrate in _PACKAGES
        for name in (
          "__init__.py",
          "binding/__init__.py",
          "covariates/__init__.py",
          "distributions/absorption/phase_type.py",
          "inference/__init__.py",
          "math/likelihood/phase_type.py",
          "internal/kernel_ops.py",
          "interop/__init__.py",
        )
      ),
      "phasic/substrates/jax/binding/jaxbind_compat.py",
      "phasic/substrates/numpy/interop/scipy.py",
      "phasic/substrates/jax/interop/numpyro.py",
      "phasic/substrates/jax/interop/tfp.py",
      "phasic/substrates/tf/interop/tfp.py",
    ):
      self.assertIn(name, self.names)

  def test_has_nothing_else(self):
    allowed = ("phasic/_native/", "phasic/include/", "phasic/substrates/")
    rest = {
      name
      for name in self.names
      if not name.startswith(allowed) and ".dist-info/" not in name
    }
    self.assertEqual(rest, {"phasic/__init__.py", "phasic/py.typed"})

  def test_extras_ask_for_what_runs(self):
    """The oldest versions are those of `internal/frameworks.py`, or later."""
    project = tomllib.loads(pathlib.Path("pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"]
    for extra, package, module in (
      ("jax", "jax", "jax"),
      ("tf", "tensorflow-cpu", "tensorflow"),
    ):
      (pin,) = [x for x in extras[extra] if x.startswith(f"{package}>=")]
      oldest = re.split("[>=,]+", pin)[1]
      self.assertFalse(
        frameworks.is_older(oldest, frameworks.OLDEST[module]), pin
      )

  def test_platform(self):
    version = f"cp{sys.version_info.major}{sys.version_info.minor}"
    self.assertIn(f"-{version}-{version}-", _wheel().name)

  def test_licenses(self):
    for name in ("LICENSE", "NOTICE", *_THIRD_PARTY):
      folder = "phasic_substrates-0.1.0.dist-info/licenses"
      self.assertIn(f"{folder}/{name}", self.names)

  def test_libraries_carry_the_cpp_runtime(self):
    with zipfile.ZipFile(_wheel()) as archive:
      for name in self.names:
        if name.endswith(".so"):
          library = elffile.ELFFile(io.BytesIO(archive.read(name)))
          dynamic = library.get_section_by_name(".dynamic")
          needed = [tag.needed for tag in dynamic.iter_tags("DT_NEEDED")]
          self.assertIn("libc.so.6", needed)
          self.assertNotIn("libstdc++.so.6", needed)

  def _build_again(self, target: build.Target) -> pathlib.Path:
    with zipfile.ZipFile(_wheel()) as archive:
      files = {
        name: archive.read(name)
        for name in reversed(archive.namelist())
        if name.startswith("phasic/") and not name.endswith("/")
      }
    directory = pathlib.Path(self.create_tempdir().full_path)
    texts = [
      pathlib.Path(name).read_text()
      for name in ("pyproject.toml", "docs/pypi.md")
    ]
    licenses = {
      name: pathlib.Path(name).read_text()
      for name in ("LICENSE", "NOTICE", *_THIRD_PARTY)
    }
    build.build(files, *texts, licenses, directory, target)
    return directory

  def test_same_bytes_when_built_again(self):
    # Another user's settings.
    self.addCleanup(os.umask, os.umask(0o077))
    directory = self._build_again(build.own_target())
    self.assertEqual(
      (directory / _wheel().name).read_bytes(), _wheel().read_bytes()
    )

  def test_refuses_a_platform_that_is_too_old(self):
    own = build.own_target()
    platform = own.tag.split("-")[2].replace("linux", "manylinux_2_17")
    target = own._replace(manylinux=platform)
    with self.assertRaisesRegex(SystemExit, f"cannot be a {platform} wheel"):
      self._build_again(target)


class InstalledWheelTest(parameterized.TestCase):
  @parameterized.parameters(*_PACKAGES)
  def test_alone(self, substrate):
    directory = pathlib.Path(self.create_tempdir().full_path) / "venv"
    python = environments.create(directory, [_PACKAGES[substrate]])
    environments.install(python, _wheel())
    for other in set(_FRAMEWORK) - {substrate}:
      for module in _FRAMEWORK[other]:
        with self.assertRaisesRegex(AssertionError, "ModuleNotFoundError"):
          _run(python, "-c", f"import {module}")
        install = rf'pip install "phasic-substrates\[{other}\]"$'
        with self.assertRaisesRegex(
          AssertionError, f"ImportError: .*{install}"
        ):
          _run(python, "-c", f"import phasic.substrates.{other}")

    check = str(pathlib.Path("tests/wheel/isolated_check.py").absolute())
    found = json.loads(_run(python, check, substrate))

    self.assertStartsWith(found["file"], str(directory))
    self.assertTrue(found["light"], "`import phasic` imports a framework")
    self.assertEqual(found["frameworks"], _FRAMEWORK[substrate])
    self.assertEmpty(found["other_substrates"])
    self.assertEmpty(found["duplicates"])
    # SciPy's adapter imports it late; the others' libraries are missing.
    for name, message in found["adapters"].items():
      self.assertIn("" if name == "scipy" else "phasic-substrates[", message)
    self.assertEqual(found["path"], "kernel", found["reason"])
    self.assertLess(found["error"], 1e-6)


class IsolationTest(parameterized.TestCase):
  """With every framework installed, a substrate imports its own alone."""

  @classmethod
  def setUpClass(cls):
    super().setUpClass()
    folder = cls.enterClassContext(tempfile.TemporaryDirectory())
    cls.python = environments.create(
      pathlib.Path(folder) / "venv", [*_PACKAGES.values(), *_OPTIONAL]
    )
    environments.install(cls.python, _wheel())

  @parameterized.parameters(*_PACKAGES)
  def test_imports_only_its_own(self, substrate):
    check = str(pathlib.Path("tests/wheel/isolated_check.py").absolute())
    found = json.loads(_run(self.python, check, substrate))
    # TensorFlow itself imports JAX where it finds it.
    allowed = {"jax", "tensorflow"} if substrate == "tf" else {substrate}
    self.assertContainsSubset(found["frameworks"], allowed)
    # And so it does matplotlib.
    own = {"matplotlib"} if substrate == "tf" else set()
    self.assertEmpty(set(found["optional"]) - own)
    self.assertEmpty(found["other_substrates"])


if __name__ == "__main__":
  absltest.main()
