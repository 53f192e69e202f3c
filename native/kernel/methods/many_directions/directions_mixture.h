// Poisson mixtures in several directions at once, as in mixture.h. Each
// direction has its own truncation window. At the end of that window its sums
// are stored as its result, while the summation continues for the other
// directions.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_MANY_DIRECTIONS_DIRECTIONS_MIXTURE_H_
#define PHASIC_NATIVE_KERNEL_METHODS_MANY_DIRECTIONS_DIRECTIONS_MIXTURE_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "native/kernel/model/model.h"
#include "native/kernel/numbers/directions.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/channels.h"
#include "native/kernel/uniformization/mixture.h"
#include "native/kernel/uniformization/poisson.h"
#include "native/kernel/uniformization/tail_test.h"

namespace phasic {
namespace PHASIC_ISA {

// Computes F and its tangents in all directions at one time. The results equal
// those of Mixer<Dual<double>>, or their status is kUnderflow and Mixer has to
// compute them.
class DirectionsMixer {
 public:
  using Single = Dual<double>;

  // `models` are the models with the tangent of one direction each, with the
  // members that TailIsNegligible needs.
  DirectionsMixer(Channels<Directions>* channels, const Model<Single>* models,
                  int count, double x, int64_t start,
                  const Scaled<double>& start_weight)
      : channels_(*channels),
        num_channels_(std::min(channels->size(), kMostChannels)),
        models_(models),
        count_(count),
        x_(x),
        start_(start),
        start_weight_(start_weight) {
    for (int r = 0; r < num_channels_; ++r) {
      sums_[r] = sizes_[r] = Directions(0.0);
    }
    for (int l = 0; l < count; ++l) results_[l].status = kUnderflow;
  }

  void Run() {
    channels_.sequence().ClearCallersUnderflow();
    Walk();
  }
  const Mixture<Single>& result(int direction) const {
    return results_[direction];
  }

 private:
  static constexpr int kMostChannels = 2;

  void Walk() {
    PoissonWalk walk(x_);
    StatusCode status = kOk;
    const ChannelBlock<Directions>* block = channels_.Get(start_, &status);
    if (block == nullptr) return;
    Scaled<double> up_weight = Include(*block, start_, start_weight_, &walk);
    Scaled<double> weight = start_weight_;
    is_head_ = true;
    for (int64_t b = start_; b > 0; --b) {
      if (MayStop(weight)) {
        if (!IsOrdinary()) return;
        if (CanStopHead(
                *channels_.Find(b),
                walk.HeadBound(static_cast<double>(b * kBlock), weight))) {
          break;
        }
      }
      const ChannelBlock<Directions>* before = channels_.Get(b - 1, &status);
      weight = walk.Down(*before->poisson, weight);
      Include(*before, b - 1, weight, &walk);
    }
    is_head_ = false;
    last_block_ = start_;
    for (int64_t b = start_ + 1; up_weight.mantissa != 0.0; ++b) {
      block = channels_.Get(b, &status);
      if (block == nullptr) return;
      if (PrimalIsZero(sums_[0]) && channels_.UnderflowedBefore(b)) return;
      if (MayStop(up_weight)) {
        if (!IsOrdinary()) return;
        CloseAll(b, walk.TailBound(static_cast<double>(b * kBlock), up_weight));
        if (num_closed_ == count_) return;
      }
      last_block_ = b;
      up_weight = Include(*block, b, up_weight, &walk);
    }
    for (int l = 0; l < count_; ++l) {
      if (!is_closed_[l]) Close(l, Of(sums_, l));
    }
  }

  // Returns whether sums are far from overflow and underflow, and tangents are
  // not far larger than values. After a time was refused the test fails, as its
  // sums are NaN.
  bool IsOrdinary() const {
    const double value = sums_[0].value;
    return value > 0.0 && value < 0x1p110 &&
           LargestOf(Abs(sums_[0].tangents)) <= kFarLarger * value;
  }

  // Returns whether the tail may be negligible, as in mixture.h.
  bool MayStop(const Scaled<double>& weight) const {
    return weight.exponent + ExponentOf(weight.mantissa) <
           start_weight_.exponent - 15;
  }

  // Returns whether the terms before this block are negligible in all
  // directions. Where a sweep of one direction stops, the remaining terms are
  // below 2^-1200 of its sum, so that adding them here does not change its
  // bits. The common sums stop with the last direction: the bound uses the
  // largest term of all directions, and the value, which is at most the size of
  // any direction's sum.
  bool CanStopHead(const ChannelBlock<Directions>& block,
                   const Scaled<double>& head) const {
    const Scaled<double> rest = {head.mantissa * block.largest.mantissa,
                                 head.exponent + block.largest.exponent};
    return IsAtMost(rest, -1200, {sums_[0].value, exponent_});
  }

