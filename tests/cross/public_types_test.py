"""Public signatures have types that say something."""

from absl.testing import absltest
from absl.testing import parameterized

from tests.cross import public_names
from tests.cross import public_types


class PublicTypesTest(parameterized.TestCase):
  @parameterized.parameters(*public_names.SUBSTRATES)
  def test_no_public_signature_has_any(self, substrate):
    self.assertEmpty(
      public_types.untyped(substrate),
      "use a type of phasic.internal.arrays, a type variable, a protocol, or "
      "`object` where an argument is checked",
    )

  def test_finds_any(self):
    def function(x: "dict[str, Any]", y: "Anything") -> "list[int]":  # noqa: F821
      del x, y

    found = dict(public_types._of("function", function))
    self.assertEqual(
      {
        place for place, text in found.items() if public_types._ANY.search(text)
      },
      {"function(x)"},
    )


if __name__ == "__main__":
  absltest.main()
