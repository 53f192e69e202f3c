// Parts of a call: one element of its batch, or one of its times.

#ifndef PHASIC_NATIVE_KERNEL_FUZZ_SLICES_H_
#define PHASIC_NATIVE_KERNEL_FUZZ_SLICES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "native/kernel/fuzz/call_case.h"

namespace phasic {
namespace fuzz {

// Returns the index of an element of a batch with these sizes, given its place
// in row-major order.
std::vector<int64_t> BatchIndexOf(const std::vector<int64_t>& batch,
                                  size_t place);

// Returns the place, counted in events, of an element of the batch in an array
// with these dims. Dims beyond the size of `index` belong to the event.
size_t PlaceOf(const std::vector<int64_t>& dims,
               const std::vector<int64_t>& index);

// Returns the call on this element alone, without batch dimensions.
CallCase ElementOf(const CallCase& c, const std::vector<int64_t>& index);

// Returns a call without batch dimensions on one of its times, or on two that
// form an interval: *num_times from *time on, which may be decreased by one. If
// an adjoint call has other times, the result contains copies of these times.
CallCase TimeOf(const CallCase& c, size_t* time, size_t* num_times);

}  // namespace fuzz
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_FUZZ_SLICES_H_