  Scaled<double> Include(const ChannelBlock<Directions>& block, int64_t index,
                         const Scaled<double>& weight, PoissonWalk* walk) {
    return walk->Up(index, *block.poisson, weight,
                    [&](int first, int last, const Scaled<double>& scale,
                        const double* powers) {
                      Directions parts[kMostChannels];
                      bool is_zero = true;
                      bool value_is_zero = true;
                      for (int r = 0; r < num_channels_; ++r) {
                        parts[r] =
                            scale.mantissa *
                            WeightedSum(powers, block.channels[r], first, last);
                        if (!PrimalIsZero(parts[r])) {
                          is_zero = value_is_zero = false;
                        } else if (!IsZero(parts[r])) {
                          is_zero = false;
                        }
                      }
                      if (is_zero) return;
                      const int64_t e = scale.exponent + block.exponent;
                      if (e > largest_exponent_) largest_exponent_ = e;
                      // In sweeps of a single direction, some directions would
                      // have no terms yet.
                      if (value_is_zero || !AddParts(parts, e)) Refuse();
                    });
  }

  bool AddParts(Directions* parts, int64_t e) {
    if (e > exponent_) {
      // A direction whose window has ended keeps its exponent.
      if (is_head_ && exponent_ != kNoExponent &&
          IsAtMost({parts[0].value, e}, -1000, {sums_[0].value, exponent_})) {
        return false;
      }
      for (int r = 0; r < num_channels_; ++r) {
        sums_[r] = ScaleBy(sums_[r], exponent_ - e);
        sizes_[r] = ScaleBy(sizes_[r], exponent_ - e);
      }
      exponent_ = e;
    } else if (e < exponent_) {
      for (int r = 0; r < num_channels_; ++r) {
        parts[r] = ScaleBy(parts[r], e - exponent_);
      }
    }
    for (int r = 0; r < num_channels_; ++r) {
      sums_[r] += parts[r];
      sizes_[r] += Abs(parts[r]);
    }
    return true;
  }

  void Refuse() { sums_[0] = Directions::NaN(); }

  // Ends the windows whose remaining terms, from block b on, are negligible.
  void CloseAll(int64_t b, const Scaled<double>& tail) {
    if (NoneMayClose(tail)) return;
    for (int l = 0; l < count_; ++l) {
      if (is_closed_[l]) continue;
      const Sums sums = Of(sums_, l);
      const Sums sizes = Of(sizes_, l);
      if (TailIsNegligible(models_[l], channels_.base(), num_channels_, b, tail,
                           exponent_, sums.channels, sizes.channels)) {
        Close(l, sums);
      }
    }
  }

  // Returns whether no window can end: tests the part of TailIsNegligible's
  // bounds that does not depend on the direction.
  bool NoneMayClose(const Scaled<double>& tail) const {
    const Model<Directions>& model = channels_.model();
    double cap = 0.5 * tail.mantissa * model.initial_size.value;
    if (channels_.base() == Base::kDensity) cap *= model.exit_size.value;
    const int64_t shift = tail.exponent - exponent_;
    return shift <= 1000 && sizes_[0].value > 0.0 &&
           ScaleBy(cap, shift) > 0x1p-60 * sizes_[0].value;
  }

  struct Sums {
    Single channels[kMostChannels];
  };
  Sums Of(const Directions* x, int direction) const {
    Sums sums;
    for (int r = 0; r < num_channels_; ++r) {
      sums.channels[r] = {x[r].value, x[r].tangents[direction]};
    }
    return sums;
  }

  void Close(int direction, const Sums& sums) {
    is_closed_[direction] = true;
    ++num_closed_;
    if (!IsOrdinary() || LostToUnderflow()) return;
    Mixture<Single>& result = results_[direction];
    for (int r = 0; r < num_channels_; ++r) {
      if (!IsFinite(sums.channels[r])) return;
      result.channels[r] = sums.channels[r];
    }
    result.exponent = exponent_;
    result.status = kOk;
    // Flags are those of all directions: the bound is no smaller than that of a
    // direction by itself, which is swept alone in doubt.
    result.loss = channels_.Loss(last_block_ + 1);
    if (channels_.sequence().CallersUnderflow()) {
      Add(&result.loss, LossOfSums());
    }
  }

  // Returns whether underflow lost significant digits. The underflow flags are
  // those of all directions, which gives an upper bound on the loss of each.
  bool LostToUnderflow() {
    const Scaled<double> size = {sums_[0].value, exponent_};
    if (channels_.LostToUnderflow(last_block_ + 1, size)) return true;
    return channels_.sequence().CallersUnderflow() &&
           !IsAtMost(LossOfSums(), -45, size);
  }
  Scaled<double> LossOfSums() const {
    return {64.0 * static_cast<double>(last_block_ + 1),
            largest_exponent_ - 922};
  }

  Channels<Directions>& channels_;
  const int num_channels_;
  const Model<Single>* const models_;
  const int count_;
  const double x_;
  const int64_t start_;
  const Scaled<double> start_weight_;
  Directions sums_[kMostChannels];
  Directions sizes_[kMostChannels];  // sums of absolute terms
  Mixture<Single> results_[kDirections];
  bool is_closed_[kDirections] = {};
  int num_closed_ = 0;
  bool is_head_ = false;
  int64_t exponent_ = kNoExponent;
  int64_t largest_exponent_ = kNoExponent;
  int64_t last_block_ = 0;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_MANY_DIRECTIONS_DIRECTIONS_MIXTURE_H_
