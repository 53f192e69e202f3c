// Properties of a result that follow from the call without computing it.

#ifndef PHASIC_NATIVE_KERNEL_FUZZ_TRUTHS_H_
#define PHASIC_NATIVE_KERNEL_FUZZ_TRUTHS_H_

#include <cstddef>
#include <optional>

#include "native/kernel/fuzz/call_case.h"

namespace phasic {
namespace fuzz {

// Returns whether the call determines which rates and exits are zero in the
// kernel, and whether the atom is zero. It does not if one of these numbers
// results from a subtraction, or if a product underflows. The call must not
// have batch dimensions.
bool KnowsZeros(const CallCase& c);

// Returns whether the value at time number `index` is zero because of the zeros
// among the rates and probabilities, whatever the positive ones are. KnowsZeros
// must be true for the call, and its values must be valid. Returns nullopt if
// the search would take long.
std::optional<bool> IsStructurallyZero(const CallCase& c, size_t index);

// Returns the largest possible value of the survival and distribution
// functions: one or, if the kernel accepted probabilities whose sum exceeds
// one, that sum.
double LargestProbability(const CallCase& c);

// Returns the sum of the initial probabilities and the mass at zero.
double TotalProbability(const CallCase& c);

}  // namespace fuzz
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_FUZZ_TRUTHS_H_
