// Chooses the build of the solvers that runs: that of the sweeps' instruction
// set.

#include <cstring>

#include "native/elimination/solver/solver.h"
#include "native/kernel/builds/instruction_sets.h"

namespace phasic {

namespace unfused_generic {
extern const SolverTable kSolvers;
}
#if defined(__x86_64__)
namespace unfused_x86_64_v2 {
extern const SolverTable kSolvers;
}
namespace unfused_x86_64_v3 {
extern const SolverTable kSolvers;
}
namespace unfused_x86_64_v4 {
extern const SolverTable kSolvers;
}
#endif

namespace {

const SolverTable& Choose() {
#if defined(__x86_64__)
  const char* name = ChosenInstructionSet().name;
  if (std::strcmp(name, "x86_64_v4") == 0) return unfused_x86_64_v4::kSolvers;
  if (std::strcmp(name, "x86_64_v3") == 0) return unfused_x86_64_v3::kSolvers;
  if (std::strcmp(name, "x86_64_v2") == 0) return unfused_x86_64_v2::kSolvers;
#endif
  return unfused_generic::kSolvers;
}

}  // namespace

const SolverTable& Solvers() {
  static const SolverTable& chosen = Choose();
  return chosen;
}

}  // namespace phasic
