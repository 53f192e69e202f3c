// Fills the arrays of a call: mostly with valid models over wide ranges, then a
// few entries with arbitrary bits from the input.

#ifndef PHASIC_NATIVE_KERNEL_FUZZ_VALUES_H_
#define PHASIC_NATIVE_KERNEL_FUZZ_VALUES_H_

#include <cstdint>
#include <vector>

#include "native/kernel/fuzz/byte_source.h"
#include "native/kernel/fuzz/call_case.h"

namespace phasic {
namespace fuzz {

// Fills all arrays of a call. `batch` is the full batch shape. If is_long is
// true, the times are long enough for scaling and squaring.
void FillValues(ByteSource* bytes, const std::vector<int64_t>& batch,
                bool is_long, CallCase* c);

// Overwrites some entries with numbers from the input, one for every few
// remaining bytes.
void EditValues(ByteSource* bytes, CallCase* c);

}  // namespace fuzz
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_FUZZ_VALUES_H_
