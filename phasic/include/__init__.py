"""C++ headers of native ops; see `phasic.binding.include_dir`."""
