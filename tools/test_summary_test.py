"""The closing line of `make test`, on runs that went well and badly."""

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


class TestSummaryTest(absltest.TestCase):
  def _result(
    self, label: str, status: str, xml: str, shard: int = 1, **details: Any
  ) -> dict[str, Any]:
    path = self.create_tempfile(content=xml).full_path
    return {
      "id": {"testResult": {"label": label, "run": 1, "shard": shard}},
      "testResult": {
        **details,
        "status": status,
        "testActionOutput": [{"name": "test.xml", "uri": f"file://{path}"}],
      },
    }

  def _target(self, label: str, **completed: Any) -> list[dict[str, Any]]:
    return [
      {
        "id": {"targetConfigured": {"label": label}},
        "configured": {"testSize": "SMALL"},
      },
      {"id": {"targetCompleted": {"label": label}}, **completed},
    ]

  def _run(self, events: list[dict[str, Any]], status: int = 0):
    path = self.create_tempfile(
      content="\n".join(json.dumps(event) for event in events)
    ).full_path
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
      code = test_summary.main([path, f"--bazel_status={status}"])
    return code, output.getvalue().splitlines()

  def test_all_pass(self):
    events = [self._result("//:a", "PASSED", _XML.format(""))]
    lines = [
      "test targets: 0 from the cache, 1 ran",
      "1 passed, 0 failed, 2 skipped",
    ]
    self.assertEqual(self._run(events), (0, lines))

  def test_results_from_caches_are_counted_by_target(self):
    local: dict[str, Any] = {"cachedLocally": True}
    disk: dict[str, Any] = {"executionInfo": {"cachedRemotely": True}}
    ran: dict[str, Any] = {"executionInfo": {"strategy": "linux-sandbox"}}
    events = [
      self._result(label, "PASSED", _XML.format(""), shard, **details)
      for label, shard, details in (
        ("//:local", 1, local),
        ("//:shards", 1, local),
        ("//:shards", 2, disk),
        ("//:one_shard_ran", 1, ran),
        ("//:one_shard_ran", 2, local),
      )
    ]
    lines = [
      "test targets: 2 from the cache, 1 ran",
      "5 passed, 0 failed, 10 skipped",
    ]
    self.assertEqual(self._run(events), (0, lines))

  def test_failed_case_counts_once(self):
    events = [self._result("//:a", "FAILED", _XML.format(_FAILED))]
    code, lines = self._run(events, status=3)
    self.assertEqual(code, 1)
    self.assertEqual(lines[-1], "1 passed, 1 failed, 2 skipped")
    self.assertStartsWith(lines[0], "FAILED //:a")

  def test_crash_without_a_failed_case(self):
    events = [self._result("//:a", "TIMEOUT", _XML.format(""))]
    code, lines = self._run(events, status=3)
    self.assertEqual((code, lines[-1]), (1, "1 passed, 1 failed, 2 skipped"))

  def test_broken_xml(self):
    events = [self._result("//:a", "PASSED", "<testsuites>")]
    code, lines = self._run(events)
    self.assertEqual((code, lines[-1]), (1, "0 passed, 1 failed, 0 skipped"))

  def test_not_built_and_incompatible(self):
    events = [
      *self._target("//:a", completed={}),
      *self._target("//:b", aborted={"reason": "SKIPPED"}),
      *self._target("//:c", aborted={"reason": "ANALYSIS_FAILURE"}),
    ]
    code, lines = self._run(events, status=1)
    self.assertEqual((code, lines[-1]), (1, "0 passed, 2 failed, 1 skipped"))

  def test_notes_of_tests(self):
    note = '<testcase><properties><property name="note" value="3 pairs"/>'
    xml = _XML.format(f"{note}</properties></testcase>")
    lines = self._run([self._result("//:a", "PASSED", xml)])[1]
    self.assertEqual(lines[0], "3 pairs")

  def test_nothing_ran(self):
    for status in (0, 1, 4):
      code, lines = self._run([], status)
      self.assertEqual(code, 1)
      self.assertEndsWith(lines[-1], " skipped")

  def test_no_event_file(self):
    missing = pathlib.Path(self.create_tempdir().full_path) / "none"
    with contextlib.redirect_stdout(io.StringIO()):
      self.assertEqual(test_summary.main([str(missing)]), 1)


if __name__ == "__main__":
  absltest.main()
