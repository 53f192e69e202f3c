// The rates of a model, for every form of a call.

#ifndef PHASIC_NATIVE_KERNEL_FUZZ_RATES_H_
#define PHASIC_NATIVE_KERNEL_FUZZ_RATES_H_

#include <cstddef>
#include <vector>

#include "native/kernel/fuzz/call_case.h"

namespace phasic {
namespace fuzz {

// Rates; in a discrete call probabilities.
struct Rates {
  std::vector<double> jumps;  // [p, p], zero on the diagonal
  std::vector<double> stays;  // [p], zero in continuous time
  std::vector<double> exits;  // [p]
  // Whether the kernel must agree on which of them are zero: not if they result
  // from subtraction, nor if a product underflows.
  bool knows_zeros = true;
};

// Returns the rates of a well-formed call without batch dimensions, without
// edges out of range.
Rates RatesOf(const CallCase& c);

// Returns the sum of the rates of all jumps and the exit.
double LeavingRate(const Rates& rates, size_t phase);

}  // namespace fuzz
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_FUZZ_RATES_H_
