// Computes the Poisson mixtures sum_k w_k(x) c_k for one x, where c_k are the
// coefficients of a channel (see channels.h). The truncation errors at both
// ends have rigorous bounds relative to the sum. TaylorCoefficients combines
// these sums into values and derivatives with respect to x.

#ifndef PHASIC_NATIVE_KERNEL_UNIFORMIZATION_MIXTURE_H_
#define PHASIC_NATIVE_KERNEL_UNIFORMIZATION_MIXTURE_H_

#include <algorithm>
#include <cstdint>

#include "native/kernel/numbers/work_count.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/simd/pack.h"
#include "native/kernel/uniformization/channels.h"
#include "native/kernel/uniformization/point.h"
#include "native/kernel/uniformization/poisson.h"
#include "native/kernel/uniformization/tail_test.h"
#include "native/kernel/uniformization/window.h"

namespace phasic {
namespace PHASIC_ISA {

template <class T>
struct Mixture {
  T channels[kMaxChannels];  // the sums, relative to 2^exponent
  int64_t exponent;
  StatusCode status;
  // With tangents: a bound on the error of the first sum by flushing to zero.
  // Set only if the sum is over a power sequence.
  Scaled<double> loss;
};

inline double WeightedSum(const double* __restrict powers,
                          const double* __restrict terms, int first, int last) {
  if (first == 0 && last == kBlock) {
    Pack<8> sum = Pack<8>::Load(powers) * Pack<8>::Load(terms);
    sum.AddProduct(Pack<8>::Load(powers + 8), Pack<8>::Load(terms + 8));
    return sum.Total();
  }
  double sum = 0.0;
  for (int j = first; j < last; ++j) sum += powers[j] * terms[j];
  return sum;
}
template <class T>
inline T WeightedSum(const double* powers, const T* terms, int first,
                     int last) {
  T sums[4] = {T(0.0), T(0.0), T(0.0), T(0.0)};
  if (first == 0 && last == kBlock) {
    for (int j = 0; j < kBlock; j += 4) {
      for (int l = 0; l < 4; ++l) {
        AddProduct(powers[j + l], terms[j + l], &sums[l]);
      }
    }
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }
  for (int j = first; j < last; ++j) AddProduct(powers[j], terms[j], &sums[0]);
  return sums[0];
}

template <class T>
class Mixer {
 public:
  Mixer(Channels<T>* channels, const Point<T>& point)
      : channels_(*channels),
        x_(point.x),
        x_exponent_(point.x_exponent),
        start_(point.start),
        start_weight_(point.start_weight),
        first_block_(point.start),
        last_block_(point.start) {
    for (T& sum : sums_) sum = T(0.0);
    for (T& size : sizes_) size = T(0.0);
  }

  Mixture<T> Run() {
    Mixture<T> result;
    channels_.sequence().ClearCallersUnderflow();
    PoissonWalk walk(x_, x_exponent_);
    result.status = WalkWindow(start_, start_weight_, &walk, this);
    result.exponent = exponent_;
    for (int r = 0; r < channels_.size(); ++r) {
      result.channels[r] = sums_[r];
    }
    // If the sum is zero, but must be positive by the model's structure, it has
    // underflowed.
    const bool vanished = PrimalIsZero(sums_[0]) && IsPositive();
    if (result.status == kOk && (vanished || LostToUnderflow())) {
      result.status = kUnderflow;
    }
    if (!kPlain) result.loss = Loss();
    return result;
  }

  // The functions that WalkWindow calls.
  StatusCode Reserve(int64_t b) {
    StatusCode status = kOk;
    channels_.Get(b, &status);
    return status;
  }
  const PoissonTable& Table(int64_t b) const {
    return *channels_.Find(b)->poisson;
  }

  bool EndsBefore(int64_t b, const Scaled<double>& weight,
                  const PoissonWalk& walk) const {
    return MayStop(weight) &&
           CanStopHead(*channels_.Find(b), walk.HeadBound(b, weight));
  }

  StatusCode EndsAt(int64_t b, const Scaled<double>& weight,
                    const PoissonWalk& walk, bool* ends) {
    const bool may_stop = MayStop(weight);
    StatusCode status = kOk;
    TailCaps caps = {};
    // With tangents, `caps` is not used, and the block is computed in any case.
    const bool is_known = kPlain && may_stop
                              ? channels_.Tail(b, &caps, &status)
                              : channels_.Get(b, &status) != nullptr;
    if (!is_known) return status;
    if (HasVanished(b)) return kUnderflow;
    *ends = may_stop && CanStop(caps, b, walk.TailBound(b, weight));
    return kOk;
  }

