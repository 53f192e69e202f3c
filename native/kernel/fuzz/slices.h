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

// Returns the position of a batch element in an array with these dims, counted
// in events. Dims beyond the size of `index` belong to the event.
size_t PlaceOf(const std::vector<int64_t>& dims,
               const std::vector<int64_t>& index);

// Returns the call on this batch element alone, without batch dimensions.
CallCase ElementOf(const CallCase& c, const std::vector<int64_t>& index);

// Returns a call on one time of a call without batch dimensions, or on two
// times that form an interval: *num_times from *time on, where *time may be
// decreased by one. If an adjoint call has other times, the result contains
// copies of these times instead.
CallCase TimeOf(const CallCase& c, size_t* time, size_t* num_times);

}  // namespace fuzz
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_FUZZ_SLICES_H_
