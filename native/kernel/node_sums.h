// The transposed mixture for groups of times that share a node. The adjoint of
// c_j(x_0) is the sum over times of that of F times exp(-d) d^j / j!; those of
// the channels are abar_{k+j} += w_k(x_0) cbar_j.

#ifndef PHASIC_NATIVE_KERNEL_NODE_SUMS_H_
#define PHASIC_NATIVE_KERNEL_NODE_SUMS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "native/kernel/channels.h"
#include "native/kernel/isa.h"
#include "native/kernel/node_lanes.h"
#include "native/kernel/node_rests.h"
#include "native/kernel/node_seeds.h"
#include "native/kernel/pack.h"
#include "native/kernel/pack_math.h"
#include "native/kernel/points.h"
#include "native/kernel/poisson.h"
#include "native/kernel/term_sums.h"

namespace phasic {
namespace PHASIC_ISA {

// Adds one group's part to the sums of its kind of function.
class NodeSums {
 public:
  NodeSums(const SweepInput& in, const Sequence<double>& sequence,
           const NodeSeed& seed, int64_t margin, TermSums<double>* sums)
      : in_(in),
        sequence_(sequence),
        seed_(seed),
        margin_(margin),
        sums_(*sums),
        model_(sequence.model()) {}

  StatusCode Add() {
    const bool small = margin_ == kFinalMargin || !ChooseSize() || !FindEnd();
    if (small) return AddOneByOne();
    SumPowers();
    return Distribute();
  }

 private:
  using Lanes = Pack<8>;
  int64_t log2_bound() const {
    return BaseOf(seed_.kind) == Base::kDensity ? model_.log2_q : 0;
  }
  // The adjoints of c_j are relative to 2^this.
  int64_t exponent() const { return IsLog(seed_.kind) ? -seed_.exponent : 0; }
  // A bound on the sum of the adjoints' sizes.
  double seed_size() const { return 0x1p6 * seed_.bar_size; }
  double end() const { return seed_.start + kNodeSpacing; }

  // Chooses J; whether there is one. With as many terms as F has, what is left
  // out grows faster than F with d.
  bool ChooseSize() {
    log2_value_ = std::log2(seed_.last) - kNodeSpacing * kLog2E +
                  static_cast<double>(seed_.exponent);
    const double most =
        log2_value_ - static_cast<double>(margin_ + log2_bound());
    for (size_ = (seed_.num_terms + 7) / 8 * 8; size_ <= kMaxNodeSums;
         size_ += 8) {
      log2_rest_ = NodeRests::Get().Log2(size_, end());
      if (log2_rest_ + std::log2(end() + size_ + 1.0) <= most) return true;
    }
    return false;
  }

  // Finds the block before which windows over k end; whether the blocks that
  // are needed can be had.
  bool FindEnd() {
    PoissonWalk walk(seed_.start);
    Scaled<double> weight = StartWeight(seed_.start, &first_block_);
    end_block_ = first_block_;
    rest_ = Scaled<double>{};
    const Scaled<double> value = {0x1p-6 * seed_.first, seed_.exponent};
    while (weight.mantissa != 0.0) {
      if (end_block_ + kMaxNodeSums / kBlock >= sequence_.max_blocks()) {
        return false;
      }
      weight = walk.Up(end_block_, PoissonTableOf(end_block_), weight,
                       [](int, int, const Scaled<double>&, const double*) {});
      const double k = static_cast<double>(++end_block_ * kBlock);
      rest_ = walk.TailBound(k, weight);
      if (IsAtMost({rest_.mantissa * 2.0 * (k + size_ + 1.0),
                    rest_.exponent + log2_bound()},
                   -margin_, value)) {
        break;
      }
    }
    return true;
  }

  // cbar_j.
  void SumPowers() {
    Lanes sums[kMaxNodeSums];
    for (int j = 0; j < size_; ++j) sums[j] = Lanes(0.0);
    for (int64_t n = 0; n < seed_.count; n += kNodeLanes) {
      Lanes distances[NodePack::kParts];
      Lanes powers[NodePack::kParts];
      Lanes squares[NodePack::kParts];
      for (int i = 0; i < NodePack::kParts; ++i) {
        distances[i] = Load(seed_.distances, n + 8 * i);
        powers[i] = Load(seed_.bars, n + 8 * i);
        squares[i] = distances[i] * distances[i];
      }
      for (int j = 0; j < size_; j += 2) {
        Lanes even = sums[j];
        Lanes odd = sums[j + 1];
        for (int i = 0; i < NodePack::kParts; ++i) {
          even = even + powers[i];
          odd.AddProduct(powers[i], distances[i]);
          powers[i] = powers[i] * squares[i];
        }
        sums[j] = even;
        sums[j + 1] = odd;
      }
    }
    const NodeRests& rests = NodeRests::Get();
    for (double& bar : bars_) bar = 0.0;
    for (int j = 0; j < size_; ++j) {
      bars_[kBlock + j] = rests.inverse_factorials[j] * sums[j].Total();
    }
  }

  // The numbers of eight times from n on; zero past the last.
  Lanes Load(const double* numbers, int64_t n) const {
    if (n + 8 <= seed_.count) return Lanes::Load(numbers + n);
    double some[8] = {};
    for (int64_t l = n; l < seed_.count; ++l) some[l - n] = numbers[l];
    return Lanes::Load(some);
  }

