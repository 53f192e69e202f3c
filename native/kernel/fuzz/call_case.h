// One call of the kernel, as a fuzzer's bytes describe it.

#ifndef PHASIC_NATIVE_KERNEL_FUZZ_CALL_CASE_H_
#define PHASIC_NATIVE_KERNEL_FUZZ_CALL_CASE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "native/kernel/phase_type.h"

namespace phasic {
namespace fuzz {

// `values` holds dims' product; `rank` is what the kernel is told, the number
// of dims unless it is to be plainly wrong.
struct Array {
  std::vector<int64_t> dims;
  int32_t rank = 0;
  std::vector<double> values;
};

struct CallCase {
  Call call = {};
  bool adjoint = false;
  bool well_formed = true;  // the structure is what the kernel asks for
  bool fits_memory = true;  // otherwise only shapes can be asked for
  int32_t num_outputs = kNumOperands;  // of Adjoint
  uint32_t pick = 0;                   // chooses what is looked at alone
  std::vector<Array> inputs;
};

constexpr int64_t kMaxItems = int64_t{1} << 16;  // of one array

// Number of inputs of this call that are operands or tangents.
inline size_t NumArrays(const CallCase& c) {
  return c.inputs.size() - (c.adjoint ? 1 : 0);
}

// Product of the dims, or -1 where it is negative or above kMaxItems.
int64_t NumItems(const std::vector<int64_t>& dims);

CallCase DecodeCall(const uint8_t* data, size_t size);

}  // namespace fuzz
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_FUZZ_CALL_CASE_H_
