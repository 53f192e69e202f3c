"""Where the compiled libraries are: beside this file."""

import pathlib

PATH = pathlib.Path(__file__).parent / "libkepler.so"
