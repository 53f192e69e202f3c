// The cotangents of the channels of one kind of function: the transposed
// mixture.

#ifndef PHASIC_NATIVE_KERNEL_TERM_SUMS_H_
#define PHASIC_NATIVE_KERNEL_TERM_SUMS_H_

#include <cmath>
#include <cstdint>

#include "native/kernel/block_list.h"
#include "native/kernel/channels.h"
#include "native/kernel/isa.h"
#include "native/kernel/lane_terms.h"
#include "native/kernel/mixture.h"
#include "native/kernel/point.h"
#include "native/kernel/sequence.h"

namespace phasic {
namespace PHASIC_ISA {

// At this margin terms are dropped only where no double could show them.
constexpr int64_t kFinalMargin = 1200;

template <class T>
inline void AddPowers(const double* powers, int first, int last,
                      const T& coefficient, T* sums) {
  for (int j = first; j < last; ++j) sums[j] += powers[j] * coefficient;
}
inline void AddPowers(const double* powers, int first, int last,
                      double coefficient, double* sums) {
  if (first != 0 || last != kBlock) {
    return AddPowers<double>(powers, first, last, coefficient, sums);
  }
  for (int j = 0; j < kBlock; j += 8) {
    Pack<8> sum = Pack<8>::Load(sums + j);
    sum.AddProduct(coefficient, Pack<8>::Load(powers + j));
    sum.Store(sums + j);
  }
}

template <class T>
class TermSums {
 public:
  TermSums(Sequence<T>* sequence, Base base, Workspace* workspace)
      : sequence_(*sequence), base_(base), blocks_(workspace) {}

  // Starts sums. What is dropped from them is to be below 2^-margin of each
  // value's own share.
  void Start(int64_t margin) {
    margin_ = margin;
    num_blocks_ = 0;
    tail_ = Scaled<double>{};
  }

  StatusCode AddPoints(Point<T>* const* points, int64_t num_points) {
    points_ = points;
    num_points_ = num_points;
    for (int64_t n = 0; n < num_points;) {
      StatusCode status = kOk;
      const bool discrete = sequence_.model().discrete;
      const int64_t num_lanes = discrete ? 0 : MixLanes(n, &status);
      if (num_lanes == 0) {
        status = discrete ? PickPoint(*points[n]) : MixPoint(*points[n]);
      }
      if (status != kOk) return status;
      n += num_lanes > 0 ? num_lanes : 1;
    }
    return kOk;
  }

  int64_t num_blocks() const { return num_blocks_; }

  // A bound on |cotangent| times the weights that were dropped times the
  // terms, summed over times.
  Scaled<double> tail() const {
    Scaled<double> result = tail_;
    if (base_ == Base::kDensity) result.exponent += sequence_.model().log2_q;
    return result;
  }

  // The cotangents of a_k and b_k of one block, relative to 2^result. Blocks
  // must be asked for from the last one down.
  int64_t Get(int64_t b, T* a_bar, T* b_bar) {
    if (b == num_blocks_ - 1) suffix_ = Scaled<T>{};
    int64_t exponent = blocks_[b].exponent;
    if (Depth<T>::kValue > 0 && b > 0 && blocks_[b - 1].exponent > exponent) {
      exponent = blocks_[b - 1].exponent;
    }
    if (base_ == Base::kCdf && !IsZero(suffix_.mantissa) &&
        suffix_.exponent > exponent) {
      exponent = suffix_.exponent;
    }
    const int offset = base_ == Base::kDensity ? 0 : 1;
    const double scale =
        base_ == Base::kDensity ? 1.0 : 1.0 / sequence_.model().q;
    T suffix = ScaleBy(suffix_.mantissa, suffix_.exponent - exponent);
    for (int j = kBlock - 1; j >= 0; --j) {
      T sum = T(0.0);
      for (int r = offset; r <= Depth<T>::kValue; ++r) {
        sum += Weighted(b, j - (r - offset), r, exponent);
      }
      b_bar[j] = T(0.0);
      if (base_ == Base::kSurvival) b_bar[j] = Weighted(b, j, 0, exponent);
      if (base_ == Base::kCdf) {
        sum += suffix;
        suffix += Weighted(b, j, 0, exponent);
      }
      a_bar[j] = scale * sum;
    }
    suffix_ = Normalized(Scaled<T>{suffix, exponent});
    return exponent;
  }

