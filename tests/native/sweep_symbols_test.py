"""No function outside a clone's namespace is compiled with its instructions.

The linker keeps one copy of an inline function or of a template's instance,
whoever compiled it. If a clone for a wide instruction set had one that others
use too (`std::min<long>`, say), a narrow processor might be given the clone's
copy, and stop at an instruction that it does not know. So all that a clone
lets the linker see must bear the name of its namespace.
"""

import os
import re
import subprocess

from absl.testing import absltest

# Data, not instructions: the address of the function for exceptions.
_HARMLESS = "DW.ref.__gxx_personality_v0"


def shared_symbols(archive: str, namespace: str) -> list[str]:
  """What other objects might use in place of their own: mangled names.

  Args:
    archive: path of the library.
    namespace: of the clone.

  Returns:
    Names of the symbols that the library defines, and does not keep to itself,
    in which the namespace does not occur.
  """
  output = subprocess.run(
    ["nm", "--defined-only", "--extern-only", "--format=posix", archive],
    check=True,
    stdout=subprocess.PIPE,
    text=True,
  ).stdout
  lines = (line.split() for line in output.splitlines())
  names = [fields[0] for fields in lines if len(fields) > 1]
  if not any("kSweeps" in name for name in names):
    raise ValueError(f"{archive} has no table of sweeps: {output!r}")
  # In a mangled name each part has its length before it.
  mangled = f"{len(namespace)}{namespace}"
  return [name for name in names if mangled not in name and name != _HARMLESS]


class SweepSymbolsTest(absltest.TestCase):
  def test_clones_share_nothing(self):
    archives = os.environ["PHASIC_CLONES"].split()
    self.assertNotEmpty(archives)
    for archive in archives:
      with self.subTest(archive):
        match = re.search(r"sweep_(x86_64_v\d)\.", archive)
        self.assertIsNotNone(match, archive)
        self.assertEmpty(shared_symbols(archive, match.group(1)))

  def test_a_shared_template_is_found(self):
    directory = self.create_tempdir()
    source = directory.create_file(
      "clone.cc",
      """
      template <class T> T Twice(T x) { return x + x; }
      template double Twice<double>(double);
      namespace clone {
      struct Own { double x; Own operator+(Own y) { return {x + y.x}; } };
      extern const double kSweeps;
      const double kSweeps = 1.0;
      }
      template clone::Own Twice<clone::Own>(clone::Own);
      """,
    )
    library = os.path.join(directory.full_path, "clone.o")
    subprocess.run(
      [os.environ.get("CXX", "c++"), "-c", source.full_path, "-o", library],
      check=True,
    )
    self.assertEqual(shared_symbols(library, "clone"), ["_Z5TwiceIdET_S0_"])


if __name__ == "__main__":
  absltest.main()
