"""The closing lines of `make test`, on runs that went well and badly."""

import contextlib
import io
import json
import pathlib
from typing import Any

from absl.testing import absltest

from tools import test_summary

_XML = """<testsuites><testsuite>
<testcase name="a"/><testcase name="b"><skipped/></testcase>
<testcase name="c" status="notrun"/>{}
</testsuite></testsuites>"""
_FAILED = '<testcase name="d"><failure/><error/></testcase>'
_NOTE = '<properties><property name="note" value="3 pairs"/></properties>'
_LOCAL: dict[str, Any] = {"cachedLocally": True}
_DISK: dict[str, Any] = {"executionInfo": {"cachedRemotely": True}}
_RAN: dict[str, Any] = {"executionInfo": {"strategy": "linux-sandbox"}}


class TestSummaryTest(absltest.TestCase):
  def _result(
    self,
    status: str = "PASSED",
    xml: str = _XML.format(""),
    label: str = "//:a",
    shard: int = 1,
    **details: Any,
  ) -> dict[str, Any]:
    path = self.create_tempfile(content=xml).full_path
    output = {"name": "test.xml", "uri": f"file://{path}"}
    result = {"status": status, "testActionOutput": [output], **details}
    key = {"label": label, "run": 1, "shard": shard}
    return {"id": {"testResult": key}, "testResult": result}

  def _target(self, label: str, **completed: Any) -> list[dict[str, Any]]:
    configured = {"id": {"targetConfigured": {"label": label}}}
    return [
      configured | {"configured": {"testSize": "SMALL"}},
      {"id": {"targetCompleted": {"label": label}}, **completed},
    ]

  def _run(self, *events: dict[str, Any], status: int = 0):
    text = "\n".join(json.dumps(event) for event in events)
    path = self.create_tempfile(content=text).full_path
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
      code = test_summary.main([path, f"--bazel_status={status}"])
    return code, output.getvalue().splitlines()

  def test_all_pass(self):
    lines = [
      "test targets: 0 from the cache, 1 ran",
      "1 passed, 0 failed, 2 skipped",
    ]
    self.assertEqual(self._run(self._result()), (0, lines))

  def test_results_from_caches_are_counted_by_target(self):
    code, lines = self._run(
      self._result(label="//:local", **_LOCAL),
      self._result(label="//:shards", **_LOCAL),
      self._result(label="//:shards", shard=2, **_DISK),
      self._result(label="//:one_shard_ran", **_RAN),
      self._result(label="//:one_shard_ran", shard=2, **_LOCAL),
    )
    self.assertEqual(lines[0], "test targets: 2 from the cache, 1 ran")
    self.assertEqual((code, lines[1]), (0, "5 passed, 0 failed, 10 skipped"))

  def test_failed_case_counts_once(self):
    event = self._result("FAILED", _XML.format(_FAILED))
    code, lines = self._run(event, status=3)
    self.assertEqual((code, lines[-1]), (1, "1 passed, 1 failed, 2 skipped"))
    self.assertStartsWith(lines[0], "FAILED //:a")

  def test_crash_without_a_failed_case(self):
    code, lines = self._run(self._result("TIMEOUT"), status=3)
    self.assertEqual((code, lines[-1]), (1, "1 passed, 1 failed, 2 skipped"))

  def test_broken_xml(self):
    code, lines = self._run(self._result(xml="<testsuites>"))
    self.assertEqual((code, lines[-1]), (1, "0 passed, 1 failed, 0 skipped"))

  def test_not_built_and_incompatible(self):
    code, lines = self._run(
      *self._target("//:a", completed={}),
      *self._target("//:b", aborted={"reason": "SKIPPED"}),
      *self._target("//:c", aborted={"reason": "ANALYSIS_FAILURE"}),
      status=1,
    )
    self.assertEqual((code, lines[-1]), (1, "0 passed, 2 failed, 1 skipped"))

  def test_notes_of_tests(self):
    lines = self._run(self._result(xml=_XML.format(_NOTE)))[1]
    self.assertEqual(lines[0], "3 pairs")

  def test_nothing_ran(self):
    for status in (0, 1, 4):
      code, lines = self._run(status=status)
      self.assertEqual(code, 1)
      self.assertEndsWith(lines[-1], " skipped")
    missing = pathlib.Path(self.create_tempdir().full_path) / "none"
    with contextlib.redirect_stdout(io.StringIO()):
      self.assertEqual(test_summary.main([str(missing)]), 1)


if __name__ == "__main__":
  absltest.main()
