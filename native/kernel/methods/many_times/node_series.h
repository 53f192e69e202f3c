// A positive power series of F about an expansion point x_0, for many times in
// x_0 <= x < x_0 + 4:
//
//   F(x_0 + d) = exp(-d) sum_j d^j / j! c_j,  c_j = sum_k w_k(x_0) f_{k+j},
//
// where f_k are the terms of F's Poisson mixture. It holds because Poisson
// weights of a sum are w_k(x_0 + d) = sum_j w_j(d) w_{k-j}(x_0). All c_j are
// nonnegative, so that nothing cancels. The c_j of the density are sums of a_k.
// The c_j of the survival function follow from the last one by addition, as
// b_k = b_{k+1} + a_k / q; the c_j of the cdf follow from the first one, as
// A_{k+1} = A_k + a_k / q.
//
// Truncation errors are bounded rigorously. d^j / d^i grows with d for j > i,
// so that terms that are negligible at d = 4 are negligible in the whole
// interval; for windows over k see node_weights.h. If a bound fails, or a
// number is near overflow or underflow, there is no series, and each time is
// evaluated separately.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_NODE_SERIES_H_
#define PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_NODE_SERIES_H_

#include <algorithm>
#include <cstdint>

#include "native/kernel/methods/many_times/node_polynomial.h"
#include "native/kernel/methods/many_times/node_terms.h"
#include "native/kernel/methods/many_times/node_weights.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/simd/pack.h"
#include "native/kernel/uniformization/channels.h"
#include "native/kernel/uniformization/poisson.h"

namespace phasic {
namespace PHASIC_ISA {

// Computes series about expansion points, either for the density and the
// survival function together or for the cdf. The cdf is the complement of the
// survival function and has its own summation windows.
class NodeBuilder {
 public:
  // `channels` are the terms of the density or of the cdf. `survival` is null
  // if no time needs the survival function.
  NodeBuilder(Channels<double>* channels, Channels<double>* survival,
              NodeTerms<SequenceTerms>* terms)
      : channels_(*channels), survival_(survival), terms_(*terms) {}

  // Computes the series of F about `start`; returns whether it could be
  // computed.
  bool Build(Base base, double start, NodeSeries* node) {
    if (start != start_) {
      start_ = start;
      is_built_ = BuildSums(start);
    }
    Channels<double>* own = base == Base::kSurvival ? survival_ : &channels_;
    if (!is_built_) return false;
    double c[kNodeChannels][kNodeTerms];
    FillSeries(base, c);
    if (IsLost(own, c[0][0])) return false;
    node->start = start_;
    node->exponent = exponent_;
    const bool is_density = base == Base::kDensity;
    const double rests[] = {is_density ? exit_rest_ : mass_rest_,
                            is_density ? exit_rest_ : exit_rest_ / model().q};
    return MakePolynomials(c, rests, std::min(kNodeChannels, own->size()),
                           is_density, model().absorbs, node);
  }

 private:
  using Lanes = Pack<8>;

  bool is_cdf() const { return channels_.base() == Base::kCdf; }
  const Model<double>& model() const { return channels_.model(); }
  const ChannelBlock<double>& BlockAt(int64_t b) const {
    return *channels_.Find(b);
  }
  const Block<double>& SourceAt(int64_t b) const {
    return *channels_.sequence().Find(b);
  }

  bool BuildSums(double start) {
    walk_ = PoissonWalk(start);
    const Scaled<double> weight = StartWeight(start, &first_block_);
    if (!Reserve(first_block_ + kNodeBlocks)) return false;
    exponent_ = BlockAt(first_block_).exponent;
    for (Lanes& sum : sums_) sum = Lanes(0.0);
    end_sum_ = mass_floor_ = mass_rest_ = exit_rest_ = 0.0;
    is_ordinary_ = true;
    return WalkUp(weight) && WalkDown(weight);
  }

  bool Reserve(int64_t block) {
    StatusCode status = kOk;
    return channels_.Get(block, &status) != nullptr &&
           (survival_ == nullptr ||
            survival_->Get(block, &status) != nullptr) &&
           terms_.Reserve(block);
  }

