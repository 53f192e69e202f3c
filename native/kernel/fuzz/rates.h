// The rates of a model, read from a call with a subgenerator or with edges.

#ifndef PHASIC_NATIVE_KERNEL_FUZZ_RATES_H_
#define PHASIC_NATIVE_KERNEL_FUZZ_RATES_H_

#include <cstddef>
#include <vector>

#include "native/kernel/fuzz/call_case.h"

namespace phasic {
namespace fuzz {

// The rates of one model; in a discrete call its one-step probabilities.
struct Rates {
  std::vector<double> jumps;  // [p, p], zero on the diagonal
  std::vector<double> stays;  // [p], zero in continuous time
  std::vector<double> exits;  // [p]
  // Whether the kernel computes zero for exactly those rates that are zero
  // here. This is uncertain if a rate results from a subtraction, or if a
  // product underflows.
  bool knows_zeros = true;
};

// Returns the rates of a well-formed call without batch dimensions. Edges whose
// indices are out of range are ignored.
Rates RatesOf(const CallCase& c);

// Returns the total rate of leaving a phase: the sum over all jumps and the
// exit.
double LeavingRate(const Rates& rates, size_t phase);

}  // namespace fuzz
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_FUZZ_RATES_H_
