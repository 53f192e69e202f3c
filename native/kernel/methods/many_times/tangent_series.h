// A series of F about an expansion point x_0, as in node_series.h, together
// with the series of its tangents in one direction:
//   dF(x_0 + d) = exp(-d) sum_j d^j / j! dc_j,  dc_j = sum_k w_k(x_0) df_{k+j}.
// The df_k have both signs: truncation errors are small relative to the sums of
// the absolute values |df_k|, as in mixture.h. So these sums are computed as
// well. Each function (density, survival or cdf) has sums of its own terms,
// since tangents of b_k that are computed by addition could cancel.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_TANGENT_SERIES_H_
#define PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_TANGENT_SERIES_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "native/kernel/methods/many_times/channel_terms.h"
#include "native/kernel/methods/many_times/node_polynomial.h"
#include "native/kernel/methods/many_times/node_terms.h"
#include "native/kernel/methods/many_times/node_weights.h"
#include "native/kernel/numbers/dual.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/simd/pack.h"
#include "native/kernel/uniformization/channels.h"
#include "native/kernel/uniformization/poisson.h"

namespace phasic {
namespace PHASIC_ISA {

struct TangentSeries {
  NodeSeries values;            // of F, and of the function for its slope
  double tangents[kNodeTerms];  // dc_j / j!
  double sizes[kNodeTerms];     // coefficients of the absolute values
};

// Computes series of F and its tangents about one expansion point at a time.
class TangentBuilder {
 public:
  // With `moves` the times have tangents, for which the slope of F is needed.
  TangentBuilder(Channels<Dual<double>>* channels, bool moves,
                 Workspace* workspace)
      : channels_(*channels),
        has_next_(moves && channels->base() != Base::kDensity),
        moves_(moves),
        is_still_(IsStill(channels->model())),
        parts_{{ChannelTerms(channels, 0, TermPart::kValue), workspace},
               {ChannelTerms(channels, 0, TermPart::kTangent), workspace},
               {ChannelTerms(channels, 0, TermPart::kTangentSize), workspace},
               {ChannelTerms(channels, 1, TermPart::kValue), workspace}} {}

  // Returns whether only times have tangents; then the tangents of the terms
  // are zero and not computed.
  bool is_still() const { return is_still_; }

  // Computes the series about `start`; returns whether it could be computed.
  bool Build(double start, TangentSeries* node) {
    walk_ = PoissonWalk(start);
    const Scaled<double> weight = StartWeight(start, &first_block_);
    if (!Reserve(first_block_ + kNodeBlocks)) return false;
    exponent_ = BlockAt(first_block_).exponent;
    for (auto& sums : sums_) std::fill(sums, sums + kNodePacks, Lanes(0.0));
    rests_ = {};
    is_ordinary_ = true;
    if (!WalkUp(weight) || !WalkDown(weight) || IsLost(start)) return false;
    node->values.start = start;
    node->values.exponent = exponent_;
    return MakeSeries(node);
  }

 private:
  using Lanes = Pack<8>;
  enum Part { kValue, kTangent, kSize, kNext, kNumParts };

  // Bounds on the terms of F, on those of the function that gives its slope,
  // and on the tangents of the terms of F.
  struct Bounds {
    double value = 0.0;
    double next = 0.0;
    double tangent = 0.0;
  };

  static bool IsStill(const Model<Dual<double>>& model) {
    return model.growth[0] == 0.0 && model.initial_size.tangent == 0.0 &&
           model.exit_size.tangent == 0.0 && model.prob_zero.tangent == 0.0;
  }

  bool has(int part) const {
    if (part == kNext) return has_next_;
    return part == kValue || !is_still_;
  }
  const Model<Dual<double>>& model() const { return channels_.model(); }
  const ChannelBlock<Dual<double>>& BlockAt(int64_t b) const {
    return *channels_.Find(b);
  }

  bool Reserve(int64_t block) {
    constexpr int64_t kMostBlocks = 1 << 13;  // of four KiB each
    if (block >= kMostBlocks) return false;
    for (int part = 0; part < kNumParts; ++part) {
      if (has(part) && !parts_[part].Reserve(block)) return false;
    }
    return true;
  }

