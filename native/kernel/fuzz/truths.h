// What is known of a result without computing it.

#ifndef PHASIC_NATIVE_KERNEL_FUZZ_TRUTHS_H_
#define PHASIC_NATIVE_KERNEL_FUZZ_TRUTHS_H_

#include <cstddef>
#include <optional>

#include "native/kernel/fuzz/call_case.h"

namespace phasic {
namespace fuzz {

// Whether the call gives atom, exits and rates so that none of them is zero by
// rounding. It has no batch dimensions.
bool KnowsZeros(const CallCase& c);

// Whether such a model's value at the time with this index is zero, from the
// graph alone, where its values are valid; nothing where that would take long.
std::optional<bool> IsStructurallyZero(const CallCase& c, size_t index);

// The largest value that survival function and distribution function can
// have: one, or the sum of the probabilities where that was accepted above it.
double LargestProbability(const CallCase& c);

// The sum of the probabilities of all starts and of zero.
double TotalProbability(const CallCase& c);

}  // namespace fuzz
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_FUZZ_TRUTHS_H_
