"""Writes the wheel: the same bytes for the same inputs.

    python -m tools.wheel.build --manifest M --output_dir dist
      --pyproject pyproject.toml --readme docs/pypi.md
      --license LICENSE --license NOTICE ...

Licenses are named by their paths, relative to the working directory. The manifest has a line `name in the wheel=path` per file. auditwheel then
finds the oldest manylinux platform that the libraries run on; with --any the
wheel has no libraries, and its tag is py3-none-any. Nothing is
copied into the wheel: TensorFlow brings its own library.
"""

import argparse
import base64
import hashlib
import os
import pathlib
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
import zipfile

from tools.wheel import metadata

# The earliest time a zip file can have.
_TIME = (1980, 1, 1, 0, 0, 0)
_EPOCH = "315532800"
# The tag of the wheel without native code.
ANY = "py3-none-any"
_NOT_BUNDLED = "libtensorflow_framework.so.2"


def _tag() -> str:
  version = f"cp{sys.version_info.major}{sys.version_info.minor}"
  platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
  return f"{version}-{version}-{platform}"


def _record_line(name: str, content: bytes) -> str:
  digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest())
  return f"{name},sha256={digest.decode().rstrip('=')},{len(content)}"


def write_zip(path: pathlib.Path, files: dict[str, bytes], info: str) -> None:
  """Writes a wheel.

  Args:
    path: the wheel.
    files: contents by name, without RECORD.
    info: the name of the .dist-info directory; its files come last.
  """
  record = f"{info}/RECORD"
  names = sorted(files, key=lambda name: (name.startswith(info), name))
  lines = [_record_line(name, files[name]) for name in names]
  text = "\n".join([*lines, f"{record},,", ""])
  contents = {name: files[name] for name in names} | {record: text.encode()}
  with zipfile.ZipFile(path, "w") as archive:
    for name, content in contents.items():
      entry = zipfile.ZipInfo(name, _TIME)
      entry.compress_type = zipfile.ZIP_DEFLATED
      mode = 0o755 if name.endswith(".so") else 0o644
      entry.external_attr = (0o100000 | mode) << 16
      archive.writestr(entry, content, compresslevel=9)


def write_wheel(
  files: dict[str, bytes],
  pyproject: str,
  readme: str,
  licenses: dict[str, str],
  output_dir: pathlib.Path,
  tag: str,
) -> pathlib.Path:
  """Writes the wheel.

  Args:
    files: contents by name.
    pyproject: the text of pyproject.toml.
    readme: the long description.
    licenses: texts of licenses by their paths in the repository.
    output_dir: where to.
    tag: its tag of Python, ABI and platform.

  Returns:
    The wheel's path.
  """
  project = tomllib.loads(pyproject)["project"]
  metadata.check_licenses(project, licenses)
  stem = f"{metadata.distribution(project)}-{project['version']}"
  info = f"{stem}.dist-info"
  texts = {
    "METADATA": metadata.metadata(project, readme, licenses),
    "WHEEL": metadata.wheel(tag),
  } | {f"licenses/{name}": text for name, text in licenses.items()}
  own = {f"{info}/{name}": text.encode() for name, text in texts.items()}
  path = output_dir / f"{stem}-{tag}.whl"
  write_zip(path, files | own, info)
  return path


def repair(wheel: pathlib.Path, output_dir: pathlib.Path) -> bool:
  """Writes the wheel again with its manylinux tag; False if it cannot."""
  environment = {
    "PATH": os.pathsep.join([os.path.dirname(sys.executable), "/usr/bin"]),
    "SOURCE_DATE_EPOCH": _EPOCH,
  }
  result = subprocess.run(
    [
      *(sys.executable, "-m", "auditwheel", "repair", "--plat", "auto"),
      *("--exclude", _NOT_BUNDLED, "-w", str(output_dir), str(wheel)),
    ],
    env=environment,
    umask=0o022,  # The wheel has modes of the folders that auditwheel makes.
    capture_output=True,
    text=True,
    check=False,
  )
  if result.returncode:
    print(f"auditwheel: {result.stderr.strip()}", file=sys.stderr)
  return result.returncode == 0


def build(
  files: dict[str, bytes],
  pyproject: str,
  readme: str,
  licenses: dict[str, str],
  output_dir: pathlib.Path,
) -> None:
  """Writes the wheel, with a manylinux tag where auditwheel gives one."""
  with tempfile.TemporaryDirectory() as scratch:
    wheel = write_wheel(
      files, pyproject, readme, licenses, pathlib.Path(scratch), _tag()
    )
    if not repair(wheel, output_dir):
      print("The wheel keeps the tag of this machine.", file=sys.stderr)
      (output_dir / wheel.name).write_bytes(wheel.read_bytes())


def main() -> None:
  parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
  for name in ("manifest", "pyproject", "readme", "output_dir"):
    parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
  parser.add_argument("--license", type=pathlib.Path, action="append")
  parser.add_argument(
    "--any", action="store_true", help="the wheel for any system"
  )
  arguments = parser.parse_args()
  files = {}
  for line in arguments.manifest.read_text().splitlines():
    name, _, path = line.partition("=")
    files[name] = pathlib.Path(path).read_bytes()
  arguments.output_dir.mkdir(parents=True, exist_ok=True)
  inputs = (
    files,
    arguments.pyproject.read_text(),
    arguments.readme.read_text(),
    {path.as_posix(): path.read_text() for path in arguments.license},
    arguments.output_dir,
  )
  if arguments.any:
    write_wheel(*inputs, ANY)
  else:
    build(*inputs)


if __name__ == "__main__":
  main()
