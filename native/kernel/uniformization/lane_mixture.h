// Computes Poisson mixtures for eight times at once, in SIMD lanes. A lane with
// numbers near overflow or underflow is flagged, and its time is left to
// mixture.h. A lane's result depends only on its own time.

#ifndef PHASIC_NATIVE_KERNEL_UNIFORMIZATION_LANE_MIXTURE_H_
#define PHASIC_NATIVE_KERNEL_UNIFORMIZATION_LANE_MIXTURE_H_

#include <cstdint>

#include "native/kernel/simd/isa.h"
#include "native/kernel/simd/pack.h"
#include "native/kernel/uniformization/channels.h"
#include "native/kernel/uniformization/poisson.h"

namespace phasic {
namespace PHASIC_ISA {

constexpr int kLanes = 8;

class LaneMixer {
 public:
  // The first `count` lanes have times; `weights` and `starts` are the results
  // of StartWeight for each x. If `slope` is false, the derivative with respect
  // to time is not needed. For a density, its channels are then not computed.
  // For the other functions they are, because the truncation depends on them.
  LaneMixer(Channels<double>* channels, const double* x,
            const Scaled<double>* weights, const int64_t* starts, int64_t count,
            bool slope)
      : channels_(*channels),
        num_mixed_(slope || channels->base() != Base::kDensity
                       ? channels->size()
                       : 1) {
    const double limit =
        static_cast<double>(channels->sequence().max_blocks()) * kBlock;
    double ordinary[kLanes] = {};
    double places[kLanes] = {1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0};
    double plain[kLanes] = {1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0};
    double blocks[kLanes] = {};
    for (int64_t l = 0; l < count; ++l) {
      if (!(x[l] >= 0x1p-10 && x[l] < limit)) continue;
      ordinary[l] = 1.0;
      places[l] = x[l];
      plain[l] = ScaleBy(weights[l].mantissa, weights[l].exponent);
      starts_[l] = starts[l];
      blocks[l] = static_cast<double>(starts[l]);
      first_ = starts[l] < first_ ? starts[l] : first_;
      last_ = starts[l] > last_ ? starts[l] : last_;
    }
    ordinary_ = Lanes(0.0) < Lanes::Load(ordinary);
    x_ = Lanes::Load(places);
    start_weights_ = Lanes::Load(plain);
    start_blocks_ = Lanes::Load(blocks);
    stop_weights_ = 0x1p-15 * start_weights_;
    for (Lanes& sum : sums_) sum = Lanes(0.0);
  }

  void Run() {
    StatusCode status = kOk;
    if (!Any(ordinary_)) return;
    if (channels_.Get(last_, &status) == nullptr) {
      ordinary_ = Lanes(1.0) < Lanes(0.0);
      return;
    }
    const int64_t last_exponent = channels_.Find(last_)->exponent;
    for (int l = 0; l < kLanes; ++l) {
      exponents_[l] = last_exponent;  // for inactive lanes, too
      if (!ordinary_[l] || starts_[l] == last_) continue;
      exponents_[l] = channels_.Find(starts_[l])->exponent;
      if (exponents_[l] != last_exponent) same_exponents_ = false;
    }
    WalkUp();
    WalkDown();
  }

  // Returns whether lane l has a valid result.
  bool IsOrdinary(int l) const {
    return ordinary_[l] && sums_[0][l] > 0x1p-500 && sums_[0][l] < 0x1p500 &&
           !channels_.LostToUnderflow(
               static_cast<int64_t>(last_blocks_[l]),
               Scaled<double>{sums_[0][l], exponents_[l]});
  }
  double Channel(int r, int l) const { return sums_[r][l]; }
  int64_t Exponent(int l) const { return exponents_[l]; }

 private:
  using Lanes = Pack<kLanes>;
  using Mask = Lanes::Mask;
  static constexpr double kSmallestWeight = 0x1p-900;

  bool SlopeMatters() const {
    return channels_.size() > 1 && channels_.model().absorbs &&
           channels_.base() != Base::kDensity;
  }

  void WalkUp() {
    Mask open = ordinary_;
    Lanes weights = start_weights_;
    for (int64_t b = first_; Any(open); ++b) {
      StatusCode status = kOk;
      const Mask started = start_blocks_ < Lanes(static_cast<double>(b) + 0.5);
      const Mask small = open & (weights < stop_weights_);
      if (Any(small)) {
        TailCaps tail;
        if (!channels_.Tail(b, &tail, &status)) {
          ordinary_ = ordinary_ & ~open;
          return;
        }
        const double k = static_cast<double>(b * kBlock);
        const Lanes gap = Lanes(1.0) - (1.0 / (k + 1.0)) * x_;
        const Lanes limit = 0x1p-60 * gap;
        const Lanes tails = weights * Relative(tail.exponent, small);
        Mask stop = small & (tail.caps[0] * tails <= sums_[0] * limit) &
                    (Lanes(0.0) < gap);
        if (SlopeMatters()) {
          stop = stop & (tail.caps[1] * tails <= sums_[1] * limit);
        }
        // The sums of the lanes that stop here include the blocks up to b - 1.
        last_blocks_ =
            Select(stop, Lanes(static_cast<double>(b - 1)), last_blocks_);
        open = open & ~stop;
        if (!Any(open)) return;
      }
      const ChannelBlock<double>* block = channels_.Get(b, &status);
      if (block == nullptr) {
        ordinary_ = ordinary_ & ~open;
        return;
      }
      Center(block->poisson->center_exponent);
      const Mask included = open & started;
      AddBlock(*block, weights, included);
      weights =
          Select(included, weights * (block->poisson->table[kBlock] * power_),
                 weights);
      Drop(included & (weights < Lanes(kSmallestWeight)), &open);
    }
  }

