// One call of the kernel, decoded from a fuzzer's bytes.

#ifndef PHASIC_NATIVE_KERNEL_FUZZ_CALL_CASE_H_
#define PHASIC_NATIVE_KERNEL_FUZZ_CALL_CASE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "native/kernel/api/phase_type.h"

namespace phasic {
namespace fuzz {

// An array of the call. `values` has as many numbers as the product of dims.
// `rank` is the rank that the kernel receives: the number of dims, unless it is
// meant to be invalid.
struct Array {
  std::vector<int64_t> dims;
  int32_t rank = 0;
  std::vector<double> values;
};

// All arguments of one call. A new member that is an array must also be added
// to the function Arrays. A new choice must be read from the header after all
// existing choices; see DecodeCall.
struct CallCase {
  Call call = {};        // its edges and kinds are set when it runs
  bool adjoint = false;  // Adjoint or Statistics
  bool statistics = false;
  bool well_formed = true;             // the structure is valid
  bool fits_memory = true;             // otherwise only shapes are inferred
  int32_t num_outputs = kNumOperands;  // of Adjoint
  uint32_t pick = 0;                   // chooses a single element
  std::vector<Array> inputs;
  std::vector<Array> edges;  // indices, constants, coefficients; or none
  std::vector<Array> kinds;  // one array; none if all have call.kind
};

constexpr int64_t kMaxItems = int64_t{1} << 16;  // of one array

// Choices that are made once per call are read from a header. Its last bytes
// are unused, so that new choices do not change the meaning of stored inputs.
constexpr size_t kHeaderBytes = 16;

// Returns all arrays of the call, each with the batch dimensions first.
inline std::vector<Array*> Arrays(CallCase* c) {
  std::vector<Array*> arrays;
  arrays.reserve(c->inputs.size() + c->edges.size() + c->kinds.size());
  for (Array& array : c->inputs) arrays.push_back(&array);
  for (Array& array : c->edges) arrays.push_back(&array);
  for (Array& array : c->kinds) arrays.push_back(&array);
  return arrays;
}

// Returns the kind of the time with index `time`: the function that the call
// evaluates there. The call must not have batch dimensions.
inline Kind KindOf(const CallCase& c, size_t time) {
  return static_cast<Kind>(c.kinds.empty()
                               ? c.call.kind
                               : static_cast<int32_t>(c.kinds[0].values[time]));
}

// Returns the number of inputs of this call that are operands or tangents.
inline size_t NumArrays(const CallCase& c) {
  return c.inputs.size() - (c.adjoint ? 1 : 0);
}

// Returns the product of the dims, or -1 if a dimension is negative or the
// product is above kMaxItems.
int64_t NumItems(const std::vector<int64_t>& dims);

CallCase DecodeCall(const uint8_t* data, size_t size);

}  // namespace fuzz
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_FUZZ_CALL_CASE_H_
