// A positive power series of F about one x_0, for many times in x_0 <= x <
// x_0 + 4:
//
//   F(x_0 + d) = exp(-d) sum_j d^j / j! c_j,  c_j = sum_k w_k(x_0)
//   channel_{k+j},
//
// since Poisson weights of a sum are w_k(x_0 + d) = sum_j w_j(d) w_{k-j}(x_0).
// All c_j are non-negative: nothing cancels.
//
// What is left out is bounded rigorously. d^j / d^i grows with d for j > i, so
// a rest that is negligible at d = 4 is so in all of the interval. F(x_0 + d)
// exp(d) is at least c_0, so windows over k may leave out 2^-66 c_0 from each
// c_j: exp(4) < 2^6 times that is the most that this changes. Where a bound
// fails, or a number comes near the ends of the range of doubles, there is no
// series, and each time is mixed by itself.

#ifndef PHASIC_NATIVE_KERNEL_NODE_SERIES_H_
#define PHASIC_NATIVE_KERNEL_NODE_SERIES_H_

#include <cstdint>

#include "native/kernel/block_list.h"
#include "native/kernel/channels.h"
#include "native/kernel/isa.h"
#include "native/kernel/pack.h"
#include "native/kernel/poisson.h"

namespace phasic {
namespace PHASIC_ISA {

constexpr double kNodeSpacing = 4.0;
constexpr int kNodeBlocks = 3;
constexpr int kNodeTerms = kNodeBlocks * kBlock;
constexpr int kNodeChannels = 2;  // of F, and of its slope

struct NodeSeries {
  double start;      // x_0
  int64_t exponent;  // of all terms
  int num_terms;
  double terms[kNodeChannels][kNodeTerms];  // c_j / j!, channel by channel
  double first;                             // c_0
  double last;                              // sum_j 4^j / j! c_j
};

// 4^j / j! and 1 / j!.
struct NodePowers {
  double at_end[kNodeTerms + 1];
  double inverse_factorials[kNodeTerms];

  constexpr NodePowers() : at_end(), inverse_factorials() {
    double power = 1.0;
    double inverse = 1.0;
    for (int j = 0; j < kNodeTerms; ++j) {
      at_end[j] = power;
      inverse_factorials[j] = inverse;
      power *= kNodeSpacing / (j + 1);
      inverse /= j + 1;
    }
    at_end[kNodeTerms] = power;
  }
};
inline constexpr NodePowers kNodePowers;

class NodeBuilder {
 public:
  NodeBuilder(Channels<double>* channels, Workspace* workspace)
      : channels_(*channels), blocks_(workspace) {}

  // Makes the series about `start`; whether there is one.
  bool Build(double start, NodeSeries* node) {
    walk_ = PoissonWalk(start);
    const Scaled<double> weight = StartWeight(start, &first_block_);
    if (!Reserve(first_block_ + kNodeBlocks)) return false;
    exponent_ = channels_.Find(first_block_)->exponent;
    for (int r = 0; r < channels_.size(); ++r) {
      for (Lanes& sum : sums_[r]) sum = Lanes(0.0);
      rests_[r] = 0.0;
    }
    is_ordinary_ = true;
    if (!WalkUp(weight) || !WalkDown(weight) || IsLost(start)) return false;
    node->start = start;
    node->exponent = exponent_;
    return Finish(node);
  }

 private:
  using Lanes = Pack<8>;
  static constexpr int kPacks = kNodeTerms / 8;
  static constexpr int64_t kWindow = -66;     // see above
  static constexpr double kRest = 0x1p-55;    // of F
  static constexpr int64_t kRange = 400;      // of exponents
  static constexpr int64_t kSmallest = -900;  // exponent of a weight

  // A block's channels without the Poisson table.
  struct TermBlock {
    double terms[kNodeChannels][kBlock];
  };

  bool Reserve(int64_t block) {
    StatusCode status = kOk;
    if (channels_.Get(block, &status) == nullptr) return false;
    while (blocks_.size() <= block) {
      const ChannelBlock<double>& source = *channels_.Find(blocks_.size());
      TermBlock* target = blocks_.Append();
      if (target == nullptr) return false;
      for (int r = 0; r < channels_.size(); ++r) {
        for (int j = 0; j < kBlock; ++j) {
          target->terms[r][j] =
              source.channels[r][j] / source.poisson->table[j];
        }
      }
    }
    return true;
  }