  // For sums that are made elsewhere: makes blocks up to b; their tables; the
  // cotangents of a block's channel, relative to 2^exponent / scale; and what
  // was dropped, as for `tail`.
  bool Reserve(int64_t b, StatusCode* status) {
    for (; num_blocks_ <= b; ++num_blocks_) {
      const Block<T>* source = sequence_.Get(num_blocks_, status);
      if (source == nullptr) return false;
      if (num_blocks_ == blocks_.size() && blocks_.Append() == nullptr) {
        *status = kMemoryLimit;
        return false;
      }
      TermBlock& block = blocks_[num_blocks_];
      block.poisson = &source->poisson;
      block.exponent = INT64_MIN / 4;
      block.has_losses = false;
      for (auto& channel : block.bars) {
        for (T& bar : channel) bar = T(0.0);
      }
      for (T& bar : block.whole) bar = T(0.0);
    }
    return true;
  }
  const PoissonTable& Table(int64_t b) const { return *blocks_[b].poisson; }
  T* Whole(int64_t b, int64_t exponent, double* scale) {
    TermBlock& block = blocks_[b];
    RaiseExponent(exponent, &block);
    *scale = PowerOfTwo(exponent - block.exponent);
    return block.whole;
  }
  void AddTail(const Scaled<double>& tail) { Add(&tail_, tail); }

  // Adds to the cotangent of one term.
  void AddTo(int64_t b, int j, const Scaled<T>& bar) {
    TermBlock& block = blocks_[b];
    FloatEnvironment::ClearUnderflow();
    RaiseExponent(bar.exponent, &block);
    block.bars[0][j] += (1.0 / block.poisson->table[j]) *
                        ScaleBy(bar.mantissa, bar.exponent - block.exponent);
    if (FloatEnvironment::Underflowed()) block.has_losses = true;
  }

  // Adds sum_r coefficients[r] sum_k w_k channel_r at a point, whose share is
  // about `own`; the coefficients are relative to 2^seed.exponent.
  StatusCode MixSeries(const Point<T>& point, const Scaled<T>& seed,
                       const T* coefficients, const Scaled<double>& own) {
    if (!IsWithinWork(point)) return kWorkLimit;
    PoissonWalk walk(point.x);
    StatusCode status = kOk;
    if (!Reserve(point.start, &status)) return status;
    Scaled<double> up = Include(point.start, point.start_weight, seed.exponent,
                                coefficients, &walk);
    WalkDown(seed, coefficients, point.start, point.start_weight, &walk);
    for (int64_t b = point.start + 1; up.mantissa != 0.0; ++b) {
      const double k = static_cast<double>(b * kBlock);
      const Scaled<double> tail = MayStop(point.start_weight, up)
                                      ? walk.TailBound(k, up)
                                      : Scaled<double>{};
      if (tail.mantissa > 0.0 && CanDrop(tail, seed, k, own)) break;
      if (!Reserve(b, &status)) return status;
      up = Include(b, up, seed.exponent, coefficients, &walk);
    }
    return kOk;
  }

  // Whether the weights from step k on, with this sum, may be left out; if so
  // it is noted.
  bool CanDrop(const Scaled<double>& weights, const Scaled<T>& seed, double k,
               const Scaled<double>& own) {
    const Scaled<double> share = ShareOf(weights, seed, k);
    const bool is_negligible = margin_ == kFinalMargin
                                   ? share.exponent < -kFinalMargin
                                   : IsAtMost(share, -margin_, own);
    if (is_negligible) {
      const Scaled<double> size = SizeOfSeed(seed);
      Add(&tail_, Scaled<double>{weights.mantissa * size.mantissa,
                                 weights.exponent + size.exponent});
    }
    return is_negligible;
  }

  // The same for the weights of the first steps, of which hardly any are.
  bool CanDropHead(const Scaled<double>& weights, const Scaled<T>& seed) const {
    return ShareOf(weights, seed, 0.0).exponent < -kFinalMargin;
  }

  // Whether something of the block was flushed to zero.
  bool HasLosses(int64_t b) const {
    return b < num_blocks_ && blocks_[b].has_losses;
  }

