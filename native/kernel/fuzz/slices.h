// Parts of a call: one element of its batch, one of its times.

#ifndef PHASIC_NATIVE_KERNEL_FUZZ_SLICES_H_
#define PHASIC_NATIVE_KERNEL_FUZZ_SLICES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "native/kernel/fuzz/call_case.h"

namespace phasic {
namespace fuzz {

// An element of a batch of these sizes, by its place in row-major order.
std::vector<int64_t> BatchIndexOf(const std::vector<int64_t>& batch,
                                  size_t place);

// Where an array with these dims, of which those beyond `index` belong to the
// event, has its part for an element of the batch, counted in events.
size_t PlaceOf(const std::vector<int64_t>& dims,
               const std::vector<int64_t>& index);

// The call on this element alone, without batch dimensions.
CallCase ElementOf(const CallCase& c, const std::vector<int64_t>& index);

// A call without batch dimensions on one of its times, or on two of them that
// are one interval: *num_times from *time on, which may be the one before. It
// has copies of them where it is an adjoint that has other times, too.
CallCase TimeOf(const CallCase& c, size_t* time, size_t* num_times);

}  // namespace fuzz
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_FUZZ_SLICES_H_
