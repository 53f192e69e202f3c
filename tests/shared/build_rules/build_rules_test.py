"""Promises of build_defs.bzl: one source, per-substrate targets, omit_deps."""

import importlib.util

from absl.testing import absltest

from tests.shared.build_rules import build_rules_package


class BuildRulesTest(absltest.TestCase):
  def test_omitted_dependency_is_gone(self):
    in_jax = ".jax." in build_rules_package.__name__
    expected = ["build_rules_everywhere"]
    if not in_jax:
      expected += ["build_rules_not_in_jax"]
    self.assertEqual(build_rules_package.__all__, expected)
    for name in expected:
      self.assertTrue(hasattr(build_rules_package, name))
    package = build_rules_package.__name__.rpartition(".")[0]
    found = importlib.util.find_spec(f"{package}.build_rules_not_in_jax")
    self.assertEqual(found is None, in_jax)


if __name__ == "__main__":
  absltest.main()
