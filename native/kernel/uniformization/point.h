// A point: the value of F at one time, where F is the density, the survival
// function or the cdf, and the data that are needed to evaluate it.

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
  kZero,      // the series is zero by the model's structure
  kBefore,    // t < 0, or a density at a non-integer number of steps
  kAtom,      // density at 0, if there is an atom or time is discrete
  kInfinite,  // t = inf
};

// A time t, in units x = q t, and the value of F there. The derivative of F
// with respect to x is slope * 2^value.exponent.
template <class T>
struct Point {
  // In values, x may be below the range of doubles: it is then 2^x_exponent
  // times this number; see far_points.h.
  double x = 0.0;
  int64_t x_exponent = 0;
  T delta = T(0.0);  // tangents of x
  // The block of terms that contains term floor(x) of the series of F, and the
  // Poisson weight of the first term of that block. In a discrete chain, F is
  // term x alone.
  int64_t start = 0;
  Scaled<double> start_weight;
  Scaled<T> value;
  T slope = T(0.0);
  // With tangents: a bound on the error of F or its tangent by flushing to
  // zero.
  Scaled<double> loss;
  Scaled<T> seed;  // the cotangent of F, in adjoint sweeps
  StatusCode status = kOk;
  TimeCase time_case = TimeCase::kRegular;
  Base base = Base::kDensity;
  bool is_log = false;
  bool is_interval = false;  // see interval.h
  bool by_squaring = false;  // uses scaling and squaring; see choice.h
  bool is_early = false;     // by_squaring only as derivatives are cheaper
  bool is_bound = false;     // x is an earlier time; see far_points.h
};

// In a discrete chain, the value of a point is a single term. Returns the index
// of that term in its block.
template <class T>
int StepInBlock(const Point<T>& point) {
  return static_cast<int>(static_cast<int64_t>(point.x) - point.start * kBlock);
}

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_UNIFORMIZATION_POINT_H_
