// Marks times whose cotangent underflowed in a sweep. A sweep over extended
// doubles recomputes only these times, so that a time's cotangent does not
// depend on other times.

#ifndef PHASIC_NATIVE_KERNEL_COTANGENTS_LOST_TIMES_H_
#define PHASIC_NATIVE_KERNEL_COTANGENTS_LOST_TIMES_H_

#include <cstdint>
#include <cstring>

#include "native/kernel/api/sweep.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/point.h"

namespace phasic {
namespace PHASIC_ISA {

// The bits of the NaN that marks a cotangent as underflowed.
constexpr uint64_t kLostBits = 0x7ff8000000000001;

// Returns the NaN for a time whose status is not kOk: the NaN with kLostBits
// for kUnderflow, otherwise an ordinary one.
inline double MissingBar(StatusCode status) {
  if (status != kUnderflow) return kNaN;
  double result;
  std::memcpy(&result, &kLostBits, sizeof(result));
  return result;
}

inline bool IsLostBar(double bar) {
  uint64_t bits;
  std::memcpy(&bits, &bar, sizeof(bits));
  return bits == kLostBits;
}

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_COTANGENTS_LOST_TIMES_H_