  // For LaneTerms: a block's table, and its sums as wanted there.
  const PoissonTable* Reserve(int64_t b) {
    return Reserve(b, &reserve_status_) ? blocks_[b].poisson : nullptr;
  }
  T* Sums(int64_t b, int64_t exponent, double* scale) {
    TermBlock& block = blocks_[b];
    RaiseExponent(exponent, &block);
    *scale = PowerOfTwo(exponent - block.exponent);
    return block.bars[0];
  }

 private:
  struct TermBlock {
    T bars[kMaxOrder][kBlock];  // by channel, without the Poisson table
    T whole[kBlock];            // more of the first channel, with the table
    const PoissonTable* poisson;
    int64_t exponent;
    bool has_losses;  // something was flushed to zero beside larger sums
  };

  // Mixes as many of the points from n on as can be taken at once; 0: none.
  int64_t MixLanes(int64_t n, StatusCode* status) {
    return MixLanes(n, status, T(0.0));
  }
  template <class U>
  int64_t MixLanes(int64_t, StatusCode*, const U&) {
    return 0;
  }
  int64_t MixLanes(int64_t n, StatusCode* status, double) {
    LaneSeed lanes[kLanes];
    int64_t count = 0;
    const int64_t exponent = points_[n]->seed.exponent;
    while (count < kLanes && n + count < num_points_ &&
           MakeLane(*points_[n + count], exponent, &lanes[count])) {
      ++count;
    }
    if (count == 0) return 0;
    for (int64_t l = count; l < kLanes; ++l) {
      lanes[l] = lanes[count - 1];
      lanes[l].factor = 0.0;
    }
    LaneTerms<TermSums> terms(this, lanes, exponent);
    reserve_status_ = kOk;
    if (!terms.Run()) {
      *status = reserve_status_;
      return count;
    }
    Add(&tail_, Scaled<double>{terms.tail(), exponent});
    for (int64_t l = 0; l < count; ++l) {
      if (terms.pending(l) == 0) continue;
      const Point<double>& point = *points_[n + l];
      const Scaled<double>& seed = point.seed;
      PoissonWalk walk(point.x);
      WalkDown(seed, &seed.mantissa, terms.pending(l),
               {terms.pending_weight(l), 0}, &walk);
    }
    return count;
  }

  // Whether a point's numbers are far from the ends of the range.
  bool MakeLane(const Point<double>& point, int64_t exponent,
                LaneSeed* lane) const {
    const Scaled<double>& seed = point.seed;
    const double steps = static_cast<double>(sequence_.max_blocks()) * kBlock;
    const int64_t shift = seed.exponent - exponent;
    const int64_t value_log2 =
        ExponentOf(point.value.mantissa) + point.value.exponent;
    const int64_t bound =
        base_ == Base::kDensity ? sequence_.model().log2_q : 0;
    const int64_t threshold_log2 = value_log2 - margin_ - bound;
    if (!(point.x >= 0x1p-10 && point.x < steps) || shift < -200 ||
        shift > 200 || point.value.mantissa == 0.0 || margin_ == kFinalMargin ||
        threshold_log2 < -800 || threshold_log2 > 800 ||
        !(std::fabs(seed.mantissa) > 0x1p-200 &&
          std::fabs(seed.mantissa) < 0x1p200)) {
      return false;
    }
    lane->x = point.x;
    lane->start_weight =
        ScaleBy(point.start_weight.mantissa, point.start_weight.exponent);
    lane->start = point.start;
    lane->factor = ScaleBy(seed.mantissa, shift);
    lane->threshold = PowerOfTwo(threshold_log2);
    return true;
  }

  // Points whose value is known without a series may be anywhere.
  bool IsWithinWork(const Point<T>& point) const {
    return point.x < static_cast<double>(sequence_.max_blocks()) * kBlock;
  }

  // The point of a discrete chain is one of its terms.
  StatusCode PickPoint(const Point<T>& point) {
    if (!IsWithinWork(point)) return kWorkLimit;
    StatusCode status = kOk;
    if (!Reserve(point.start, &status)) return status;
    AddTo(point.start, StepInBlock(point), point.seed);
    return kOk;
  }

