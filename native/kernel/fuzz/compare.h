// Comparisons of the results of two calls.

#ifndef PHASIC_NATIVE_KERNEL_FUZZ_COMPARE_H_
#define PHASIC_NATIVE_KERNEL_FUZZ_COMPARE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "native/kernel/fuzz/call_case.h"

namespace phasic {
namespace fuzz {

struct Tolerance {
  double size = 0.0;        // if zero, bits must be the same
  bool may_be_nan = false;  // whether a number may be NaN in the larger call
};

// Compares the numbers of `part` with those of `whole` from `first` on. Returns
// an empty string, or a text with the first two that differ by more than the
// tolerance. All NaNs are equal.
std::string Difference(const CallCase& c,
                       const std::vector<unsigned char>& whole, size_t first,
                       const std::vector<unsigned char>& part,
                       const Tolerance& tolerance);

// Returns the difference that is allowed where models share lanes: a tiny part
// of the largest number of `part`, or of the size to which sums that cancel are
// compared. Of cotangents of an operand, that is the size which changes the
// result by as much as the given cotangent if the operand doubles.
double SharedLanesTolerance(const CallCase& c, size_t output,
                            const std::vector<unsigned char>& part);

// Returns whether the call needs more than the range of doubles may give: many
// steps, or tiny or huge numbers. There a result may be lost (NaN) because of
// others that are computed with it: other times, models or outputs.
bool IsExtreme(const CallCase& c, const std::vector<int64_t>& batch);

}  // namespace fuzz
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_FUZZ_COMPARE_H_
