// A power series of F about an expansion point x_0, for many times in x_0 <= x
// < x_0 + 4:
//
//   F(x_0 + d) = exp(-d) sum_j d^j / j! c_j,  c_j = sum_k w_k(x_0) f_{k+j},
//
// where f_k are the terms of F's Poisson mixture. It holds because Poisson
// weights of a sum are w_k(x_0 + d) = sum_j w_j(d) w_{k-j}(x_0). All c_j are
// nonnegative, so that nothing cancels. With dual numbers there is also the
// series of the tangents df_k. They have both signs: truncation errors are
// small relative to the sums of the absolute values |df_k|, as in mixture.h, so
// that these sums are computed as well.
//
// Truncation errors are bounded rigorously. d^j / d^i grows with d for j > i,
// so that terms that are negligible at d = 4 are negligible in the whole
// interval. F(x_0 + d) exp(d) is at least c_0, so that the windows over k may
// omit 2^-66 of c_0 from each sum: this changes F by at most exp(4) < 2^6 times
// as much. If a bound fails, or a number is near overflow or underflow, there
// is no series, and each time is evaluated separately.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_NODE_SERIES_H_
#define PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_NODE_SERIES_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "native/kernel/methods/many_times/node_polynomial.h"
#include "native/kernel/methods/many_times/node_terms.h"
#include "native/kernel/numbers/dual.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/simd/pack.h"
#include "native/kernel/uniformization/channels.h"
#include "native/kernel/uniformization/poisson.h"
#include "native/kernel/uniformization/window.h"

namespace phasic {
namespace PHASIC_ISA {

// Computes series about one expansion point at a time, for one function
// (density, survival or cdf). T is double or Dual<double>.
template <class T>
class SeriesBuilder {
 public:
  // If `has_slope`, the series of the derivative in x is computed as well.
  SeriesBuilder(Channels<T>* channels, bool has_slope, Workspace* workspace)
      : channels_(*channels),
        has_slope_(has_slope),
        has_next_(has_slope && channels->base() != Base::kDensity),
        is_still_(IsStill(channels->model())),
        parts_{{channels, 0, TermPart::kValue, workspace},
               {channels, 0, TermPart::kTangent, workspace},
               {channels, 0, TermPart::kTangentSize, workspace},
               {channels, 1, TermPart::kValue, workspace}} {}

  // Returns whether the terms have no tangents. Then theirs are not computed.
  bool is_still() const { return is_still_; }

  // Computes the series about `start`; returns whether it could be computed.
  bool Build(double start, NodeSeries* node) {
    int64_t first_block = 0;
    const Scaled<double> weight = StartWeight(start, &first_block);
    if (!Makes(first_block + kNodeBlocks)) return false;
    exponent_ = BlockAt(first_block).exponent;
    for (auto& sums : sums_) std::fill(sums, sums + kNodePacks, Lanes(0.0));
    rests_ = {};
    is_ordinary_ = true;
    last_block_ = first_block;
    PoissonWalk walk(start);
    if (WalkWindow(first_block, weight, &walk, this) != kOk || !is_ordinary_ ||
        IsLost(start)) {
      return false;
    }
    node->start = start;
    node->exponent = exponent_;
    return MakeSeries(node);
  }

  // The functions that WalkWindow calls. Where numbers are too large or small,
  // it ends at once.
  StatusCode Reserve(int64_t b) {
    return Makes(b + kNodeBlocks) ? kOk : kMemoryLimit;
  }
  const PoissonTable& Table(int64_t b) const { return *BlockAt(b).poisson; }

  StatusCode EndsAt(int64_t b, const Scaled<double>& weight,
                    const PoissonWalk& walk, bool* ends) {
    const StatusCode status = Reserve(b);
    if (status != kOk) return status;
    const Scaled<double> tail = walk.TailBound(b, weight);
    *ends = !is_ordinary_;
    if (AreNegligible(tail, BoundsFrom(b, 0), BlockAt(b).exponent)) {
      AddToRests(tail, b, 0);
      *ends = true;
    }
    return kOk;
  }

  bool EndsBefore(int64_t b, const Scaled<double>& weight,
                  const PoissonWalk& walk) {
    const Scaled<double> head = walk.HeadBound(b, weight);
    // Terms f_{k+j} with k before block b and j < 48 are in blocks up to b + 2.
    const Scaled<double>& largest = BlockAt(b + kNodeBlocks - 1).largest;
    const Bounds bounds = {largest.mantissa, largest.mantissa,
                           largest.mantissa};
    if (!AreNegligible(head, bounds, largest.exponent)) return !is_ordinary_;
    AddToRests(head, kNodeBlocks, b);
    return true;
  }

