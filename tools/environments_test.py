"""Which Python setup takes, with interpreters that run and that refuse to."""

import os
import pathlib
import subprocess
import sys

from absl.testing import absltest

_OWN = f"{sys.version_info.major}.{sys.version_info.minor}"
_RUNS = f'exec "{sys.executable}" "$@"'


class EnvironmentsTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.folder = pathlib.Path(self.create_tempdir().full_path)

  def _add(self, name: str, text: str) -> None:
    path = self.folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)

  def _call(self, command: str, **variables: str) -> str:
    command = f"source tools/environments.sh; {command}"
    path = {"PATH": f"{self.folder}:{os.defpath}", "HOME": str(self.folder)}
    return subprocess.check_output(
      ["bash", "-euc", command], env=path | variables, text=True
    ).strip()

  def test_supported_pythons_are_sorted(self):
    found = self._call("supported_pythons").splitlines()
    self.assertEqual(found, ["3.14", "3.13", "3.12", "3.11"])

  def test_a_name_that_refuses_to_run_is_skipped(self):
    self._add(f"python{_OWN}", "echo no such version >&2; exit 127")
    self.assertEqual(self._call(f"python_version python{_OWN}"), "")
    self._add("python3", _RUNS)
    found = self._call(f"find_python {_OWN}")
    self.assertEqual(found, str(self.folder / "python3"))

  def test_a_python_without_headers_is_skipped(self):
    self._add(f"python{_OWN}", _RUNS)
    self._add("python3", "exit 127")
    found = self._call(
      f"python_headers() {{ echo /nowhere; }}; PATH={self.folder}; "
      f"find_python {_OWN}"
    )
    self.assertEqual(found, "")

  def test_pythons_come_first(self):
    self._add("mine", _RUNS)
    mine = str(self.folder / "mine")
    found = self._call(f"find_any_python {_OWN}", PYTHONS=f"/nowhere {mine}")
    self.assertEqual(found, mine)


if __name__ == "__main__":
  absltest.main()
