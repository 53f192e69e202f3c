"""Runs the code cells of a page, in an isolated interpreter: PAGE."""

import pathlib
import re
import sys

_CELL = re.compile(
  r"^```\{code-cell\}[^\n]*\n(?:---\n.*?^---\n)?(?::[^\n]*\n)*(.*?)^```",
  re.MULTILINE | re.DOTALL,
)


def main() -> None:
  page = pathlib.Path(sys.argv[1])
  cells = _CELL.findall(page.read_text(encoding="utf-8"))
  assert cells, f"{page} has no cells"
  names = {"__name__": "__main__"}
  for i, cell in enumerate(cells):
    code = "\n".join(
      line for line in cell.splitlines() if not line.startswith("%")
    )
    exec(compile(code, f"{page.name}, cell {i + 1}", "exec"), names)
  print(f"{page.name}: {len(cells)} cells")


if __name__ == "__main__":
  main()
