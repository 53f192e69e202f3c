// Times whose cotangent underflowed in a sweep: an extended sweep recomputes
// them, and only them, so that none depends on the others.

#ifndef PHASIC_NATIVE_KERNEL_COTANGENTS_LOST_TIMES_H_
#define PHASIC_NATIVE_KERNEL_COTANGENTS_LOST_TIMES_H_

#include <cstdint>
#include <cstring>

#include "native/kernel/api/sweep.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/point.h"

namespace phasic {
namespace PHASIC_ISA {

// A NaN that marks such a cotangent.
constexpr uint64_t kLostBits = 0x7ff8000000000001;

// Returns the cotangent if the status is not kOk.
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