  bool WalkUp(Scaled<double> weight) {
    for (int64_t b = first_block_; weight.mantissa != 0.0; ++b) {
      if (!Reserve(b + kNodeBlocks)) return false;
      if (b > first_block_) {
        const Scaled<double> tail =
            walk_.TailBound(static_cast<double>(b * kBlock), weight);
        if (AreNegligible(tail, BoundsFrom(b, 0), BlockAt(b).exponent)) {
          AddToRests(tail, b, 0);
          break;
        }
      }
      last_block_ = b;
      weight = Include(b, weight);
      if (!is_ordinary_) return false;
    }
    return true;
  }

  bool WalkDown(Scaled<double> weight) {
    for (int64_t b = first_block_; b > 0; --b) {
      const Scaled<double> head =
          walk_.HeadBound(static_cast<double>(b * kBlock), weight);
      // Terms f_{k+j} with k before block b and j < 48 are in blocks up to b +
      // 2.
      const Scaled<double>& largest = BlockAt(b + kNodeBlocks - 1).largest;
      const Bounds bounds = {largest.mantissa, largest.mantissa,
                             largest.mantissa};
      if (AreNegligible(head, bounds, largest.exponent)) {
        AddToRests(head, kNodeBlocks, b);
        break;
      }
      weight = walk_.Down(*BlockAt(b - 1).poisson, weight);
      Include(b - 1, weight);
      if (!is_ordinary_) return false;
    }
    return true;
  }

  Scaled<double> Include(int64_t b, const Scaled<double>& weight) {
    return IncludeWeights(
        b, *BlockAt(b).poisson, weight, &walk_, &is_ordinary_,
        [&](const double* weights) {
          double scales[kNodeBlocks + 1];
          for (int i = 0; i <= kNodeBlocks; ++i) {
            const int64_t shift = BlockAt(b + i).exponent - exponent_;
            if (shift < -kNodeRange || shift > kNodeRange) is_ordinary_ = false;
            scales[i] = PowerOfTwo(shift);
          }
          for (int part = 0; part < kNumParts; ++part) {
            if (has(part)) parts_[part].Add(b, weights, scales, sums_[part]);
          }
          const double sum =
              (Lanes::Load(weights) + Lanes::Load(weights + 8)).Total();
          AddToRests({sum, 0}, b + kNodeBlocks, 0);
        });
  }

  // Returns bounds on the terms from block b on, relative to its exponent. The
  // bound on tangents holds for `num_blocks` blocks and some more. A step adds
  // at most the effect of P's tangents on the whole mass, and fewer than 1,000
  // more steps have any weight.
  Bounds BoundsFrom(int64_t b, int64_t num_blocks) const {
    constexpr double kMore = 0x1p10;
    const ChannelBlock<Dual<double>>& block = BlockAt(b);
    const Block<Dual<double>>& source = *channels_.sequence().Find(b);
    const bool is_cdf = channels_.base() == Base::kCdf;
    // Without mass all terms are zero, unless they were flushed to zero.
    const bool is_empty =
        source.mass == 0.0 && !channels_.UnderflowedBefore(b + 1);
    const double least = is_empty ? 0.0 : 0x1p-1022;
    const auto relative = [&](double x, int64_t exponent) {
      return ScaleBy(x, exponent - block.exponent);
    };
    Bounds bounds;
    if (is_cdf || !is_empty) {
      bounds.value = relative(block.tail.caps[0], block.tail.exponent);
    }
    if (has_next_ && !is_empty) {
      bounds.next = relative(block.tail.caps[1], block.tail.exponent);
    }
    if (is_still_) return bounds;
    const double steps = static_cast<double>(num_blocks * kBlock) + kMore;
    const double mass = source.mass + least;
    const double tangents =
        source.tangent_mass + steps * model().growth[0] * mass;
    const double exits =
        tangents * model().exit_size.value + mass * model().exit_size.tangent;
    switch (channels_.base()) {
      case Base::kDensity:
        bounds.tangent = exits;
        break;
      case Base::kSurvival:
        bounds.tangent = tangents;
        break;
      case Base::kCdf:
        bounds.tangent = steps / model().q * exits;
        break;
    }
    bounds.tangent = relative(bounds.tangent, source.exponent) + least;
    if (is_cdf) {
      bounds.tangent +=
          std::fabs(block.channels[0][0].tangent / block.poisson->table[0]);
    }
    return bounds;
  }

