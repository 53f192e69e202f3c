// The walk of window.h for eight times at once, in SIMD lanes: over the blocks
// that any of them needs. Weights must be far from overflow and underflow.
//
// `Sum` decides what is added and when it is enough for each lane:
//   const PoissonTable* Reserve(b): makes block b available, and returns its
//     Poisson table, or nullptr;
//   void Center(ratio): sets the ratios x / c of the blocks that follow;
//   void Include(b, weights, lanes): adds block b for these lanes, given the
//     weights of its first index. Those of other lanes are zero;
//   bool EndsAt(b, weights, gap, lanes, &stop): sets the lanes whose weights
//     from block b on are negligible. The sum of these weights is at most
//     weights / gap. Returns false if the answer is not known;
//   Mask EndsBefore(b, weights, lanes): returns the lanes whose weights before
//     block b are negligible;
//   void Leave(b, weights, lanes): receives the lanes that end at block b
//     because their weights before it are nearly too small for a double.

#ifndef PHASIC_NATIVE_KERNEL_UNIFORMIZATION_LANE_WINDOW_H_
#define PHASIC_NATIVE_KERNEL_UNIFORMIZATION_LANE_WINDOW_H_

#include <cstdint>

#include "native/kernel/numbers/scaled.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/simd/pack.h"
#include "native/kernel/uniformization/poisson.h"

namespace phasic {
namespace PHASIC_ISA {

constexpr int kLanes = 8;
using Lanes = Pack<kLanes>;
using LaneMask = Lanes::Mask;
constexpr double kLeastLaneWeight = 0x1p-900;

// Up to eight values of x, and for each the block that contains floor(x) and
// the Poisson weight of the first index of that block. Other lanes have x = 1.
struct LaneTimes {
  double x[kLanes] = {1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0};
  double weights[kLanes] = {1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0};
  double starts[kLanes] = {};
  double used[kLanes] = {};
  int64_t first = INT64_MAX;  // least and greatest of `starts`
  int64_t last = 0;

  void Set(int64_t lane, double time, const Scaled<double>& weight,
           int64_t start) {
    x[lane] = time;
    weights[lane] = ScaleBy(weight.mantissa, weight.exponent);
    starts[lane] = static_cast<double>(start);
    used[lane] = 1.0;
    first = start < first ? start : first;
    last = start > last ? start : last;
  }
};

class LaneWindow {
 public:
  // No lane ends while its weights are above `share` times that at its start.
  LaneWindow(const LaneTimes& times, double share)
      : first_(times.first),
        last_(times.last),
        x_(Lanes::Load(times.x)),
        start_weights_(Lanes::Load(times.weights)),
        start_blocks_(Lanes::Load(times.starts)),
        stop_weights_(share * start_weights_),
        used_(Lanes(0.0) < Lanes::Load(times.used)) {}

  const Lanes& x() const { return x_; }
  const LaneMask& used() const { return used_; }
  int64_t start(int l) const { return static_cast<int64_t>(start_blocks_[l]); }
  int64_t last() const { return last_; }

  // Includes all blocks that are needed. Returns false if one is not available.
  template <class Sum>
  bool Walk(Sum* sum) {
    return !Any(used_) || (WalkUp(sum) && WalkDown(sum));
  }

 private:
  template <class Sum>
  bool WalkUp(Sum* sum) {
    LaneMask open = used_;
    Lanes weights = start_weights_;
    for (int64_t b = first_; Any(open); ++b) {
      const auto first = static_cast<double>(b);
      const LaneMask small = open & (weights < stop_weights_);
      if (Any(small)) {
        const double k = first * kBlock;
        const Lanes gap = Lanes(1.0) - (1.0 / (k + 1.0)) * x_;
        LaneMask stop;
        if (!sum->EndsAt(b, weights, gap, small & (Lanes(0.0) < gap), &stop)) {
          return false;
        }
        open = open & ~stop;
        if (!Any(open)) return true;
      }
      const PoissonTable* poisson = sum->Reserve(b);
      if (poisson == nullptr) return false;
      Center(poisson->center_exponent, sum);
      const LaneMask included = open & (start_blocks_ < Lanes(first + 0.5));
      sum->Include(b, Select(included, weights, Lanes(0.0)), included);
      weights = Select(included, weights * (poisson->table[kBlock] * power_),
                       weights);
    }
    return true;
  }

  template <class Sum>
  bool WalkDown(Sum* sum) {
    LaneMask open = used_;
    Lanes weights = start_weights_;
    for (int64_t b = last_; b > 0 && Any(open); --b) {
      LaneMask included =
          open & (Lanes(static_cast<double>(b) - 0.5) < start_blocks_);
      const LaneMask small = included & (weights < stop_weights_);
      if (Any(small)) {
        const LaneMask stop = sum->EndsBefore(b, weights, small);
        open = open & ~stop;
        included = included & ~stop;
      }
      const PoissonTable* before = sum->Reserve(b - 1);
      if (before == nullptr) return false;
      Center(before->center_exponent, sum);
      const Lanes next = weights * (before->last_inverse * inverse_power_);
      const LaneMask tiny = included & (next < Lanes(kLeastLaneWeight));
      if (Any(tiny)) sum->Leave(b, weights, tiny);
      open = open & ~tiny;
      included = included & ~tiny;
      weights = Select(included, next, weights);
      sum->Include(b - 1, Select(included, weights, Lanes(0.0)), included);
    }
    return true;
  }

  template <class Sum>
  void Center(int64_t center_exponent, Sum* sum) {
    if (center_exponent == center_exponent_) return;
    center_exponent_ = center_exponent;
    const Lanes ratio = PowerOfTwo(-center_exponent) * x_;
    const Lanes square = ratio * ratio;
    const Lanes fourth = square * square;
    const Lanes eighth = fourth * fourth;
    power_ = eighth * eighth;
    for (int l = 0; l < Lanes::kParts; ++l) {
      inverse_power_.parts[l] = 1.0 / power_.parts[l];
    }
    sum->Center(ratio);
  }

  const int64_t first_;
  const int64_t last_;
  const Lanes x_;
  const Lanes start_weights_;
  const Lanes start_blocks_;
  const Lanes stop_weights_;
  const LaneMask used_;
  int64_t center_exponent_ = -1;
  Lanes power_;
  Lanes inverse_power_;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_UNIFORMIZATION_LANE_WINDOW_H_