  StatusCode MixPoint(const Point<T>& point) {
    const Scaled<T>& seed = point.seed;
    const TaylorCoefficients<T> taylor(base_, point.delta);
    T coefficients[kMaxOrder];
    for (int r = 0; r <= Depth<T>::kValue; ++r) {
      coefficients[r] = seed.mantissa * taylor.value[r];
    }
    // What each value contributes in all: its cotangent times the value.
    const Scaled<double> seed_size = SizeOfSeed(seed);
    const Scaled<double> value_size =
        SizeOf(point.value.mantissa, point.value.exponent);
    const Scaled<double> own =
        value_size.mantissa > 0.0
            ? Scaled<double>{seed_size.mantissa * value_size.mantissa,
                             seed_size.exponent + value_size.exponent}
            : seed_size;
    return MixSeries(point, seed, coefficients, own);
  }

  // Includes the blocks before b, at whose first step the weight is given.
  void WalkDown(const Scaled<T>& seed, const T* coefficients, int64_t b,
                Scaled<double> weight, PoissonWalk* walk) {
    weight = Normalized(weight);
    for (; b > 0; --b) {
      // The exact test is worth while only where weights are very small.
      if (weight.exponent + seed.exponent < -kFinalMargin / 2) {
        const Scaled<double> head =
            walk->HeadBound(static_cast<double>(b * kBlock), weight);
        if (CanDropHead(head, seed)) break;
      }
      weight = walk->Down(*blocks_[b - 1].poisson, weight);
      Include(b - 1, weight, seed.exponent, coefficients, walk);
    }
  }

  // Saves the exact test where the weights are still near their largest.
  static bool MayStop(const Scaled<double>& start,
                      const Scaled<double>& weight) {
    return weight.exponent + ExponentOf(weight.mantissa) < start.exponent - 40;
  }

  // Normalized, as products with the smallest of numbers would be zero, below
  // which nothing is negligible.
  static Scaled<double> SizeOfSeed(const Scaled<T>& seed) {
    return Normalized(SizeOf(seed.mantissa, seed.exponent));
  }

  // A bound on what weights of this sum can contribute to a derivative.
  Scaled<double> ShareOf(const Scaled<double>& weights, const Scaled<T>& seed,
                         double k) const {
    const Scaled<double> size = SizeOfSeed(seed);
    Scaled<double> share = {weights.mantissa * size.mantissa * (k + 1.0),
                            weights.exponent + size.exponent};
    if (base_ == Base::kDensity) {
      share.exponent += sequence_.model().log2_q;
    }
    return Normalized(share);
  }

  static void RaiseExponent(int64_t exponent, TermBlock* block) {
    if (exponent <= block->exponent + 200) return;
    for (auto& channel : block->bars) {
      for (T& bar : channel) bar = ScaleBy(bar, block->exponent - exponent);
    }
    for (T& bar : block->whole) bar = ScaleBy(bar, block->exponent - exponent);
    block->exponent = exponent;
  }

  Scaled<double> Include(int64_t b, const Scaled<double>& weight,
                         int64_t seed_exponent, const T* coefficients,
                         PoissonWalk* walk) {
    TermBlock& block = blocks_[b];
    FloatEnvironment::ClearUnderflow();
    return walk->Up(b, *block.poisson, weight,
                    [&](int first, int last, const Scaled<double>& scale,
                        const double* powers) {
                      const int64_t e = scale.exponent + seed_exponent;
                      RaiseExponent(e, &block);
                      for (int r = 0; r <= Depth<T>::kValue; ++r) {
                        const T factor =
                            ScaleBy(scale.mantissa * coefficients[r],
                                    e - block.exponent);
                        AddPowers(powers, first, last, factor, block.bars[r]);
                      }
                      if (FloatEnvironment::Underflowed()) {
                        block.has_losses = true;
                      }
                    });
  }

  // The cotangent of entry j (negative: of the block before) of a channel.
  T Weighted(int64_t b, int j, int channel, int64_t exponent) const {
    if (j < 0) {
      if (b == 0) return T(0.0);
      --b;
      j += kBlock;
    }
    const TermBlock& block = blocks_[b];
    T sum = block.poisson->table[j] * block.bars[channel][j];
    if (channel == 0) sum += block.whole[j];
    return ScaleBy(sum, block.exponent - exponent);
  }

  Sequence<T>& sequence_;
  const Base base_;
  BlockList<TermBlock> blocks_;
  Point<T>* const* points_ = nullptr;
  int64_t num_points_ = 0;
  int64_t num_blocks_ = 0;
  int64_t margin_ = 0;
  StatusCode reserve_status_ = kOk;
  Scaled<double> tail_;
  Scaled<T> suffix_;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_TERM_SUMS_H_
