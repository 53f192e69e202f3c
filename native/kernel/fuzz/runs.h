// Runs a call on buffers of exactly the declared sizes, so that a sanitizer
// detects access to the first byte beyond them.

#ifndef PHASIC_NATIVE_KERNEL_FUZZ_RUNS_H_
#define PHASIC_NATIVE_KERNEL_FUZZ_RUNS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "native/kernel/fuzz/call_case.h"

namespace phasic {
namespace fuzz {

// The error message for calls that are too large to run.
constexpr char kTooLarge[] = "too large to call";

struct Result {
  std::string error;  // empty if the call succeeded
  std::vector<std::vector<int64_t>> dims;
  std::vector<std::vector<unsigned char>> data;
};

// Two ways to make a call, whose results must be equal. The value of the
// enumerator is the byte with which the outputs are filled before the call.
// With kFlushing, the caller also flushes denormals to zero.
enum class Caller : unsigned char { kPlain = 0x5a, kFlushing = 0xa5 };

// Runs Forward, Adjoint or Statistics, and returns its outputs or error. A call
// with invalid shapes gets outputs of one item, and must be refused.
Result Run(const CallCase& c, Caller caller = Caller::kPlain);

// Runs Status on the operands of the call, for order 0.
Result RunStatus(const CallCase& c);

// Runs the call with an output that is too long, so that it must be refused.
// Returns the error message, or "" if the call was not refused.
std::string RunWithWrongOutputs(const CallCase& c);

// Returns item `index` of an output in the precision of the call.
double ItemOf(const CallCase& c, const std::vector<unsigned char>& data,
              size_t index);
int32_t CodeOf(const std::vector<unsigned char>& data, size_t index);

inline size_t ItemSize(const CallCase& c) {
  return c.call.precision == Precision::kFloat32 ? sizeof(float)
                                                 : sizeof(double);
}

}  // namespace fuzz
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_FUZZ_RUNS_H_
