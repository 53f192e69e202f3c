// Comparisons of the results of two calls.

#ifndef PHASIC_NATIVE_KERNEL_FUZZ_COMPARE_H_
#define PHASIC_NATIVE_KERNEL_FUZZ_COMPARE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "native/kernel/fuzz/call_case.h"

namespace phasic {
namespace fuzz {

// The difference that is allowed between two numbers: `size` plus the larger
// number times `relative`. If both are zero, bits must be the same.
struct Tolerance {
  double size = 0.0;
  double relative = 0.0;
  bool may_be_nan = false;  // whether only one of them may be NaN
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

// Returns the difference that is allowed between a result and the same result
// computed with others: other times, models or outputs. It is none, unless the
// call may need more than the range of doubles: has many steps, or tiny or huge
// numbers. There a result may be lost (NaN) and, as all tangents of a direction
// share a scale, digits of derivatives may be lost.
Tolerance CompanyTolerance(const CallCase& c,
                           const std::vector<int64_t>& batch);

}  // namespace fuzz
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_FUZZ_COMPARE_H_