  Scaled<double> Include(int64_t b, const Scaled<double>& weight,
                         PoissonWalk* walk) {
    first_block_ = std::min(first_block_, b);
    last_block_ = std::max(last_block_, b);
    const ChannelBlock<T>& block = *channels_.Find(b);
    const int num_channels = channels_.size();
    CountWork<T>(num_channels * kBlock);
    return walk->Up(b, *block.poisson, weight,
                    [&](int first, int last, const Scaled<double>& scale,
                        const double* powers) {
                      const int64_t e = scale.exponent + block.exponent;
                      T parts[kMaxChannels];
                      bool is_zero = true;
                      for (int r = 0; r < num_channels; ++r) {
                        parts[r] =
                            scale.mantissa *
                            WeightedSum(powers, block.channels[r], first, last);
                        if (!IsZero(parts[r])) is_zero = false;
                      }
                      if (is_zero) return;
                      if (e > largest_exponent_) largest_exponent_ = e;
                      AddParts(parts, e);
                    });
  }

  // Returns the number of the first (last) block that was summed.
  int64_t first_block() const { return first_block_; }
  int64_t last_block() const { return last_block_; }

 private:
  // Terms that are negligible in a value may matter in its tangents. So with
  // tangents, the first terms of the sum are dropped only if they would
  // underflow.
  static constexpr bool kPlain = Depth<T>::kValue == 0;
  static constexpr int64_t kHeadFraction = kPlain ? -60 : -1200;

  // Returns whether F is known to be positive at x by the model's structure.
  bool IsPositive() const {
    const Model<T>& model = channels_.model();
    if (x_ > 0.0) {
      return kPlain ||
             (channels_.base() != Base::kSurvival && model.value_absorbs);
    }
    bool exits = false;
    for (int64_t i = 0; i < model.size; ++i) {
      exits = exits || (!PrimalIsZero(model.initial[i]) &&
                        !PrimalIsZero(model.exits[i]));
    }
    return channels_.base() == Base::kDensity && exits;
  }

  // Returns whether the sum is zero because all terms before block b may have
  // been flushed. No later term is negligible relative to such a sum.
  bool HasVanished(int64_t b) const {
    if (!IsZero(sums_[0])) return false;
    return channels_.UnderflowedBefore(b) ||
           (!HasOwnExponent<T>::kValue &&
            channels_.sequence().CallersUnderflow());
  }

  Scaled<double> Size() const { return SizeOf(sums_[0], exponent_); }

  // Returns whether sums_[1] must be accurate, too, before the sums are
  // truncated. It gives the derivative of a survival function or cdf. This
  // derivative is a density, and may need terms that are negligible in the
  // function itself.
  bool SlopeMatters() const {
    return kPlain && channels_.size() > 1 && channels_.model().absorbs &&
           channels_.base() != Base::kDensity;
  }
  Scaled<double> SlopeSize() const { return SizeOf(sums_[1], exponent_); }

  void AddParts(T* parts, int64_t e) {
    const int num_channels = channels_.size();
    if (e > exponent_) {
      for (int r = 0; r < num_channels; ++r) {
        sums_[r] = ScaleBy(sums_[r], exponent_ - e);
        sizes_[r] = ScaleBy(sizes_[r], exponent_ - e);
      }
      exponent_ = e;
    } else if (e < exponent_) {
      for (int r = 0; r < num_channels; ++r) {
        parts[r] = ScaleBy(parts[r], e - exponent_);
      }
    }
    for (int r = 0; r < num_channels; ++r) {
      sums_[r] += parts[r];
      if (!kPlain) sizes_[r] += Abs(parts[r]);
    }
  }

  // Returns whether the weight is so small that it is worth testing whether the
  // sum can be truncated. While weights are near their maximum, this test
  // hardly ever succeeds.
  bool MayStop(const Scaled<double>& weight) const {
    return weight.exponent + ExponentOf(weight.mantissa) <
           start_weight_.exponent - 15;
  }

  // Returns whether all terms before the block are negligible; `head` is a
  // bound on the sum of their weights.
  bool CanStopHead(const ChannelBlock<T>& block,
                   const Scaled<double>& head) const {
    const Scaled<double> rest = {head.mantissa * block.largest.mantissa,
                                 head.exponent + block.largest.exponent};
    if (!IsAtMost(rest, kHeadFraction, Size())) return false;
    return !SlopeMatters() || IsAtMost(rest, kHeadFraction, SlopeSize()) ||
           IsAtMost(rest, -1200, Size());
  }

