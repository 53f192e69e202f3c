// Properties of a result that follow from the call without computing it.

#ifndef PHASIC_NATIVE_KERNEL_FUZZ_TRUTHS_H_
#define PHASIC_NATIVE_KERNEL_FUZZ_TRUTHS_H_

#include <cstddef>
#include <optional>

#include "native/kernel/fuzz/call_case.h"

namespace phasic {
namespace fuzz {

// Returns whether it is certain which of the atom, the exits and the rates the
// kernel takes as zero. The call must not have batch dimensions.
bool KnowsZeros(const CallCase& c);

// Returns whether the value at time number `index` is zero for any sizes of the
// positive rates and probabilities. KnowsZeros must be true for the call, and
// its values must be valid. Returns no result if the search would take long.
std::optional<bool> IsStructurallyZero(const CallCase& c, size_t index);

// Returns the largest possible value of the survival and distribution
// functions: one, or the sum of the probabilities if a larger sum was accepted.
double LargestProbability(const CallCase& c);

// Returns the sum of the initial probabilities and the mass at zero.
double TotalProbability(const CallCase& c);

}  // namespace fuzz
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_FUZZ_TRUTHS_H_