  bool WalkUp(Scaled<double> weight) {
    for (int64_t b = first_block_; weight.mantissa != 0.0; ++b) {
      if (!Reserve(b + kNodeBlocks)) return false;
      const ChannelBlock<double>& block = *channels_.Find(b);
      if (b > first_block_) {
        const Scaled<double> tail =
            walk_.TailBound(static_cast<double>(b * kBlock), weight);
        if (CanStop(tail, block)) {
          AddToRests(tail, block);
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
      // Shifted by fewer than 48 terms, those before block b end in b + 2.
      const Scaled<double>& largest =
          channels_.Find(b + kNodeBlocks - 1)->largest;
      if (IsNegligible({head.mantissa * largest.mantissa,
                        head.exponent + largest.exponent},
                       SlopeMatters())) {
        AddToRests(head, *channels_.Find(kNodeBlocks));
        break;
      }
      weight = walk_.Down(*channels_.Find(b - 1)->poisson, weight);
      Include(b - 1, weight);
      if (!is_ordinary_) return false;
    }
    return true;
  }

  // The slope of a survival function or cdf is a density: its terms have a
  // window of their own.
  bool SlopeMatters() const {
    return channels_.size() > 1 && channels_.model().absorbs &&
           channels_.base() != Base::kDensity;
  }

  bool IsNegligible(const Scaled<double>& left_out, bool of_slope) const {
    return IsAtMost(left_out, kWindow, {sums_[0][0][0], exponent_}) &&
           (!of_slope ||
            IsAtMost(left_out, kWindow, {sums_[1][0][0], exponent_}));
  }

  bool CanStop(const Scaled<double>& tail,
               const ChannelBlock<double>& block) const {
    const auto size = [&](int r) {
      return Scaled<double>{tail.mantissa * block.tail_caps[r],
                            tail.exponent + block.exponent};
    };
    return IsNegligible(size(0), false) &&
           (!SlopeMatters() ||
            IsAtMost(size(1), kWindow, {sums_[1][0][0], exponent_}));
  }

  Scaled<double> Include(int64_t b, const Scaled<double>& weight) {
    const PoissonTable& poisson = *channels_.Find(b)->poisson;
    return walk_.Up(b, poisson, weight,
                    [&](int first, int last, const Scaled<double>& scale,
                        const double* powers) {
                      if (scale.exponent < kSmallest) is_ordinary_ = false;
                      const double factor =
                          ScaleBy(scale.mantissa, scale.exponent);
                      double weights[kBlock] = {};
                      double sum = 0.0;
                      for (int j = first; j < last; ++j) {
                        weights[j] = factor * powers[j] * poisson.table[j];
                        sum += weights[j];
                      }
                      AddBlock(b, weights);
                      AddToRests({sum, 0}, *channels_.Find(b + kNodeBlocks));
                    });
  }

  // Adds weights[k] times the terms from k on.
  void AddBlock(int64_t b, const double* weights) {
    double terms[kNodeTerms + kBlock];
    double scales[kNodeBlocks + 1];
    for (int i = 0; i <= kNodeBlocks; ++i) scales[i] = Relative(b + i);
    for (int r = 0; r < channels_.size(); ++r) {
      for (int i = 0; i <= kNodeBlocks; ++i) {
        const double* source = blocks_[b + i].terms[r];
        for (int j = 0; j < kBlock; j += 8) {
          (scales[i] * Lanes::Load(source + j)).Store(terms + i * kBlock + j);
        }
      }
      Lanes sums[kPacks];
      for (int i = 0; i < kPacks; ++i) sums[i] = sums_[r][i];
      for (int k = 0; k < kBlock; ++k) {
        for (int i = 0; i < kPacks; ++i) {
          sums[i].AddProduct(weights[k], Lanes::Load(terms + k + 8 * i));
        }
      }
      for (int i = 0; i < kPacks; ++i) sums_[r][i] = sums[i];
    }
  }

  // 2^(exponent of the block - that of the node).
  double Relative(int64_t b) {
    const int64_t shift = channels_.Find(b)->exponent - exponent_;
    if (shift < -kRange || shift > kRange) is_ordinary_ = false;
    return PowerOfTwo(shift);
  }

  // Weights times a bound on all terms from the block on: what these weights
  // have in any c_j from j = 48 on.
  void AddToRests(const Scaled<double>& weights,
                  const ChannelBlock<double>& block) {
    const double scale = ScaleBy(weights.mantissa,
                                 weights.exponent + block.exponent - exponent_);
    for (int r = 0; r < channels_.size(); ++r) {
      rests_[r] += scale * block.tail_caps[r];
    }
  }

  // F is at least c_0 exp(-4), but for x_0 = 0, where it may be of any size.
  bool IsLost(double start) const {
    const int64_t last = last_block_ + kNodeBlocks;
    if (start == 0.0) return channels_.UnderflowedBefore(last + 1);
    const double size = sums_[0][0][0];
    return !(size > PowerOfTwo(-kRange) && size < PowerOfTwo(kRange)) ||
           channels_.LostToUnderflow(last, {0x1p-6 * size, exponent_});
  }

  // Chooses the number of terms, and divides by factorials.
  bool Finish(NodeSeries* node) const {
    constexpr double kTail = 1.0 / (1.0 - kNodeSpacing / kNodeTerms);
    int needed = 0;
    double sum[kNodeChannels] = {};
    double terms[kNodeChannels][kNodeTerms];
    for (int r = 0; r < channels_.size(); ++r) {
      for (int j = 0; j < kNodeTerms; ++j) {
        const double c = sums_[r][j / 8][j % 8];
        terms[r][j] = c * kNodePowers.at_end[j];
        sum[r] += terms[r][j];
        node->terms[r][j] = c * kNodePowers.inverse_factorials[j];
      }
    }
    for (int r = 0; r < channels_.size(); ++r) {
      if (r == 1 && !channels_.model().absorbs) continue;
      // A density's slope is a difference; its size is that of the two.
      const bool with_value = r == 1 && channels_.base() == Base::kDensity;
      const double size = sum[r] + (with_value ? sum[0] : 0.0);
      const double limit = kRest * 0.5 * size;
      double rest = kNodePowers.at_end[kNodeTerms] * kTail * rests_[r];
      if (!(rest <= limit && size < PowerOfTwo(kRange + 64))) return false;
      int count = kNodeTerms;
      while (count > 0 && rest + terms[r][count - 1] <= limit) {
        rest += terms[r][--count];
      }
      needed = count > needed ? count : needed;
    }
    node->num_terms = needed < 4 ? 4 : (needed + 3) / 4 * 4;
    node->first = sums_[0][0][0];
    node->last = sum[0];
    return true;
  }

  Channels<double>& channels_;
  BlockList<TermBlock> blocks_;
  PoissonWalk walk_ = PoissonWalk(0.0);
  Lanes sums_[kNodeChannels][kPacks];  // c_j
  double rests_[kNodeChannels];
  int64_t exponent_ = 0;
  int64_t first_block_ = 0;
  int64_t last_block_ = 0;
  bool is_ordinary_ = true;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_NODE_SERIES_H_
