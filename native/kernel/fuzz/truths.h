// Properties of a result that are known without computing it.

#ifndef PHASIC_NATIVE_KERNEL_FUZZ_TRUTHS_H_
#define PHASIC_NATIVE_KERNEL_FUZZ_TRUTHS_H_

#include <cstddef>
#include <optional>

#include "native/kernel/fuzz/call_case.h"

namespace phasic {
namespace fuzz {

// Whether the call gives atom, exits and rates such that none of them is zero
// by rounding. It has no batch dimensions.
bool KnowsZeros(const CallCase& c);

// Whether the value of such a model at the time with this index is zero, by the
// graph alone, if its values are valid; no result if that would take long.
std::optional<bool> IsStructurallyZero(const CallCase& c, size_t index);

// Returns the largest possible value of the survival and distribution
// functions: one, or the sum of the probabilities if a larger sum was accepted.
double LargestProbability(const CallCase& c);

// Returns the sum of the initial probabilities and the mass at zero.
double TotalProbability(const CallCase& c);

}  // namespace fuzz
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_FUZZ_TRUTHS_H_
