// Decides which method computes a time of a model, by estimated costs: steps of
// the power sequence, squaring, or expansion points that many times share. No
// other room compares costs of methods. Small models are chosen in
// batch_choice.h.

#ifndef PHASIC_NATIVE_KERNEL_CHOICE_CHOICE_H_
#define PHASIC_NATIVE_KERNEL_CHOICE_CHOICE_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "native/kernel/api/sweep.h"
#include "native/kernel/model/model.h"
#include "native/kernel/numbers/dual.h"
#include "native/kernel/runtime/work_limit.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/point.h"
#include "native/kernel/uniformization/sequence.h"
#include "native/kernel/uniformization/step_weights.h"

namespace phasic {
namespace PHASIC_ISA {

constexpr double kLeastSquaringX = 0x1p9;
constexpr double kLargestSquaringX = 0x1p60;  // 2^66 steps of the first power

// Returns the estimated cost of squaring once, in half nanoseconds; factors
// were measured.
template <class T>
double ProductCost(const Model<T>& model) {
  const double p = static_cast<double>(model.size);
  return 2.0 * p * p * p;
}
// Returns the number of matrix products in squaring up to x: one for each bit
// of x / x_0, and some for the first power, which is one step in a discrete
// chain. The estimate is on the high side, as values often follow from fewer
// than x steps.
template <class T>
double NumProducts(const Model<T>& model, double x) {
  return std::log2(x) + (model.discrete ? 0.0 : 20.0);
}
// Returns the estimated cost of squaring up to x, in half nanoseconds.
template <class T>
double SquaringCost(const Model<T>& model, double x) {
  return ProductCost(model) * NumProducts(model, x);
}
// Returns the estimated cost of one time once the squared powers are known: a
// vector-matrix product for every other bit.
template <class T>
double SquaringTimeCost(const Model<T>& model, double x) {
  const double p = static_cast<double>(model.size);
  return 1200.0 + 0.4 * p * p * (std::log2(x) + 6.0);
}
// Returns the estimated cost of one step of the power sequence.
template <class T>
double StepCost(const Model<T>& model) {
  // The rates of a model with tangents may be entries for a tangent's sake, on
  // which the choice must not depend.
  const int64_t cells = Depth<T>::kValue == 0
                            ? model.forward.pattern.num_cells()
                            : model.num_rates;
  return static_cast<double>(cells) / 3.0 +
         4.5 * static_cast<double>(model.size);
}

// Returns whether scaling and squaring can be used for x = q t, or for the
// number x of steps, within the limits of work and memory.
template <class T>
bool MayUseSquaring(const Model<T>& model, double x) {
  constexpr int kDepth = Depth<T>::kValue;
  return !HasOwnExponent<T>::kValue && x >= kLeastSquaringX &&
         x < kLargestSquaringX &&
         MaySquare(model.size, NumProducts(model, x), 1 << (2 * kDepth),
                   1 << kDepth);
}

// Returns whether x = q t, or the number x of steps, is computed by scaling and
// squaring. It is, if its matrix products cost less than the steps of the power
// sequence, or if the steps exceed the work limit and the products do not. The
// choice depends only on the model and on x, so that a value does not depend on
// the rest of the call. Squared powers are computed only in plain doubles.
template <class T>
bool UsesSquaring(const Model<T>& model, double x, double max_steps) {
  if (!MayUseSquaring(model, x)) return false;
  const double cost = SquaringCost(model, x);
  // A mixture needs terms somewhat beyond step x, so that x must be below the
  // limit by a margin.
  return cost < x * StepCost(model) || x > 0.98 * max_steps;
}

// Returns the estimated cost of steps of extended doubles up to x.
template <class T>
double ExtendedCost(const Model<T>& model, double x) {
  return 15.0 * x * StepCost(model);
}
// Returns the estimated cost of squaring up to x where triangular products skip
// zeros.
template <class T>
double SparseSquaringCost(const Model<T>& model, double x) {
  return SquaringCost(model, x) * (model.is_triangular ? 0.25 : 1.0);
}

// The estimated costs of first derivatives, in half nanoseconds: cotangents, or
// tangents in one direction. A step costs far more than for values; squaring
// costs hardly more, and less in triangular models, whose products skip zeros.
struct DerivativeCosts {
  double products;  // of all squarings
  double time;      // for each time, once the squared powers are known
  double step;
};
template <class T>
DerivativeCosts CostsOfDerivatives(const Model<T>& model, double x) {
  const double p = static_cast<double>(model.size);
  const double cube = (model.is_triangular ? 0.25 : 1.0) * p * p * p;
  const double bits = std::log2(x) + 6.0;
  DerivativeCosts costs;
  if (model.derivatives == Derivatives::kCotangents) {
    const auto cells = static_cast<double>(model.products.num_cells());
    costs.products = (bits + 14.0) * (0.6 * cube + 12.0 * p * p);
    costs.time = 2000.0 + 1.2 * p * p * bits;
    costs.step = StepCost(model) + cells / 6.0 + 1.5 * p;
  } else {
    const auto cells = static_cast<double>(model.num_rates);
    costs.products = (bits + 14.0) * (0.75 * cube + 20.0 * p * p);
    costs.time = 2000.0 + 0.7 * p * p * bits;
    // See WeightPlanes.
    costs.step = (4.0 * cells < p * p ? 2.0 : 0.45) * cells + 10.0 * p;
  }
  return costs;
}

// Returns whether first derivatives at one of `num_times` times are computed by
// scaling and squaring at a time at which values are not, because that costs
// less. Where flushing to zero makes them unknown, the caller computes them by
// steps after all.
template <class T>
bool UsesSquaringEarly(const Model<T>& model, double x, int64_t num_times) {
  if (model.discrete || model.derivatives == Derivatives::kAsValues ||
      !MayUseSquaring(model, x)) {
    return false;
  }
  const DerivativeCosts costs = CostsOfDerivatives(model, x);
  return costs.products + static_cast<double>(num_times) * costs.time <
         x * costs.step;
}

// The methods for one time of a model by itself. Early squaring is chosen for
// derivatives alone.
enum class Method { kSteps, kSquaring, kSquaringEarly };

// Returns the method for x = q t, one of `num_times` times of the model, where
// the limit on work allows `max_steps` steps.
template <class T>
Method MethodOf(const Model<T>& model, double x, int64_t num_times,
                double max_steps) {
  if (UsesSquaring(model, x, max_steps)) return Method::kSquaring;
  return UsesSquaringEarly(model, x, num_times) ? Method::kSquaringEarly
                                                : Method::kSteps;
}

// Returns whether the power sequence reaches x with few steps and extrapolates
// all later terms, see tail_closure.h. The test costs at most half of squaring,
// and depends only on the model and x. As the rounding errors of steps are
// larger, squaring is used anyway if it is fast.
template <class T>
bool FollowsFromFewSteps(double x, Sequence<T>* sequence) {
  if (!sequence->may_close()) return false;
  constexpr double kStepThatFollows = 200.0;
  constexpr double kDear = 2e8;
  const double room = 0.5 * SquaringCost(sequence->model(), x);
  if (2.0 * room < kDear || x * kStepThatFollows > room) return false;
  const double steps = room / StepCost(sequence->model());
  const double last = x + 24.0 * std::sqrt(x);
  return sequence->Follows(static_cast<int64_t>(last) / kBlock + 8,
                           static_cast<int64_t>(steps) / kBlock);
}

// Returns whether a model has so many times that they may share expansion
// points.
inline bool AreMany(int64_t num_times) { return num_times >= kManyTimes; }

// Returns whether times of a model may be evaluated in groups. NodeGroups then
// decides for each group: an expansion costs as much as about ten single times,
// or as two with tangents, which have no lanes, so that a group must be large,
// and other times are evaluated one by one. The two methods differ in the last
// bits. So the choice depends only on the model's own times: their number, and
// how many of one function are within reach of one expansion point. It does not
// depend on their order, the batch, or threads.
inline bool TakesGroups(const SweepInput& in) {
  return AreMany(in.num_times) && !in.discrete;
}

// Returns whether one of `num_times` times costs less by the power sequence
// than by squaring, and whether the steps that all times share cost less than
// squaring for all of them. The terms that matter are those of the earlier
// steps, with more mass, up to x. The result depends only on the model, x and
// the number of times.
template <class T>
bool SharesSteps(double x, int64_t num_times, Sequence<T>* sequence) {
  constexpr double kLargestX = 0x1p13;  // limits rounding errors
  const Model<T>& model = sequence->model();
  const double by_squaring = SquaringTimeCost(model, x);
  const double by_all = static_cast<double>(num_times) * by_squaring;
  const double steps = static_cast<double>(sequence->max_blocks()) * kBlock;
  if (!AreMany(num_times) || x > kLargestX || x > 0.5 * steps ||
      x * StepCost(model) > 0.5 * by_all) {
    return false;
  }
  if (model.discrete) return true;
  StatusCode status = kOk;
  const Block<T>* block =
      sequence->Get(static_cast<int64_t>(x) / kBlock, &status);
  if (block == nullptr || !(block->mass > 0.0)) return false;
  const double decay =
      -std::log(block->mass) - kLn2 * static_cast<double>(block->exponent);
  return 8.0 * std::sqrt(x) + std::sqrt(2.0 * std::fmax(decay, 0.0) * x) <
         by_squaring;
}

// Returns the x = q t up to which times, the last of which is at x = last, are
// evaluated in groups: far below the work limit, and below those that squaring
// takes.
template <class T>
double EndOfGroups(double last, int64_t num_times, Sequence<T>* sequence) {
  const double steps = static_cast<double>(sequence->max_blocks() * kBlock);
  double end = kLeastSquaringX;
  while (end < std::min(0.5 * steps, last) &&
         (!UsesSquaring(sequence->model(), 1.25 * end, steps) ||
          SharesSteps(1.25 * end, num_times, sequence))) {
    end *= 1.25;
  }
  return std::min(end, 0.5 * steps);
}

// Returns whether squaring may compute a point that the power sequence lost to
// underflow, for less than the steps of extended doubles that would follow.
// Tangents by squaring have no bounds on errors, and are left to these steps.
template <class T>
bool MayReplaceSteps(const Model<T>& model, const Point<T>& point) {
  return Depth<T>::kValue == 0 && point.status == kUnderflow &&
         MayUseSquaring(model, point.x) &&
         SparseSquaringCost(model, point.x) < ExtendedCost(model, point.x);
}

// Returns whether squaring up to x, with products of scaled numbers for `count`
// points, costs less than an adjoint sweep of extended doubles, whose steps all
// points share.
inline bool MayReplaceSweep(const Model<double>& model, double x,
                            int64_t count) {
  constexpr double kSweep = 4.0;    // its cost relative to that of the values
  constexpr double kScaled = 10.0;  // of a product of scaled numbers
  const double p = static_cast<double>(model.size);
  const double products = 0.5 * std::log2(x) + kStepTerms;
  return 2.0 * SparseSquaringCost(model, x) +
             kScaled * static_cast<double>(count) * products * p * p <
         kSweep * ExtendedCost(model, x);
}

// The most work for a bound, in half nanoseconds: by steps, which each call
// takes again, and by squaring.
constexpr double kMaxBoundSteps = 1e9;
constexpr double kMaxBoundPowers = 4e9;

// Returns a time before x at which F bounds it at x, for a time beyond the
// limits of work. Sets *by_squaring to whether squaring computes it there.
inline double TimeOfBound(const Sequence<double>& sequence, double x,
                          bool* by_squaring) {
  const Model<double>& model = sequence.model();
  const double latest = std::floor(
      std::min(0.5 * static_cast<double>(sequence.max_blocks()) * kBlock,
               kMaxBoundSteps / StepCost(model)));
  double y = 0.5 * kLargestSquaringX;
  while (y > latest) {
    *by_squaring = y <= x && MayUseSquaring(model, y) &&
                   SquaringCost(model, y) <= kMaxBoundPowers;
    if (*by_squaring) return y;
    y *= 0.5;
  }
  return latest;
}

// Returns the estimated cost of steps and squarings that were made, in half
// nanoseconds.
template <class T>
double CostSpent(const Model<T>& model, int64_t num_steps,
                 int64_t num_squarings) {
  return static_cast<double>(num_steps) * StepCost(model) +
         static_cast<double>(num_squarings) * ProductCost(model);
}

// Returns whether the power sequence is cheaper for a point that was assigned
// to squaring. If so, assigns the point to the sequence.
template <class T>
bool LeavesSquaring(int64_t index, int64_t num_times, Sequence<T>* sequence,
                    Point<T>* point) {
  if (!point->by_squaring || !(FollowsFromFewSteps(point->x, sequence) ||
                               SharesSteps(point->x, num_times, sequence))) {
    return false;
  }
  point->by_squaring = false;
  if (sequence->model().discrete) {
    point->start = static_cast<int64_t>(point->x) / kBlock;
  } else {
    point->start_weight = sequence->StartOf(index, point->x, &point->start);
  }
  return true;
}

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_CHOICE_CHOICE_H_
