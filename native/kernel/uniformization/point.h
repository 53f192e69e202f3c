// The value of F at one time, and the data of its evaluation.

#ifndef PHASIC_NATIVE_KERNEL_UNIFORMIZATION_POINT_H_
#define PHASIC_NATIVE_KERNEL_UNIFORMIZATION_POINT_H_

#include <cstdint>
#include <limits>

#include "native/kernel/api/sweep.h"
#include "native/kernel/numbers/scaled.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/channels.h"

namespace phasic {
namespace PHASIC_ISA {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

enum class TimeCase {
  kRegular,   // series over Poisson weights
  kZero,      // no phase that matters can be reached
  kBefore,    // t < 0; a density at a non-integer number of steps
  kAtom,      // density at 0, if there is an atom or no other density
  kInfinite,  // t = inf
};

// A time and F at it. F and its derivative in x = q t are relative to the same
// exponent.
template <class T>
struct Point {
  double x = 0.0;
  T delta = T(0.0);  // tangents of x
  // The block of floor(x), and the Poisson weight of the block's first index.
  // In a discrete chain x is the index of the term.
  int64_t start = 0;
  Scaled<double> start_weight;
  Scaled<T> value;
  T slope = T(0.0);
  // With tangents: a bound on what flushing to zero took from F or its tangent.
  Scaled<double> loss;
  Scaled<T> seed;  // the cotangent of F, in adjoint sweeps
  StatusCode status = kOk;
  TimeCase time_case = TimeCase::kRegular;
  Base base = Base::kDensity;
  bool is_log = false;
  bool is_interval = false;  // see interval.h
  bool on_ladder = false;    // by scaling and squaring, see ladder_choice.h
  bool is_early = false;     // so only as it is cheaper for derivatives
};

// Returns the index, within its block, of the term that is the value of a
// discrete chain's point.
template <class T>
int StepInBlock(const Point<T>& point) {
  return static_cast<int>(static_cast<int64_t>(point.x) - point.start * kBlock);
}

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_UNIFORMIZATION_POINT_H_