  // Returns whether all terms from block b on are negligible; `tail` is a bound
  // on the sum of their weights.
  bool CanStop(const TailCaps& caps, int64_t b, const Scaled<double>& tail) {
    const Model<T>& model = channels_.model();
    // More terms do not make a NaN or infinite sum finite.
    if (!IsFinite(sums_[0])) return true;
    if (kPlain) {
      // The factors are normalized, so that their product does not underflow.
      const auto bound = [&](double cap) {
        const Scaled<double> size = Normalized(Scaled<double>{cap, 0});
        return Scaled<double>{tail.mantissa * size.mantissa,
                              tail.exponent + size.exponent + caps.exponent};
      };
      if (!IsAtMost(bound(caps.caps[0]), -60, Size())) return false;
      return !SlopeMatters() || IsAtMost(bound(caps.caps[0]), -1200, Size()) ||
             IsAtMost(bound(caps.caps[1]), -60, SlopeSize());
    }
    return TailIsNegligible(model, channels_.base(), channels_.size(), b, tail,
                            exponent_, sums_, sizes_);
  }

  bool LostToUnderflow() {
    if (HasOwnExponent<T>::kValue) return false;
    const Scaled<double> size = {Primal(sums_[0]), exponent_};
    if (size.mantissa == 0.0) return false;
    if (channels_.LostToUnderflow(LastUsed(), size, first_block_)) return true;
    return channels_.sequence().CallersUnderflow() &&
           !IsAtMost(LossOfSums(), -45, size);
  }
  Scaled<double> Loss() const {
    if (HasOwnExponent<T>::kValue) return {};
    Scaled<double> loss = channels_.Loss(LastUsed());
    if (channels_.sequence().CallersUnderflow()) Add(&loss, LossOfSums());
    return loss;
  }
  // With tangents, shifted channels use several terms of the next block.
  int64_t LastUsed() const { return kPlain ? last_block_ : last_block_ + 1; }
  Scaled<double> LossOfSums() const {
    return {64.0 * static_cast<double>(last_block_ + 1),
            largest_exponent_ - 922};
  }

  Channels<T>& channels_;
  const double x_;
  const int64_t x_exponent_;
  const int64_t start_;
  const Scaled<double> start_weight_;
  T sums_[kMaxChannels];
  T sizes_[kMaxChannels];  // sums of the absolute values of the terms
  int64_t exponent_ = kNoExponent;
  int64_t largest_exponent_ = kNoExponent;
  int64_t first_block_;
  int64_t last_block_;
};

// The coefficients by which the sums of the channels at x give F and its
// derivative with respect to x at x + delta. If c_r is the sum of channel r,
//   F(x + delta) = sum_r value[r] c_r,   F'(x + delta) = sum_r slope[r] c_r.
// Here delta consists of tangents alone, so that a power of it vanishes and the
// Taylor series is finite. As w_k' = w_{k-1} - w_k, the derivative of c_r with
// respect to x is D c_r = c_{r+1} - c_r. So F(x + delta) is
//   density:  sum_j delta^j / j! D^j c_0;
//   survival: c_0 - sum_{j>0} delta^j / j! D^{j-1} c_1;
//   cdf:      c_0 + sum_{j>0} delta^j / j! D^{j-1} c_1.
template <class T>
struct TaylorCoefficients {
  T value[kMaxChannels];
  T slope[kMaxChannels];

  TaylorCoefficients(Base base, const T& delta) {
    static constexpr double kBinomials[5][5] = {{1, 0, 0, 0, 0},
                                                {1, 1, 0, 0, 0},
                                                {1, 2, 1, 0, 0},
                                                {1, 3, 3, 1, 0},
                                                {1, 4, 6, 4, 1}};
    constexpr int kDepth = Depth<T>::kValue;
    for (int r = 0; r < kMaxChannels; ++r) value[r] = slope[r] = T(0.0);
    const int offset = base == Base::kDensity ? 0 : 1;
    const double sign = base == Base::kSurvival ? -1.0 : 1.0;
    if (offset == 1) value[0] = T(1.0);
    T power = T(1.0);  // delta^j / j!
    for (int j = 0; j <= kDepth; ++j) {
      // The term of order j in the value is delta^j / j! times D^(j - offset)
      // c_offset. In the slope, D^(j + 1 - offset) replaces D^(j - offset).
      for (int m = 0; m <= j - offset; ++m) {
        AddTerm(&value[offset + m], power, sign * kBinomials[j - offset][m],
                j - offset - m);
      }
      const int n = j + 1 - offset;
      for (int m = 0; m <= n; ++m) {
        AddTerm(&slope[offset + m], power, sign * kBinomials[n][m], n - m);
      }
      power = (1.0 / (j + 1)) * (power * delta);
    }
  }

 private:
  static void AddTerm(T* sum, const T& power, double factor, int parity) {
    *sum += (parity % 2 == 0 ? factor : -factor) * power;
  }
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_UNIFORMIZATION_MIXTURE_H_
