// Fills the arrays of a call: mostly valid models over wide ranges, then a few
// entries with whatever bits the input has.

#ifndef PHASIC_NATIVE_KERNEL_FUZZ_VALUES_H_
#define PHASIC_NATIVE_KERNEL_FUZZ_VALUES_H_

#include "native/kernel/fuzz/byte_source.h"
#include "native/kernel/fuzz/call_case.h"

namespace phasic {
namespace fuzz {

// `num_models` bounds the number of models, for the work they may cost.
void FillValues(ByteSource* bytes, int64_t num_models, CallCase* c);

// Overwrites entries, one for every few bytes that are left.
void EditValues(ByteSource* bytes, CallCase* c);

}  // namespace fuzz
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_FUZZ_VALUES_H_
