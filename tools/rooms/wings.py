"""Wings use other packages by their public names alone.

So each of them proves that the public names suffice, and can be read, or taken
out, by itself. `WINGS` of substrates/meta/tables.py lists them.
"""

from substrates.meta import tables
from tools.rooms import modules

# What they may use; of the seam they may import modules.
_SEAM = "internal"
_PACKAGES = ("math", "graphs", "distributions", "inference", *tables.WINGS)


def error(room: str, need: modules.Need) -> str | None:
  """Returns what is wrong with something that a room of a wing needs.

  Args:
    room: any room.
    need: what it needs of `phasic`.
  """
  wing = room.split("/")[0]
  other = need.module.split(".")[1]
  if wing not in tables.WINGS or other in (wing, _SEAM):
    return None
  if other not in _PACKAGES:
    return (
      f"{room} imports {need.module}: {wing} is a wing, which imports only"
      f" {', '.join(_PACKAGES[:4])}, lower wings and {_SEAM}"
    )
  if not need.is_public:
    return (
      f"{room} imports {need.module}, which is private to {other}: {wing} is a"
      f" wing, which imports public names, from phasic.{other}; make this one"
      " public, as users need it as well"
    )
  return None
