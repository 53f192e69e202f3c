// Limits the work of calls: under sanitizers the kernel takes a minute for the
// work of a second.

#ifndef PHASIC_NATIVE_KERNEL_FUZZ_WORK_H_
#define PHASIC_NATIVE_KERNEL_FUZZ_WORK_H_

#include <cstdint>
#include <vector>

#include "native/kernel/fuzz/call_case.h"

namespace phasic {
namespace fuzz {

// Returns log2 of the steps, the largest rate times the largest time, that are
// allowed for each of `num_models` models of a call.
double MaxLog2Steps(int64_t num_models, const CallCase& c);

// Returns the largest total rate of leaving a phase.
double LargestLeavingRate(const std::vector<int64_t>& batch, const CallCase& c);

// Replaces times by zero if they need more steps than that, but fewer than the
// kernel refuses at once; or, if scaling and squaring may apply, if its
// products are too costly. `batch` is the full batch of the well-formed call.
void LimitWork(const std::vector<int64_t>& batch, CallCase* c);

}  // namespace fuzz
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_FUZZ_WORK_H_
