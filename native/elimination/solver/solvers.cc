// Selects the solvers that were compiled for the instruction set of the
// kernel's sweeps (see instruction_sets.h).

#include <cstring>

#include "native/elimination/solver/solver.h"
#include "native/kernel/builds/instruction_sets.h"
#include "native/kernel/builds/levels.h"

namespace phasic {

namespace unfused_generic {
extern const SolverTable kSolvers;
}
#define PHASIC_DECLARE(level)          \
  namespace unfused_x86_64_v##level {  \
    extern const SolverTable kSolvers; \
  }
PHASIC_FOR_EACH_LEVEL(PHASIC_DECLARE)
#undef PHASIC_DECLARE

namespace {

const SolverTable& Choose() {
  [[maybe_unused]] const char* name = ChosenInstructionSet().name;
#define PHASIC_CHOOSE(level)                       \
  if (std::strcmp(name, "x86_64_v" #level) == 0) { \
    return unfused_x86_64_v##level::kSolvers;      \
  }
  PHASIC_FOR_EACH_LEVEL(PHASIC_CHOOSE)
#undef PHASIC_CHOOSE
  return unfused_generic::kSolvers;
}

}  // namespace

const SolverTable& Solvers() {
  static const SolverTable& chosen = Choose();
  return chosen;
}

}  // namespace phasic
