// The instruction sets that the sweeps were compiled for, and the one in use:
// the widest that this processor supports, or the one that the environment
// variable PHASIC_ISA names.

#ifndef PHASIC_NATIVE_KERNEL_BUILDS_INSTRUCTION_SETS_H_
#define PHASIC_NATIVE_KERNEL_BUILDS_INSTRUCTION_SETS_H_

#include "native/kernel/api/sweep.h"

namespace phasic {

struct InstructionSet {
  const char* name;
  bool is_supported;  // by this processor and its operating system
  const SweepTable* sweeps;
};

// The instruction sets in ascending order, from "generic", which any processor
// supports, to the widest.
constexpr int kMaxInstructionSets = 3;
struct InstructionSets {
  int size;
  InstructionSet sets[kMaxInstructionSets];

  const InstructionSet* begin() const { return sets; }
  const InstructionSet* end() const { return sets + size; }
};
const InstructionSets& AllInstructionSets();

// Returns the instruction set in use. The first call reads PHASIC_ISA; if that
// does not name a supported set, prints a warning to stderr and returns the
// widest one.
const InstructionSet& ChosenInstructionSet();

}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_BUILDS_INSTRUCTION_SETS_H_
