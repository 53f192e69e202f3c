// Limits the work of calls, since under sanitizers the kernel takes sixty times
// as long.

#ifndef PHASIC_NATIVE_KERNEL_FUZZ_WORK_H_
#define PHASIC_NATIVE_KERNEL_FUZZ_WORK_H_

#include <cstdint>
#include <vector>

#include "native/kernel/fuzz/call_case.h"

namespace phasic {
namespace fuzz {

// Returns log2 of the number of steps (the largest rate times the largest time)
// that is allowed for each of the `num_models` models of a call.
double MaxLog2Steps(int64_t num_models, const CallCase& c);

// Returns the largest total rate of leaving a phase, over all models of the
// call.
double LargestLeavingRate(const std::vector<int64_t>& batch, const CallCase& c);

// Replaces times that need too much work by zero. Without scaling and squaring,
// these are times with more steps than MaxLog2Steps allows, but fewer than the
// kernel refuses at once. With scaling and squaring, these are times whose
// matrix products are too costly. `batch` is the full batch shape of the
// well-formed call.
void LimitWork(const std::vector<int64_t>& batch, CallCase* c);

}  // namespace fuzz
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_FUZZ_WORK_H_
