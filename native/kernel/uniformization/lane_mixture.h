// Computes Poisson mixtures for eight times at once, in SIMD lanes. A lane with
// numbers near overflow or underflow is flagged, and its time is left to
// mixture.h. A lane's result depends only on its own time.

#ifndef PHASIC_NATIVE_KERNEL_UNIFORMIZATION_LANE_MIXTURE_H_
#define PHASIC_NATIVE_KERNEL_UNIFORMIZATION_LANE_MIXTURE_H_

#include <cstdint>

#include "native/kernel/simd/isa.h"
#include "native/kernel/simd/pack.h"
#include "native/kernel/uniformization/channels.h"
#include "native/kernel/uniformization/lane_window.h"
#include "native/kernel/uniformization/poisson.h"

namespace phasic {
namespace PHASIC_ISA {

class LaneMixer {
 public:
  // Of `times`, those of at least 2^-10 and below the limit on work must be
  // set. If `slope` is false, the derivative with respect to time is not
  // needed. For a density, its channels are then not computed. For the other
  // functions they are, because the truncation depends on them.
  LaneMixer(Channels<double>* channels, const LaneTimes& times, bool slope)
      : channels_(*channels),
        num_mixed_(
            slope || channels->base() != Base::kDensity ? channels->size() : 1),
        window_(times, 0x1p-15),
        ordinary_(window_.used()) {
    for (Lanes& sum : sums_) sum = Lanes(0.0);
  }

  void Run() {
    StatusCode status = kOk;
    const bool is_made =
        Any(ordinary_) && channels_.Get(window_.last(), &status) != nullptr;
    for (int l = 0; is_made && l < kLanes; ++l) {
      exponents_[l] =
          channels_.Find(ordinary_[l] ? window_.start(l) : window_.last())
              ->exponent;
      same_exponents_ = same_exponents_ && exponents_[l] == exponents_[0];
    }
    if (!is_made || !window_.Walk(this)) {
      ordinary_ = Lanes(1.0) < Lanes(0.0);
    }
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

  // The functions that LaneWindow calls.
  const PoissonTable* Reserve(int64_t b) {
    StatusCode status = kOk;
    const ChannelBlock<double>* block = channels_.Get(b, &status);
    return block != nullptr ? block->poisson : nullptr;
  }

  bool EndsAt(int64_t b, const Lanes& weights, const Lanes& gap,
              const LaneMask& lanes, LaneMask* stop) {
    StatusCode status = kOk;
    TailCaps tail;
    if (!channels_.Tail(b, &tail, &status)) return false;
    ordinary_ = ordinary_ & ~(lanes & (weights < Lanes(kLeastLaneWeight)));
    const Lanes limit = 0x1p-60 * gap;
    const Lanes tails = weights * Relative(tail.exponent, lanes);
    *stop = lanes & (tail.caps[0] * tails <= sums_[0] * limit);
    if (SlopeMatters()) {
      *stop = *stop & (tail.caps[1] * tails <= sums_[1] * limit);
    }
    // The sums of the lanes that stop here include the blocks up to b - 1.
    last_blocks_ =
        Select(*stop, Lanes(static_cast<double>(b - 1)), last_blocks_);
    return true;
  }

  LaneMask EndsBefore(int64_t b, const Lanes& weights, const LaneMask& lanes) {
    const Scaled<double>& largest = channels_.Find(b)->largest;
    const double k = static_cast<double>(b * kBlock);
    const Lanes limit = 0x1p-60 * (window_.x() - Lanes(k));
    const Lanes heads =
        (largest.mantissa * k) * (weights * Relative(largest.exponent, lanes));
    const LaneMask stop = lanes & (heads <= sums_[0] * limit);
    return SlopeMatters() ? stop & (heads <= sums_[1] * limit) : stop;
  }

  void Leave(int64_t, const Lanes&, const LaneMask& lanes) {
    ordinary_ = ordinary_ & ~lanes;
  }

  void Center(const Lanes& ratio) {
    ratio_ = ratio;
    square_ = ratio * ratio;
  }

  // Adds the weights times the block's polynomials in x / c.
  void Include(int64_t b, const Lanes& weights, const LaneMask& lanes) {
    const ChannelBlock<double>& block = *channels_.Find(b);
    const Lanes factors = weights * Relative(block.exponent, lanes);
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

 private:
  bool SlopeMatters() const {
    return channels_.size() > 1 && channels_.model().absorbs &&
           channels_.base() != Base::kDensity;
  }

  // Returns 2^(exponent - exponents_[l]) for each lane l of `lanes`. Flags
  // lanes for which this factor is far from one.
  Lanes Relative(int64_t exponent, const LaneMask& lanes) {
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
  LaneWindow window_;
  int64_t exponents_[kLanes];
  bool same_exponents_ = true;
  Lanes last_blocks_ = Lanes(0.0);
  Lanes sums_[kMaxChannels];
  LaneMask ordinary_;
  Lanes ratio_;
  Lanes square_;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_UNIFORMIZATION_LANE_MIXTURE_H_
