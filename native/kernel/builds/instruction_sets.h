// The instruction sets that the sweeps were compiled for, and the one that
// runs: the widest that this processor supports, or the one that PHASIC_ISA
// names.

#ifndef PHASIC_NATIVE_KERNEL_BUILDS_INSTRUCTION_SETS_H_
#define PHASIC_NATIVE_KERNEL_BUILDS_INSTRUCTION_SETS_H_

#include "native/kernel/api/sweep.h"

namespace phasic {

struct InstructionSet {
  const char* name;
  bool is_supported;  // by this processor and its operating system
  const SweepTable* sweeps;
};

// The sets from "generic", which runs anywhere, to the widest.
constexpr int kMaxInstructionSets = 4;
struct InstructionSets {
  int size;
  InstructionSet sets[kMaxInstructionSets];

  const InstructionSet* begin() const { return sets; }
  const InstructionSet* end() const { return sets + size; }
};
const InstructionSets& AllInstructionSets();

// Returns the set that runs. The first call reads PHASIC_ISA; if it does not
// name a supported set, a message on stderr says so and the widest runs.
const InstructionSet& ChosenInstructionSet();

}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_BUILDS_INSTRUCTION_SETS_H_
