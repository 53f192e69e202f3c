// Stands for the system's libgcc_s when the wheels are linked: the native libraries
// must unwind stacks by the library that all others of a process use, not by the one
// that zig brings. Nothing of this runs.

#define PHASIC_UNWIND(name) \
  extern "C" void _Unwind_##name() {}  // NOLINT: the ABI's names
PHASIC_UNWIND(Backtrace)
PHASIC_UNWIND(DeleteException)
PHASIC_UNWIND(ForcedUnwind)
PHASIC_UNWIND(GetCFA)
PHASIC_UNWIND(GetDataRelBase)
PHASIC_UNWIND(GetIP)
PHASIC_UNWIND(GetIPInfo)
PHASIC_UNWIND(GetLanguageSpecificData)
PHASIC_UNWIND(GetRegionStart)
PHASIC_UNWIND(GetTextRelBase)
PHASIC_UNWIND(RaiseException)
PHASIC_UNWIND(Resume)
PHASIC_UNWIND(Resume_or_Rethrow)
PHASIC_UNWIND(SetGR)
PHASIC_UNWIND(SetIP)
