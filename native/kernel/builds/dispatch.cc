// Selects the instruction set whose sweeps run.

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "native/kernel/api/sweep.h"
#include "native/kernel/builds/instruction_sets.h"
#include "native/kernel/builds/levels.h"

namespace phasic {

namespace generic {
extern const SweepTable kSweeps;
}
#define PHASIC_DECLARE(level)        \
  namespace x86_64_v##level {        \
    extern const SweepTable kSweeps; \
  }
PHASIC_FOR_EACH_LEVEL(PHASIC_DECLARE)
#undef PHASIC_DECLARE

namespace {

#if defined(__x86_64__)
#if defined(__clang__)
// Clang before version 18 does not know the names of the x86-64 levels. So this
// checks the CPU features that define a level.
[[maybe_unused]] bool HasV3() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}
[[maybe_unused]] bool HasV4() {
  return HasV3() && __builtin_cpu_supports("avx512f") &&
         __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") &&
         __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}
#else
[[maybe_unused]] bool HasV3() { return __builtin_cpu_supports("x86-64-v3"); }
[[maybe_unused]] bool HasV4() { return __builtin_cpu_supports("x86-64-v4"); }
#endif
#endif

const InstructionSet& Widest() {
  const InstructionSet* widest = AllInstructionSets().begin();
  for (const InstructionSet& set : AllInstructionSets()) {
    if (set.is_supported) widest = &set;
  }
  return *widest;
}

const InstructionSet& Choose() {
  const InstructionSet& widest = Widest();
  const char* name = std::getenv("PHASIC_ISA");
  if (name == nullptr || *name == '\0') return widest;
  const char* reason = "it is not one of those built";
  for (const InstructionSet& set : AllInstructionSets()) {
    if (std::strcmp(set.name, name) != 0) continue;
    if (set.is_supported) return set;
    reason = "this processor cannot run it";
  }
  // There is no caller to return an error to, so that this prints a warning, as
  // for PHASIC_NUM_THREADS.
  std::fprintf(stderr, "phasic: PHASIC_ISA is '%s': %s (", name, reason);
  const char* separator = "";
  for (const InstructionSet& set : AllInstructionSets()) {
    std::fprintf(stderr, "%s%s", separator, set.name);
    separator = ", ";
  }
  std::fprintf(stderr, "); %s is used\n", widest.name);
  return widest;
}

}  // namespace

const InstructionSets& AllInstructionSets() {
  static const InstructionSets all = [] {
    InstructionSets built = {1, {{"generic", true, &generic::kSweeps}}};
#define PHASIC_ADD(level)                                       \
  built.sets[built.size++] = {"x86_64_v" #level, HasV##level(), \
                              &x86_64_v##level::kSweeps};
    PHASIC_FOR_EACH_LEVEL(PHASIC_ADD)
#undef PHASIC_ADD
    return built;
  }();
  return all;
}

const InstructionSet& ChosenInstructionSet() {
  static const InstructionSet& chosen = Choose();
  return chosen;
}

const SweepTable& Sweeps() { return *ChosenInstructionSet().sweeps; }

}  // namespace phasic
