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

// Divides an array with these dims into events: the last dims, beyond the size
// of `index`, belong to the event. Returns the row-major number of the event
// that belongs to the batch element `index`.
size_t PlaceOf(const std::vector<int64_t>& dims,
               const std::vector<int64_t>& index);

// Returns a call on this batch element only, without batch dimensions.
CallCase ElementOf(const CallCase& c, const std::vector<int64_t>& index);

// Returns a call on only one time of `c`, the time with index *time. If this
// time is an end of an interval, the new call has both ends, *time becomes the
// index of the lower end, and *num_times becomes 2; otherwise *num_times
// becomes 1. If `c` computes derivatives at several times, the new call has
// three copies of the time, so that the kernel uses the same method. `c` must
// not have batch dimensions.
CallCase TimeOf(const CallCase& c, size_t* time, size_t* num_times);

}  // namespace fuzz
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_FUZZ_SLICES_H_
