// Keeps calls quick: what the kernel does in a second takes it a minute under
// sanitizers.

#ifndef PHASIC_NATIVE_KERNEL_FUZZ_WORK_H_
#define PHASIC_NATIVE_KERNEL_FUZZ_WORK_H_

#include <cstdint>
#include <vector>

#include "native/kernel/fuzz/call_case.h"

namespace phasic {
namespace fuzz {

// log2 of the steps, the largest rate times the largest time, that each of
// `num_models` models of a call may ask for.
double MaxLog2Steps(int64_t num_models, const CallCase& c);

// The largest rate at which any phase is left.
double LargestLeavingRate(const std::vector<int64_t>& batch, const CallCase& c);

// Makes times zero that ask for more steps than that, and for fewer than the
// kernel refuses at once; where the doubling ladder may take them, those for
// which its products are too much. `batch` is the full batch of the well-formed
// call.
void LimitWork(const std::vector<int64_t>& batch, CallCase* c);

}  // namespace fuzz
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_FUZZ_WORK_H_
