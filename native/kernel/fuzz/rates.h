// A model's rates, however the call gives them.

#ifndef PHASIC_NATIVE_KERNEL_FUZZ_RATES_H_
#define PHASIC_NATIVE_KERNEL_FUZZ_RATES_H_

#include <cstddef>
#include <vector>

#include "native/kernel/fuzz/call_case.h"

namespace phasic {
namespace fuzz {

// Of a discrete call probabilities.
struct Rates {
  std::vector<double> jumps;  // [p, p], zero on the diagonal
  std::vector<double> stays;  // [p], zero in continuous time
  std::vector<double> exits;  // [p]
  // Whether the kernel must agree on which of them are zero: not where a
  // subtraction makes them, nor where a product underflows.
  bool knows_zeros = true;
};

// Of a well-formed call without batch dimensions; edges out of range are left
// out.
Rates RatesOf(const CallCase& c);

// Of all jumps and the exit.
double LeavingRate(const Rates& rates, size_t phase);

}  // namespace fuzz
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_FUZZ_RATES_H_
