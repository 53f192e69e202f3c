// Selects the instruction set whose sweeps run.

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "native/kernel/api/sweep.h"
#include "native/kernel/builds/instruction_sets.h"
#include "native/kernel/builds/levels.h"
#include "native/kernel/builds/x86_64_levels.h"

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
  built.sets[built.size++] = {"x86_64_v" #level,                \
                              SupportedX8664Level() >= (level), \
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