  StatusCode Distribute() {
    PoissonWalk walk(seed_.start);
    const Scaled<double> start = StartWeight(seed_.start, &first_block_);
    Scaled<double> weight = start;
    for (int64_t b = first_block_; b < end_block_; ++b) {
      const StatusCode status = Include(b, &weight, &walk);
      if (status != kOk) return status;
    }
    weight = start;
    for (int64_t b = first_block_; b > 0; --b) {
      const Scaled<double> head =
          walk.HeadBound(static_cast<double>(b * kBlock), weight);
      // Here nothing that a double could show is left out.
      if (Normalized(Scaled<double>{head.mantissa * seed_size(),
                                    head.exponent + exponent() + log2_bound()})
              .exponent < -kFinalMargin) {
        break;
      }
      weight = walk.Down(PoissonTableOf(b - 1), weight);
      Scaled<double> same = weight;
      const StatusCode status = Include(b - 1, &same, &walk);
      if (status != kOk) return status;
    }
    sums_.AddTail({rest_.mantissa * seed_size(), rest_.exponent + exponent()});
    // At each time what j >= J leaves out is in a smaller ratio to F than at
    // the end.
    const double log2_ratio = std::max(log2_rest_ - log2_value_, -1000.0);
    const auto whole = static_cast<int64_t>(std::floor(log2_ratio));
    sums_.AddTail(
        {std::exp2(log2_ratio - static_cast<double>(whole)) * seed_.share_size,
         whole + seed_.exponent + exponent()});
    return kOk;
  }

  // Adds the weights of one block, and steps on to the next.
  StatusCode Include(int64_t b, Scaled<double>* weight, PoissonWalk* walk) {
    StatusCode status = kOk;
    const int64_t last = b + (size_ + kBlock - 1) / kBlock;
    if (!sums_.blocks()->Reserve(last, &status)) return status;
    const PoissonTable& poisson = sums_.blocks()->Table(b);
    *weight = walk->Up(b, poisson, *weight,
                       [&](int first, int end, const Scaled<double>& scale,
                           const double* powers) {
                         double weights[kBlock] = {};
                         for (int j = first; j < end; ++j) {
                           weights[j] =
                               scale.mantissa * powers[j] * poisson.table[j];
                         }
                         AddProducts(b, weights, scale.exponent + exponent());
                       });
    return kOk;
  }

  // abar_{16 b + k + j} += weights[k] cbar_j.
  void AddProducts(int64_t b, const double* weights, int64_t exponent) {
    for (int m = 0; m < size_ + kBlock; m += kBlock) {
      double scale = 1.0;
      double* bars = sums_.blocks()->Whole(b + m / kBlock, exponent, &scale);
      Lanes low(0.0);
      Lanes high(0.0);
      for (int k = 0; k < kBlock; ++k) {
        const double* source = bars_ + kBlock + m - k;
        low.AddProduct(weights[k], Lanes::Load(source));
        high.AddProduct(weights[k], Lanes::Load(source + 8));
      }
      (Lanes::Load(bars) + scale * low).Store(bars);
      (Lanes::Load(bars + 8) + scale * high).Store(bars + 8);
    }
  }

  StatusCode AddOneByOne() {
    constexpr int64_t kCount = 64;
    for (int64_t n = 0; n < seed_.count; n += kCount) {
      const int64_t count = std::min(kCount, seed_.count - n);
      Point<double> points[kCount];
      Point<double>* pointers[kCount];
      for (int64_t i = 0; i < count; ++i) {
        const int64_t time = seed_.times[n + i];
        Point<double>& point = points[i];
        PreparePoint(in_, time, sequence_, &point);
        const double distance = point.x - seed_.start;
        point.value = {seed_.sums[n + i] * std::exp(-distance), seed_.exponent};
        const double cotangent = in_.cotangent[time];
        point.seed = {
            point.is_log ? cotangent / point.value.mantissa : cotangent,
            exponent()};
        pointers[i] = &point;
      }
      const StatusCode status = sums_.AddPoints(pointers, count);
      if (status != kOk) return status;
    }
    return kOk;
  }

  const SweepInput& in_;
  const Sequence<double>& sequence_;
  const NodeSeed& seed_;
  const int64_t margin_;
  TermSums<double>& sums_;
  const Model<double>& model_;
  int size_ = 0;             // J
  double log2_value_ = 0.0;  // of F at the end
  double log2_rest_ = 0.0;   // see NodeRests
  int64_t first_block_ = 0;
  int64_t end_block_ = 0;
  Scaled<double> rest_;                              // of the weights
  double bars_[kMaxNodeSums + 2 * kBlock + kBlock];  // cbar_j from [16] on
};

// Adds all groups of one kind of function.
template <class T>
inline StatusCode AddGroups(const NodeSeeds<T>&, const Sequence<T>&, Base,
                            int64_t, TermSums<T>*) {
  return kOk;
}
inline StatusCode AddGroups(const NodeSeeds<double>& seeds,
                            const Sequence<double>& sequence, Base base,
                            int64_t margin, TermSums<double>* sums) {
  for (int64_t n = 0; n < seeds.size(); ++n) {
    if (BaseOf(seeds[n].kind) != base || seeds[n].count == 0) continue;
    const StatusCode status =
        NodeSums(seeds.in(), sequence, seeds[n], margin, sums).Add();
    if (status != kOk) return status;
  }
  return kOk;
}

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_NODE_SUMS_H_
