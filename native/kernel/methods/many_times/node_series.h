// A power series of F about an expansion point x_0, for many times in x_0 <= x
// < x_0 + 4:
//
//   F(x_0 + d) = exp(-d) sum_j d^j / j! c_j,  c_j = sum_k w_k(x_0) f_{k+j},
//
// where f_k are the terms of F's Poisson mixture. It holds because Poisson
// weights of a sum are w_k(x_0 + d) = sum_j w_j(d) w_{k-j}(x_0). All c_j are
// nonnegative, so that nothing cancels. Those of the density are sums of a_k.
// Those of the survival function follow from the last one by addition, as b_k =
// b_{k+1} + a_k / q; those of the cdf from the first one, as A_{k+1} = A_k +
// a_k / q. So the density and the survival function share their sums.
//
// With dual numbers there is also the series of the tangents df_k. They have
// both signs: truncation errors are small relative to the sums of the absolute
// values |df_k|, as in mixture.h, so that these sums are computed as well.
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

// Computes series about one expansion point at a time. T is double or
// Dual<double>.
template <class T>
class SeriesBuilder {
 public:
  // `exits` are the terms of the density. `masses` are those of the survival
  // function or of the cdf; nullptr for the density alone. If `has_slope`, the
  // series of the derivative in x is computed as well.
  SeriesBuilder(Channels<T>* exits, Channels<T>* masses, bool has_slope,
                Workspace* workspace)
      : exits_(*exits),
        masses_(masses),
        is_cdf_(masses != nullptr && masses->base() == Base::kCdf),
        has_slope_(has_slope),
        is_still_(IsStill(exits->model())),
        parts_{{exits, TermPart::kValue, workspace},
               {&tangents(), TermPart::kTangent, workspace},
               {&tangents(), TermPart::kTangentSize, workspace}} {}

  // Returns whether the terms have no tangents. Then theirs are not computed.
  bool is_still() const { return is_still_; }

  // Computes the series of the function `base` about `start`; returns whether
  // it could be computed. This is fast if the last call had the same start.
  bool Build(Base base, double start, NodeSeries* node) {
    if (start != start_) {
      start_ = start;
      is_built_ = BuildSums();
    }
    return is_built_ && MakeSeries(base, node);
  }

  // The functions that WalkWindow calls. Where numbers are too large or small,
  // it ends at once.
  StatusCode Reserve(int64_t b) {
    return Makes(b + kNodeBlocks) ? kOk : kMemoryLimit;
  }
  const PoissonTable& Table(int64_t b) const {
    return *exits_.Find(b)->poisson;
  }

  StatusCode EndsAt(int64_t b, const Scaled<double>& weight,
                    const PoissonWalk& walk, bool* ends) {
    const StatusCode status = Reserve(b);
    if (status != kOk) return status;
    const Scaled<double> tail = walk.TailBound(b, weight);
    *ends = !is_ordinary_;
    const Bounds bounds = BoundsFrom(b, 0);
    if (AreNegligible(tail, bounds)) {
      AddToRests(tail, bounds);
      *ends = true;
    }
    return kOk;
  }