  void WalkDown() {
    Mask open = ordinary_;
    Lanes weights = start_weights_;
    for (int64_t b = last_; b > 0 && Any(open); --b) {
      Mask started =
          open & (Lanes(static_cast<double>(b) - 0.5) < start_blocks_);
      const Mask small = started & (weights < stop_weights_);
      if (Any(small)) {
        const Scaled<double>& largest = channels_.Find(b)->largest;
        const double k = static_cast<double>(b * kBlock);
        const Lanes limit = 0x1p-60 * (x_ - Lanes(k));
        const Lanes heads = (largest.mantissa * k) *
                            (weights * Relative(largest.exponent, small));
        Mask stop = small & (heads <= sums_[0] * limit);
        if (SlopeMatters()) stop = stop & (heads <= sums_[1] * limit);
        open = open & ~stop;
        started = started & ~stop;
      }
      const ChannelBlock<double>& before = *channels_.Find(b - 1);
      Center(before.poisson->center_exponent);
      weights = Select(
          started, weights * (before.poisson->last_inverse * inverse_power_),
          weights);
      Drop(started & (weights < Lanes(kSmallestWeight)), &open);
      AddBlock(before, weights, started & open);
    }
  }

  void Drop(const Mask& lanes, Mask* open) {
    ordinary_ = ordinary_ & ~lanes;
    *open = *open & ~lanes;
  }

  // Adds the weights times the block's polynomials in x / c to the sums of the
  // included lanes.
  void AddBlock(const ChannelBlock<double>& block, const Lanes& weights,
                const Mask& included) {
    const Lanes factors = Select(included, weights, Lanes(0.0)) *
                          Relative(block.exponent, included);
    for (int r = 0; r < num_mixed_; ++r) {
      const double* c = block.channels[r];
      Lanes even(c[kBlock - 2]);
      Lanes odd(c[kBlock - 1]);
      for (int j = kBlock - 4; j >= 0; j -= 2) {
        even = even * square_ + Lanes(c[j]);
        odd = odd * square_ + Lanes(c[j + 1]);
      }
      sums_[r] = sums_[r] + factors * (even + odd * ratio_);
    }
  }

  void Center(int64_t center_exponent) {
    if (center_exponent == center_exponent_) return;
    center_exponent_ = center_exponent;
    ratio_ = PowerOfTwo(-center_exponent) * x_;
    square_ = ratio_ * ratio_;
    const Lanes fourth = square_ * square_;
    const Lanes eighth = fourth * fourth;
    power_ = eighth * eighth;
    for (int l = 0; l < Lanes::kParts; ++l) {
      inverse_power_.parts[l] = 1.0 / power_.parts[l];
    }
  }

  // Returns 2^(exponent - exponents_[l]) for each lane l of `lanes`. Flags
  // lanes for which this factor is far from one.
  Lanes Relative(int64_t exponent, const Mask& lanes) {
    if (same_exponents_ && exponent == exponents_[0]) return Lanes(1.0);
    double factors[kLanes];
    for (int l = 0; l < kLanes; ++l) {
      const int64_t shift = exponent - exponents_[l];
      const bool moderate = shift >= -400 && shift <= 400;
      factors[l] = moderate ? PowerOfTwo(shift) : 1.0;
      if (!moderate && lanes[l]) ordinary_.Clear(l);
    }
    return Lanes::Load(factors);
  }

  Channels<double>& channels_;
  const int num_mixed_;
  int64_t starts_[kLanes] = {};
  int64_t exponents_[kLanes];
  bool same_exponents_ = true;
  int64_t first_ = INT64_MAX;
  int64_t last_ = 0;
  Lanes x_;
  Lanes start_weights_;
  Lanes start_blocks_;
  Lanes stop_weights_;
  Lanes last_blocks_ = Lanes(0.0);
  Lanes sums_[kMaxChannels];
  Mask ordinary_;
  int64_t center_exponent_ = -1;
  Lanes ratio_;
  Lanes square_;
  Lanes power_;
  Lanes inverse_power_;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_UNIFORMIZATION_LANE_MIXTURE_H_
