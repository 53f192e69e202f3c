// Numbers of unbounded range, for models that doubles cannot represent, with
// the functions of values.h that a solver needs.

#ifndef PHASIC_NATIVE_ELIMINATION_SOLVER_WIDE_H_
#define PHASIC_NATIVE_ELIMINATION_SOLVER_WIDE_H_

#include <cmath>
#include <cstdint>

#include "native/elimination/solver/values.h"
#include "native/kernel/numbers/extended_double.h"

namespace phasic {
namespace PHASIC_ISA {

using Wide = ExtendedDouble;
static_assert(sizeof(Wide) == kWideSize * sizeof(double));

inline Wide operator/(const Wide& a, const Wide& b) {
  return Wide::Make(a.part / b.part, a.power - b.power);
}
inline bool operator==(const Wide& a, const Wide& b) {
  return a.part == b.part && a.power == b.power;
}
inline bool operator<(const Wide& a, const Wide& b) {
  return (a - b).part < 0.0;
}
inline bool operator>(const Wide& a, const Wide& b) { return b < a; }

inline Wide Sqrt(const Wide& x) {
  if (!(x.part > 0.0 && x.part < kInfinity)) return std::sqrt(x.part);
  return ScaleBy(Wide(std::sqrt(x.part)), x.power * (Wide::kRadix / 2));
}

inline double ToDouble(double x) { return x; }
// Returns the double nearest to x, which may be subnormal or infinite.
inline double ToDouble(const Wide& x) {
  // A power below -kMost or above kMost is replaced by this bound, for which
  // ldexp gives zero or infinity already.
  constexpr int64_t kMost = 8;
  if (x.part == 0.0 || !IsFinite(x)) return x.part;
  const int64_t power =
      x.power < -kMost ? -kMost : (x.power > kMost ? kMost : x.power);
  return std::ldexp(x.part, static_cast<int>(power * Wide::kRadix));
}

template <class F>
inline void Read(const F* const* arrays, int64_t index, Wide* value) {
  *value = Wide(arrays[0][index]);
}
template <class F>
inline void Write(const Wide& value, int64_t index, int, F* const* arrays) {
  arrays[0][index] = static_cast<F>(ToDouble(value));
}
inline void Write(const Wide& value, int64_t index, int, Wide* const* arrays) {
  arrays[0][index] = value;
}

inline void TakeSmaller(const Wide& weight, const Wide& x, Wide* best) {
  if (weight.part > 0.0 && Abs(x) < Abs(*best)) *best = x;
}
inline Wide FiniteOrZero(const Wide& x) { return IsFinite(x) ? x : Wide(0.0); }

template <>
class Checks<Wide> {
 public:
  void AddWeight(const Wide& w) { is_valid_ &= w.part >= 0.0; }
  void AddPivot(const Wide& pivot) {
    is_valid_ &= pivot.part < kInfinity;
    has_traps_ |= pivot.part == 0.0;
  }
  Findings findings() const { return {!is_valid_, has_traps_}; }

 private:
  bool is_valid_ = true;
  bool has_traps_ = false;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_ELIMINATION_SOLVER_WIDE_H_