  bool WalkUp(Scaled<double> weight) {
    for (int64_t b = first_block_; weight.mantissa != 0.0; ++b) {
      if (!Reserve(b + kNodeBlocks)) return false;
      if (b > first_block_) {
        const Scaled<double> tail =
            walk_.TailBound(static_cast<double>(b * kBlock), weight);
        const int64_t exponent = tail.exponent + BlockAt(b).exponent;
        if (AreNegligible({tail.mantissa * MassCap(b), exponent},
                          {tail.mantissa * ExitCap(b), exponent})) {
          AddToRests(tail, b);
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
      const Scaled<double> largest_mass =
          is_cdf() ? largest
                   : Scaled<double>{SourceAt(0).mass, SourceAt(0).exponent};
      const double of_exits = is_cdf() ? model().q : 1.0;
      if (AreNegligible({head.mantissa * largest_mass.mantissa,
                         head.exponent + largest_mass.exponent},
                        {head.mantissa * largest.mantissa * of_exits,
                         head.exponent + largest.exponent})) {
        AddToRests(head, kNodeBlocks);
        break;
      }
      weight = walk_.Down(*BlockAt(b - 1).poisson, weight);
      Include(b - 1, weight);
      if (!is_ordinary_) return false;
    }
    return true;
  }

  double TailCap(int64_t b, int r) const {
    const ChannelBlock<double>& block = BlockAt(b);
    return ScaleBy(block.tail.caps[r], block.tail.exponent - block.exponent);
  }
  // MassCap returns a bound on b_k or A_k, and ExitCap one on a_k, from block b
  // on, relative to the block's exponent.
  double MassCap(int64_t b) const {
    constexpr double kLeast = 0x1p-1022;  // keeps bounds positive
    return is_cdf() ? TailCap(b, 0) : SourceAt(b).mass + kLeast;
  }
  double ExitCap(int64_t b) const {
    return is_cdf() ? model().q * TailCap(b, 1) : TailCap(b, 0);
  }

  // Returns whether terms of these sizes may be omitted from the sums over b_k
  // or A_k (`mass`) and over a_k (`exits`). Windows do not depend on which
  // functions are requested.
  bool AreNegligible(const Scaled<double>& mass,
                     const Scaled<double>& exits) const {
    const double least = is_cdf() ? end_sum_ : mass_floor_;
    const bool exits_matter =
        model().absorbs && (!is_cdf() || channels_.size() > 1);
    return IsAtMost(mass, kNodeWindow, {least, exponent_}) &&
           (!exits_matter ||
            IsAtMost(exits, kNodeWindow, {sums_[0][0], exponent_}));
  }

  Scaled<double> Include(int64_t b, const Scaled<double>& weight) {
    return IncludeWeights(b, *BlockAt(b).poisson, weight, &walk_, &is_ordinary_,
                          [&](const double* weights) { AddBlock(b, weights); });
  }

  // Computes sums[j] += sum_k weights[k] f_{k+j} for the k of block b.
  void AddBlock(int64_t b, const double* weights) {
    double scales[kNodeBlocks + 1];
    for (int i = 0; i <= kNodeBlocks; ++i) {
      scales[i] = PowerOfTwo(Shift(SourceAt(b + i).exponent));
    }
    terms_.Add(b, weights, scales, sums_);
    const Lanes low = Lanes::Load(weights);
    const Lanes high = Lanes::Load(weights + 8);
    const double sum = (low + high).Total();
    AddToRests({sum, 0}, b + kNodeBlocks);
    mass_floor_ += sum * (scales[1] * SourceAt(b + 1).mass);
    const auto product = [&](const double* terms) {
      Lanes result = low * Lanes::Load(terms);
      result.AddProduct(high, Lanes::Load(terms + 8));
      return result.Total();
    };
    if (survival_ != nullptr && !is_cdf()) {
      end_sum_ += scales[kNodeBlocks] * product(SourceAt(b + kNodeBlocks).b);
    }
    if (!is_cdf()) return;
    const ChannelBlock<double>& block = BlockAt(b);
    double terms[kBlock];
    for (int j = 0; j < kBlock; ++j) {
      terms[j] = block.channels[0][j] / block.poisson->table[j];
    }
    end_sum_ += PowerOfTwo(Shift(block.exponent)) * product(terms);
  }

  // Returns an exponent relative to that of the sums; clears is_ordinary_ if
  // the difference is large.
  int64_t Shift(int64_t exponent) {
    const int64_t shift = exponent - exponent_;
    if (shift < -kNodeRange || shift > kNodeRange) is_ordinary_ = false;
    return shift;
  }

  // Adds `weights` times the bounds on all terms from block b on to the
  // truncation bounds: these weights contribute at most that to any c_j with j
  // >= 48.
  void AddToRests(const Scaled<double>& weights, int64_t b) {
    const double scale = ScaleBy(
        weights.mantissa, weights.exponent + BlockAt(b).exponent - exponent_);
    mass_rest_ += scale * MassCap(b);
    exit_rest_ += scale * ExitCap(b);
  }

  // Writes the c_j of F and, in channel 1, of the function that gives its
  // slope.
  void FillSeries(Base base, double (*c)[kNodeTerms]) const {
    double exits[kNodeTerms + 1];
    const double factor = base == Base::kDensity ? 1.0 : 1.0 / model().q;
    for (int i = 0; i < kNodePacks; ++i) {
      (factor * sums_[i]).Store(exits + 8 * i);
    }
    exits[kNodeTerms] = 0.0;
    if (base == Base::kDensity) {
      std::copy(exits, exits + kNodeTerms, c[0]);
      std::copy(exits + 1, exits + kNodeTerms + 1, c[1]);
      return;
    }
    std::copy(exits, exits + kNodeTerms, c[1]);
    double sum = end_sum_;
    if (base == Base::kSurvival) {
      for (int j = kNodeTerms - 1; j >= 0; --j) c[0][j] = sum += exits[j];
    } else {
      for (int j = 0; j < kNodeTerms; ++j) {
        c[0][j] = sum;
        sum += exits[j];
      }
    }
  }

  // Returns whether underflow lost significant digits of F, whose size is about
  // `size`. F is at least c_0 exp(-4), except for x_0 = 0, where it may have
  // any size.
  bool IsLost(Channels<double>* own, double size) const {
    const int64_t last = last_block_ + kNodeBlocks;
    if (start_ == 0.0) return own->UnderflowedBefore(last + 1);
    return !(size > PowerOfTwo(-kNodeRange) && size < PowerOfTwo(kNodeRange)) ||
           own->LostToUnderflow(last, {0x1p-6 * size, exponent_});
  }

  Channels<double>& channels_;
  Channels<double>* survival_;
  NodeTerms<SequenceTerms>& terms_;
  PoissonWalk walk_ = PoissonWalk(0.0);
  double start_ = -1.0;
  bool is_built_ = false;
  Lanes sums_[kNodePacks];   // sums of w_k a_{k+j}
  double end_sum_ = 0.0;     // sum of w_k b_{k+48}, or of w_k A_k
  double mass_floor_ = 0.0;  // a lower bound on the sum of w_k b_k
  double mass_rest_ = 0.0;
  double exit_rest_ = 0.0;
  int64_t exponent_ = 0;
  int64_t first_block_ = 0;
  int64_t last_block_ = 0;
  bool is_ordinary_ = true;
};

// The two builders of a call: one for the density and the survival function,
// one for the cdf.
class NodeBuilders {
 public:
  NodeBuilders(const SweepInput& in, ChannelSets<double>* sets,
               Workspace* workspace)
      : terms_(SequenceTerms(&sets->sequence()), workspace),
        open_(
            sets->Of(Base::kDensity),
            HasBase(in, Base::kSurvival) ? sets->Of(Base::kSurvival) : nullptr,
            &terms_),
        closed_(sets->Of(Base::kCdf), nullptr, &terms_) {}
  NodeBuilders(const NodeBuilders&) = delete;
  NodeBuilders& operator=(const NodeBuilders&) = delete;

  // Computes the series of F about `start`. This is fast if the previous call
  // had the same start.
  bool Build(Base base, double start, NodeSeries* node) {
    return (base == Base::kCdf ? closed_ : open_).Build(base, start, node);
  }

 private:
  NodeTerms<SequenceTerms> terms_;
  NodeBuilder open_;
  NodeBuilder closed_;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_NODE_SERIES_H_
