// Properties of a result that follow from the call without computing it.

#ifndef PHASIC_NATIVE_KERNEL_FUZZ_TRUTHS_H_
#define PHASIC_NATIVE_KERNEL_FUZZ_TRUTHS_H_

#include <cstddef>
#include <optional>

#include "native/kernel/fuzz/call_case.h"

namespace phasic {
namespace fuzz {

// Returns whether the call (without batch dimensions) gives atom, exits and
// rates such that none of them is zero only by rounding.
bool KnowsZeros(const CallCase& c);

// Returns whether the value at the time with this index is zero by the graph of
// a model for which KnowsZeros is true, provided that its values are valid.
// Returns no result if that would take long.
std::optional<bool> IsStructurallyZero(const CallCase& c, size_t index);

// Returns the largest possible value of the survival and distribution
// functions: one, or the sum of the probabilities if a larger sum was accepted.
double LargestProbability(const CallCase& c);

// Returns the sum of the initial probabilities and the mass at zero.
double TotalProbability(const CallCase& c);

}  // namespace fuzz
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_FUZZ_TRUTHS_H_