  Scaled<double> Include(int64_t b, const Scaled<double>& weight,
                         PoissonWalk* walk) {
    last_block_ = std::max(last_block_, b);
    return walk->Up(
        b, Table(b), weight,
        [&](int first, int last, const Scaled<double>& scale,
            const double* powers) {
          if (scale.exponent < kSmallestWeight) is_ordinary_ = false;
          const double factor = ScaleBy(scale.mantissa, scale.exponent);
          const double* table = Table(b).table;
          double weights[kBlock];
          for (int j = 0; j < kBlock; ++j) {
            const bool is_there = first <= j && j < last;
            weights[j] = is_there ? factor * (powers[j] * table[j]) : 0.0;
          }
          AddBlock(b, weights);
        });
  }

 private:
  using Lanes = Pack<8>;
  static constexpr bool kHasTangents = Depth<T>::kValue > 0;
  static constexpr int64_t kNodeWindow = -66;  // see above
  static constexpr int64_t kNodeRange = 400;  // largest difference of exponents
  static constexpr int64_t kSmallestWeight = -900;  // its exponent
  enum Part { kValue, kTangent, kSize, kNext, kNumParts };

  // Bounds on the terms of F, on those of the function that gives its slope,
  // and on the tangents of the terms of F.
  struct Bounds {
    double value = 0.0;
    double next = 0.0;
    double tangent = 0.0;
  };

  static bool IsStill(const Model<T>& model) {
    return !kHasTangents ||
           (model.growth[0] == 0.0 && Top(model.initial_size) == 0.0 &&
            Top(model.exit_size) == 0.0 && Top(model.prob_zero) == 0.0);
  }

  bool has(int part) const {
    if (part == kNext) return has_next_;
    return part == kValue || !is_still_;
  }
  const Model<T>& model() const { return channels_.model(); }
  const ChannelBlock<T>& BlockAt(int64_t b) const { return *channels_.Find(b); }

  bool Makes(int64_t block) {
    constexpr int64_t kMostBlocks = 1 << (kHasTangents ? 13 : 16);
    if (block >= kMostBlocks) return false;
    for (int part = 0; part < kNumParts; ++part) {
      if (has(part) && !parts_[part].Reserve(block)) return false;
    }
    return true;
  }

  // Adds the terms of block b and later ones, times the weights of block b.
  void AddBlock(int64_t b, const double* weights) {
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
  }

  // Returns bounds on the terms from block b on, relative to its exponent. The
  // bound on tangents holds for `num_blocks` blocks and some more. A step adds
  // at most the effect of P's tangents on the whole mass, and fewer than 1,000
  // more steps have any weight.
  Bounds BoundsFrom(int64_t b, int64_t num_blocks) const {
    constexpr double kMore = 0x1p10;
    const ChannelBlock<T>& block = BlockAt(b);
    const Block<T>& source = *channels_.sequence().Find(b);
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
        tangents * Primal(model().exit_size) + mass * Top(model().exit_size);
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
          std::fabs(Top(block.channels[0][0]) / block.poisson->table[0]);
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

  // Returns whether underflow lost significant digits of F. F is at least c_0
  // exp(-4), except for x_0 = 0, where it may have any size.
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

  bool MakeSeries(NodeSeries* node) const {
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
    if (!MakePolynomials(values, rests, has_slope_ ? 2 : 1, is_density,
                         model().absorbs, node)) {
      return false;
    }
    if (is_density && has_slope_) {
      // The coefficients of the slope itself are stored, since combining two
      // polynomials later would round twice.
      for (int j = 0; j < kNodeTerms; ++j) {
        node->terms[1][j] =
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
    node->num_terms = std::max(node->num_terms, size.num_terms);
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

  Channels<T>& channels_;
  const bool has_slope_;
  const bool has_next_;
  const bool is_still_;
  NodeTerms<T> parts_[kNumParts];
  Lanes sums_[kNumParts][kNodePacks];
  Bounds rests_;
  int64_t exponent_ = 0;
  int64_t last_block_ = 0;
  bool is_ordinary_ = true;
};

// The builders of a call, one for each function.
template <class T>
class SeriesBuilders {
 public:
  SeriesBuilders(ChannelSets<T>* sets, bool has_slope, Workspace* workspace)
      : builders_{{sets->Of(Base::kDensity), has_slope, workspace},
                  {sets->Of(Base::kSurvival), has_slope, workspace},
                  {sets->Of(Base::kCdf), has_slope, workspace}} {}

  SeriesBuilder<T>& Of(Kind kind) {
    return builders_[static_cast<int>(BaseOf(kind))];
  }

 private:
  SeriesBuilder<T> builders_[kNumBases];
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_NODE_SERIES_H_