  bool AreNegligible(const Scaled<double>& weights, const Bounds& bounds,
                     int64_t exponent) const {
    const auto is_small = [&](double bound, int part) {
      const Scaled<double> size = Normalized(Scaled<double>{bound, exponent});
      return IsAtMost(
          {weights.mantissa * size.mantissa, weights.exponent + size.exponent},
          kNodeWindow, {sums_[part][0][0], exponent_});
    };
    return is_small(bounds.value, kValue) &&
           (is_still_ || is_small(bounds.tangent, kSize)) &&
           (!has_next_ || !model().absorbs || is_small(bounds.next, kNext));
  }

  // Adds `weights` times the bounds on all terms from block b on to the
  // truncation bounds: these weights contribute at most that to any sum with j
  // >= 48.
  void AddToRests(const Scaled<double>& weights, int64_t b,
                  int64_t num_blocks) {
    const double scale = ScaleBy(
        weights.mantissa, weights.exponent + BlockAt(b).exponent - exponent_);
    const Bounds bounds = BoundsFrom(b, num_blocks);
    rests_.value += scale * bounds.value;
    rests_.next += scale * bounds.next;
    rests_.tangent += scale * bounds.tangent;
  }

  // Returns whether underflow lost significant digits, as in node_series.h.
  bool IsLost(double start) const {
    const int64_t last = last_block_ + kNodeBlocks;
    if (start == 0.0) return channels_.UnderflowedBefore(last + 1);
    const auto is_ordinary = [](double size) {
      return size > PowerOfTwo(-kNodeRange) && size < PowerOfTwo(kNodeRange);
    };
    const double size = sums_[kValue][0][0];
    return !is_ordinary(size) ||
           (!is_still_ && !is_ordinary(sums_[kSize][0][0])) ||
           channels_.LostToUnderflow(last, {0x1p-6 * size, exponent_}) ||
           (!is_still_ && !IsAtMost(channels_.Loss(last), -45,
                                    {0x1p-6 * sums_[kSize][0][0], exponent_}));
  }

  bool MakeSeries(TangentSeries* node) const {
    double c[kNodeChannels][kNodeTerms + 1] = {};
    Store(kValue, c[0]);
    const bool is_density = channels_.base() == Base::kDensity;
    double values[kNodeChannels][kNodeTerms];
    std::copy(c[0], c[0] + kNodeTerms, values[0]);
    if (is_density) {
      std::copy(c[0] + 1, c[0] + kNodeTerms + 1, values[1]);
    } else if (has_next_) {
      Store(kNext, values[1]);
    }
    const double rests[] = {rests_.value,
                            is_density ? rests_.value : rests_.next};
    if (!MakePolynomials(values, rests, moves_ ? 2 : 1, is_density,
                         model().absorbs, &node->values)) {
      return false;
    }
    if (is_density && moves_) {
      // The coefficients of the slope itself are stored, since combining two
      // polynomials later would round twice.
      for (int j = 0; j < kNodeTerms; ++j) {
        node->values.terms[1][j] =
            (values[1][j] - values[0][j]) * kNodePowers.inverse_factorials[j];
      }
    }
    if (is_still_) return true;
    double sizes[kNodeChannels][kNodeTerms];
    Store(kSize, sizes[0]);
    NodeSeries size;
    if (!MakePolynomials(sizes, &rests_.tangent, 1, false, true, &size)) {
      return false;
    }
    node->values.num_terms = std::max(node->values.num_terms, size.num_terms);
    std::copy(size.terms[0], size.terms[0] + kNodeTerms, node->sizes);
    Store(kTangent, node->tangents);
    for (int j = 0; j < kNodeTerms; ++j) {
      node->tangents[j] *= kNodePowers.inverse_factorials[j];
    }
    return true;
  }

  void Store(int part, double* terms) const {
    for (int i = 0; i < kNodePacks; ++i) sums_[part][i].Store(terms + 8 * i);
  }

  Channels<Dual<double>>& channels_;
  const bool has_next_;
  const bool moves_;
  const bool is_still_;
  NodeTerms<ChannelTerms> parts_[kNumParts];
  PoissonWalk walk_ = PoissonWalk(0.0);
  Lanes sums_[kNumParts][kNodePacks];
  Bounds rests_;
  int64_t exponent_ = 0;
  int64_t first_block_ = 0;
  int64_t last_block_ = 0;
  bool is_ordinary_ = true;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_TANGENT_SERIES_H_
