// Extracts parts of a call: one element of its batch, or one of its times.

#ifndef PHASIC_NATIVE_KERNEL_FUZZ_SLICES_H_
#define PHASIC_NATIVE_KERNEL_FUZZ_SLICES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "native/kernel/fuzz/call_case.h"

namespace phasic {
namespace fuzz {

// Returns the multi-index of a batch element, given its number in row-major
// order and the batch shape.
std::vector<int64_t> BatchIndexOf(const std::vector<int64_t>& batch,
                                  size_t place);

// Returns which event of an array with these dims belongs to a batch element:
// its number in row-major order. Dims beyond the size of `index` belong to the
// event.
size_t PlaceOf(const std::vector<int64_t>& dims,
               const std::vector<int64_t>& index);

// Returns the call on this batch element alone, without batch dimensions.
CallCase ElementOf(const CallCase& c, const std::vector<int64_t>& index);

// Returns the call on the time with index *time alone, for a call without batch
// dimensions. If this time is an end of an interval, the result has both ends:
// *time becomes the index of the lower end, and *num_times is 2. In calls for
// derivatives at several times, the result has three copies of these times, to
// be evaluated in the same way.
CallCase TimeOf(const CallCase& c, size_t* time, size_t* num_times);

}  // namespace fuzz
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_FUZZ_SLICES_H_
