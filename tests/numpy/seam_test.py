"""The three seams have the same public names and signatures."""

import ast
import pathlib

from absl.testing import absltest
from absl.testing import parameterized

# Where Bazel, and pytest in a clone, run tests.
_ROOT = pathlib.Path.cwd()
_MODULES = (
  "array_ops",
  "arrays",
  "autodiff",
  "control_flow",
  "custom_gradient",
  "elimination_calls",
  "native/host_calls",
  "native/native_ops",
  "phase_type_calls",
  "random",
  "static",
  "structures",
)


def _signatures(path: pathlib.Path) -> dict[str, str]:
  """Parameters with defaults of the public functions, "=" of other names."""
  tree = ast.parse(path.read_text(encoding="utf-8"))
  found = {}
  for node in tree.body:
    if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
      arguments = node.args
      names = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
      defaults = [ast.unparse(d) for d in arguments.defaults]
      plain = len(names) - len(defaults)
      parts = names[:plain] + [
        f"{n}={d}" for n, d in zip(names[plain:], defaults, strict=True)
      ]
      if arguments.vararg:
        parts.append(f"*{arguments.vararg.arg}")
      parts += [a.arg for a in arguments.kwonlyargs]
      found[node.name] = ", ".join(parts)
    elif isinstance(node, (ast.Assign, ast.AnnAssign)):
      own = node.targets if isinstance(node, ast.Assign) else [node.target]
      names = [ast.unparse(target) for target in own]
      found.update({n: "=" for n in names if not n.startswith("_")})
  return found


def _long_docstrings(path: pathlib.Path) -> dict[str, str]:
  """The docstrings of more than one line, by the names of functions."""
  tree = ast.parse(path.read_text(encoding="utf-8"))
  functions = [x for x in ast.walk(tree) if isinstance(x, ast.FunctionDef)]
  found = {x.name: ast.get_docstring(x) or "" for x in functions}
  return {name: text for name, text in found.items() if "\n" in text}


class SeamTest(parameterized.TestCase):
  """NumPy's seam is the reference; others may have helpers besides."""

  @parameterized.product(module=_MODULES, substrate=("jax", "tf"))
  def test_signatures(self, module, substrate):
    path = _ROOT / "substrates" / substrate / f"{module}.py"
    expected = _signatures(_ROOT / "phasic" / "internal" / f"{module}.py")
    actual = _signatures(path)
    self.assertEqual({name: actual.get(name) for name in expected}, expected)

  @parameterized.product(module=_MODULES, substrate=("jax", "tf"))
  def test_docstrings_stand_once(self, module, substrate):
    path = _ROOT / "substrates" / substrate / f"{module}.py"
    of_numpy = _ROOT / "phasic" / "internal" / f"{module}.py"
    twice = _long_docstrings(of_numpy).items() & _long_docstrings(path).items()
    self.assertEmpty(sorted(name for name, _ in twice))


if __name__ == "__main__":
  absltest.main()
