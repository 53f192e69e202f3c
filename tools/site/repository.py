"""Where links of pages lead in the repository."""

import os
import pathlib

# Documents of the root, and their pages.
PAGES = {
  "CHANGELOG.md": "changelog",
  "CONTRIBUTING.md": "contributing",
  "README.md": "index",
  "SECURITY.md": "security",
  "docs/decisions/README.md": "decisions",
}


def find(root: pathlib.Path, folder: pathlib.Path, target: str) -> str | None:
  """Finds the file or folder that a link of a page means.

  Args:
    root: the root of the repository.
    folder: the folder of the page.
    target: what the link says, with or without an anchor. A page that includes
      a document of the root has links that start at the root.

  Returns:
    A path that starts at the root, or None if nothing is there.
  """
  path = target.partition("#")[0]
  if not path or "://" in path:
    return None
  for start in (folder, root):
    found = pathlib.Path(os.path.normpath(start / path))
    if found.exists() and found.is_relative_to(root):
      return found.relative_to(root).as_posix()
  return None
