"""The table of `make test-versions`: counts, and suites that did not end."""

import contextlib
import io
import json
import pathlib

from absl.testing import absltest

from tools import versions_table

_ENTRY = {"python": "3.12", "column": "oldest", "log": ""}
_RESULT = {
  "versions": {"python": "3.12.1", "jax": "0.9.0", "numpy": "2.0.2"},
  "passed": 20,
  "failed": 0,
  "skipped": 1,
  "skips": ["too old"],
}


class VersionsTableTest(absltest.TestCase):
  def _main(self, *entries: dict) -> tuple[int, list[str]]:
    path = pathlib.Path(self.create_tempdir().full_path) / "results"
    path.write_text("\n".join(json.dumps(entry) for entry in entries))
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
      status = versions_table.main(["", str(path)])
    return status, output.getvalue().splitlines()

  def test_counts(self):
    entry = _ENTRY | {"result": _RESULT}
    status, lines = self._main(entry, entry)
    self.assertEqual((status, lines[-1]), (0, "40 passed, 0 failed, 2 skipped"))
    self.assertIn("skipped: too old", lines)
    self.assertRegex(lines[-2], "^3.12.1 +oldest +0.9.0 +- +2.0.2 +20 +0 +1$")

  def test_a_suite_that_did_not_end_failed(self):
    log = self.create_tempfile(content="Killed")
    status, lines = self._main(_ENTRY | {"result": None, "log": log.full_path})
    self.assertIn("Killed", lines)
    self.assertEqual((status, lines[-1]), (1, "0 passed, 1 failed, 0 skipped"))

  def test_nothing_ran(self):
    status, lines = self._main()
    self.assertEqual((status, lines[-1]), (1, "0 passed, 0 failed, 0 skipped"))


if __name__ == "__main__":
  absltest.main()