  bool EndsBefore(int64_t b, const Scaled<double>& weight,
                  const PoissonWalk& walk) {
    const Scaled<double> head = walk.HeadBound(b, weight);
    // Terms f_{k+j} with k before block b and j < 48 are in blocks up to b + 2.
    const int64_t last = b + kNodeBlocks - 1;
    const Bounds bounds = {
        is_cdf_ ? masses_->Find(last)->largest
                : Scaled<double>{SourceAt(0).mass, SourceAt(0).exponent},
        exits_.Find(last)->largest, tangents().Find(last)->largest};
    if (!AreNegligible(head, bounds)) return !is_ordinary_;
    AddToRests(head, BoundsFrom(kNodeBlocks, b));
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
  enum Part { kExits, kTangent, kSize, kNumParts };

  // Bounds on the terms b_k or A_k, on a_k, and on the tangents of the terms.
  struct Bounds {
    Scaled<double> mass;
    Scaled<double> exits;
    Scaled<double> tangent;
  };

  static bool IsStill(const Model<T>& model) {
    return !kHasTangents ||
           (model.growth[0] == 0.0 && Top(model.initial_size) == 0.0 &&
            Top(model.exit_size) == 0.0 && Top(model.prob_zero) == 0.0);
  }

  bool has(int part) const { return part == kExits || !is_still_; }
  const Model<T>& model() const { return exits_.model(); }
  const Block<T>& SourceAt(int64_t b) const {
    return *exits_.sequence().Find(b);
  }
  // The terms whose tangents are summed.
  Channels<T>& tangents() const {
    return masses_ != nullptr ? *masses_ : exits_;
  }

  bool BuildSums() {
    int64_t first_block = 0;
    const Scaled<double> weight = StartWeight(start_, &first_block);
    if (!Makes(first_block + kNodeBlocks)) return false;
    exponent_ = tangents().Find(first_block)->exponent;
    for (auto& sums : sums_) std::fill(sums, sums + kNodePacks, Lanes(0.0));
    end_sum_ = mass_floor_ = 0.0;
    mass_rest_ = exit_rest_ = tangent_rest_ = 0.0;
    is_ordinary_ = true;
    last_block_ = first_block;
    PoissonWalk walk(start_);
    return WalkWindow(first_block, weight, &walk, this) == kOk && is_ordinary_;
  }

  bool Makes(int64_t block) {
    constexpr int64_t kMostBlocks = 1 << (kHasTangents ? 13 : 16);
    if (block >= kMostBlocks) return false;
    StatusCode status = kOk;
    if (tangents().Get(block, &status) == nullptr) return false;
    for (int part = 0; part < kNumParts; ++part) {
      if (has(part) && !parts_[part].Reserve(block)) return false;
    }
    return true;
  }

  // Returns 2^exponent relative to the sums; clears is_ordinary_ if they differ
  // much.
  double ScaleOf(int64_t exponent) {
    const int64_t shift = exponent - exponent_;
    if (shift < -kNodeRange || shift > kNodeRange) is_ordinary_ = false;
    return PowerOfTwo(shift);
  }

  // Adds the terms of block b and later ones, times the weights of block b.
  void AddBlock(int64_t b, const double* weights) {
    for (int part = 0; part < kNumParts; ++part) {
      if (!has(part)) continue;
      double scales[kNodeBlocks + 1];
      for (int i = 0; i <= kNodeBlocks; ++i) {
        scales[i] = ScaleOf(parts_[part].ExponentOf(b + i));
      }
      parts_[part].Add(b, weights, scales, sums_[part]);
    }
    const double sum =
        (Lanes::Load(weights) + Lanes::Load(weights + 8)).Total();
    AddToRests({sum, 0}, BoundsFrom(b + kNodeBlocks, 0));
    if (!is_cdf_) {
      const Block<T>& next = SourceAt(b + 1);
      mass_floor_ += sum * (ScaleOf(next.exponent) * next.mass);
    }
    if (masses_ == nullptr) return;
    double terms[kBlock];
    if (is_cdf_) {
      const ChannelBlock<T>& block = *masses_->Find(b);
      for (int j = 0; j < kBlock; ++j) {
        terms[j] = Primal(block.channels[0][j]) / block.poisson->table[j];
      }
      end_sum_ += ScaleOf(block.exponent) * Product(weights, terms);
    } else {
      const Block<T>& block = SourceAt(b + kNodeBlocks);
      for (int j = 0; j < kBlock; ++j) terms[j] = Primal(block.b[j]);
      end_sum_ += ScaleOf(block.exponent) * Product(weights, terms);
    }
  }

  static double Product(const double* weights, const double* terms) {
    Lanes result = Lanes::Load(weights) * Lanes::Load(terms);
    result.AddProduct(Lanes::Load(weights + 8), Lanes::Load(terms + 8));
    return result.Total();
  }

  // Returns bounds on the terms from block b on. The bound on tangents holds
  // for `num_blocks` blocks and some more. A step adds at most the effect of
  // P's tangents on the whole mass, and fewer than 1,000 more steps have any
  // weight.
  Bounds BoundsFrom(int64_t b, int64_t num_blocks) const {
    constexpr double kMore = 0x1p10;
    const Block<T>& source = SourceAt(b);
    // Without mass there are no terms but A_k, unless they were flushed to
    // zero.
    const bool is_empty =
        source.mass == 0.0 && !tangents().UnderflowedBefore(b + 1);
    const double least = is_empty ? 0.0 : 0x1p-1022;
    const double mass = source.mass + least;
    const auto cap_of = [b](const Channels<T>& of) {
      const ChannelBlock<T>& block = *of.Find(b);
      return Scaled<double>{block.tail.caps[0], block.tail.exponent};
    };
    Bounds bounds;
    bounds.mass =
        is_cdf_ ? cap_of(*masses_) : Scaled<double>{mass, source.exponent};
    if (!is_empty) bounds.exits = cap_of(exits_);
    if (is_still_) return bounds;
    const double steps = static_cast<double>(num_blocks * kBlock) + kMore;
    const double tangents_of_mass =
        source.tangent_mass + steps * model().growth[0] * mass;
    const double exits = tangents_of_mass * Primal(model().exit_size) +
                         mass * Top(model().exit_size);
    double tangent = masses_ == nullptr ? exits : tangents_of_mass;
    if (is_cdf_) tangent = steps / model().q * exits;
    bounds.tangent = {tangent + least, source.exponent};
    if (is_cdf_) {
      const ChannelBlock<T>& block = *masses_->Find(b);
      Add(&bounds.tangent, Scaled<double>{std::fabs(Top(block.channels[0][0]) /
                                                    block.poisson->table[0]),
                                          block.exponent});
    }
    return bounds;
  }

  // Returns whether terms with these weights may be left out of the sums.
  // Windows do not depend on which functions are requested.
  bool AreNegligible(const Scaled<double>& weights,
                     const Bounds& bounds) const {
    const auto is_small = [&](const Scaled<double>& bound, double sum) {
      const Scaled<double> size = Normalized(bound);
      return IsAtMost(
          {weights.mantissa * size.mantissa, weights.exponent + size.exponent},
          kNodeWindow, {sum, exponent_});
    };
    const bool exits_matter = model().absorbs && (!is_cdf_ || has_slope_);
    return is_small(bounds.mass, is_cdf_ ? end_sum_ : mass_floor_) &&
           (!exits_matter || is_small(bounds.exits, sums_[kExits][0][0])) &&
           (is_still_ || is_small(bounds.tangent, sums_[kSize][0][0]));
  }

  // Adds `weights` times the bounds to the truncation bounds: these weights
  // contribute at most that to any sum with j >= 48.
  void AddToRests(const Scaled<double>& weights, const Bounds& bounds) {
    const auto product = [&](const Scaled<double>& bound) {
      return ScaleBy(weights.mantissa * bound.mantissa,
                     weights.exponent + bound.exponent - exponent_);
    };
    mass_rest_ += product(bounds.mass);
    exit_rest_ += product(bounds.exits);
    if (!is_still_) tangent_rest_ += product(bounds.tangent);
  }

  // Returns whether underflow lost significant digits of F, which is about
  // `size`. F is at least c_0 exp(-4), except for x_0 = 0, where it may have
  // any size.
  bool IsLost(Base base, double size) const {
    Channels<T>& own = base == Base::kDensity ? exits_ : *masses_;
    const int64_t last = last_block_ + kNodeBlocks;
    if (start_ == 0.0) return own.UnderflowedBefore(last + 1);
    const auto is_ordinary = [](double size) {
      return size > PowerOfTwo(-kNodeRange) && size < PowerOfTwo(kNodeRange);
    };
    return !is_ordinary(size) ||
           (!is_still_ && !is_ordinary(sums_[kSize][0][0])) ||
           own.LostToUnderflow(last, {0x1p-6 * size, exponent_}) ||
           (!is_still_ && !IsAtMost(own.Loss(last), -45,
                                    {0x1p-6 * sums_[kSize][0][0], exponent_}));
  }

  // Writes the c_j of F and those of the function that gives its slope.
  void FillSeries(Base base, double (*c)[kNodeTerms]) const {
    double exits[kNodeTerms + 1];
    const double factor = base == Base::kDensity ? 1.0 : 1.0 / model().q;
    for (int i = 0; i < kNodePacks; ++i) {
      (factor * sums_[kExits][i]).Store(exits + 8 * i);
    }
    exits[kNodeTerms] = 0.0;
    if (base == Base::kDensity) {
      std::copy(exits, exits + kNodeTerms, c[0]);
      std::copy(exits + 1, exits + kNodeTerms + 1, c[1]);
      return;
    }
    std::copy(exits, exits + kNodeTerms, c[1]);
    double sum = end_sum_;
    for (int n = 0; n < kNodeTerms; ++n) {
      const int j = is_cdf_ ? n : kNodeTerms - 1 - n;
      if (is_cdf_) c[0][j] = sum;
      sum += exits[j];
      if (!is_cdf_) c[0][j] = sum;
    }
  }

  bool MakeSeries(Base base, NodeSeries* node) const {
    double values[kNodeChannels][kNodeTerms];
    FillSeries(base, values);
    const bool is_density = base == Base::kDensity;
    const double rests[] = {is_density ? exit_rest_ : mass_rest_,
                            is_density ? exit_rest_ : exit_rest_ / model().q};
    if (IsLost(base, values[0][0]) ||
        !MakePolynomials(values, rests, has_slope_ ? 2 : 1, is_density,
                         model().absorbs, node)) {
      return false;
    }
    node->start = start_;
    node->exponent = exponent_;
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
    if (!MakePolynomials(sizes, &tangent_rest_, 1, false, true, &size)) {
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

  Channels<T>& exits_;
  Channels<T>* const masses_;
  const bool is_cdf_;
  const bool has_slope_;
  const bool is_still_;
  NodeTerms<T> parts_[kNumParts];
  double start_ = -1.0;
  bool is_built_ = false;
  Lanes sums_[kNumParts][kNodePacks];
  double end_sum_ = 0.0;     // sum of w_k b_{k+48}, or of w_k A_k
  double mass_floor_ = 0.0;  // a lower bound on the sum of w_k b_k
  double mass_rest_ = 0.0;
  double exit_rest_ = 0.0;
  double tangent_rest_ = 0.0;
  int64_t exponent_ = 0;
  int64_t last_block_ = 0;
  bool is_ordinary_ = true;
};

// The builders of a call. Without tangents the density and the survival
// function have the same one.
template <class T>
class SeriesBuilders {
 public:
  SeriesBuilders(const SweepInput& in, ChannelSets<T>* sets, bool has_slope,
                 Workspace* workspace)
      : builders_{
            {sets->Of(Base::kDensity),
             kShares && HasBase(in, Base::kSurvival) ? sets->Of(Base::kSurvival)
                                                     : nullptr,
             has_slope, workspace},
            {sets->Of(Base::kDensity), sets->Of(Base::kSurvival), has_slope,
             workspace},
            {sets->Of(Base::kDensity), sets->Of(Base::kCdf), has_slope,
             workspace}} {}

  SeriesBuilder<T>& Of(Base base) {
    const bool is_shared = kShares && base == Base::kSurvival;
    return builders_[static_cast<int>(is_shared ? Base::kDensity : base)];
  }

 private:
  static constexpr bool kShares = Depth<T>::kValue == 0;
  SeriesBuilder<T> builders_[kNumBases];
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_NODE_SERIES_H_
