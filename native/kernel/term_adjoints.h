// The cotangents of the series' terms a_k, b_k: the transposed mixture.

#ifndef PHASIC_NATIVE_KERNEL_TERM_ADJOINTS_H_
#define PHASIC_NATIVE_KERNEL_TERM_ADJOINTS_H_

#include <cstdint>

#include "native/kernel/forward.h"
#include "native/kernel/isa.h"
#include "native/kernel/mixture.h"
#include "native/kernel/sequence.h"

namespace phasic {
namespace PHASIC_ISA {

// At this margin terms are dropped only where no double could show them.
constexpr int64_t kFinalMargin = 1200;

template <class T>
class TermAdjoints {
 public:
  TermAdjoints(const SweepInput& in, Sequence<T>* sequence,
               Workspace* workspace)
      : in_(in), sequence_(*sequence), workspace_(workspace) {}

  // Values at all times, and the cotangents of times.
  StatusCode EvaluatePoints(double* time_bars) {
    const int64_t n = in_.num_times;
    points_ = static_cast<Point<T>*>(
        workspace_->Allocate(static_cast<size_t>(n), sizeof(Point<T>)));
    seeds_ = static_cast<Scaled<T>*>(
        workspace_->Allocate(static_cast<size_t>(n), sizeof(Scaled<T>)));
    if (!points_ || !seeds_) return kMemoryLimit;
    StatusCode first_error = kOk;
    bool positive = false;
    bool negative = false;
    for (int64_t i = 0; i < n; ++i) {
      const double cotangent = in_.cotangent[i];
      points_[i] = Point<T>();
      seeds_[i] = Scaled<T>{T(cotangent), 0};
      time_bars[i] = 0.0;
      if (cotangent == 0.0) continue;
      (cotangent > 0.0 ? positive : negative) = true;
      Point<T>& point = points_[i] = EvaluatePoint(in_, i, &sequence_);
      if (point.status == kOk && IsLog(in_.kind)) {
        if (Primal(point.value.mantissa) == 0.0) point.status = kLogOfZero;
        seeds_[i] = {cotangent * Reciprocal(point.value.mantissa),
                     -point.value.exponent};
      }
      if (point.status != kOk) {
        if (first_error == kOk) first_error = point.status;
        time_bars[i] = kNaN;
        continue;
      }
      const T bar = seeds_[i].mantissa * point.slope;
      time_bars[i] =
          Top(ScaleBy(bar, seeds_[i].exponent + point.value.exponent +
                               sequence_.model().log2_q));
      if (sequence_.base() == Base::kCdf ||
          point.time_case == TimeCase::kAtom) {
        if (point.time_case != TimeCase::kBefore) {
          atom_bar_ += ToPlain(seeds_[i]);
        }
        if (point.time_case == TimeCase::kInfinite) {
          total_bar_ += ToPlain(seeds_[i]);
        }
      }
    }
    mixed_signs_ = positive && negative;
    return first_error;
  }

  // Cotangents of all terms; what is dropped is below 2^-margin of each
  // value's own share.
  StatusCode Mix(int64_t margin) {
    margin_ = margin;
    num_blocks_ = 0;
    tail_ = Scaled<double>{};
    for (int64_t i = 0; i < in_.num_times; ++i) {
      const TimeCase time_case = points_[i].time_case;
      const bool series =
          time_case == TimeCase::kRegular || time_case == TimeCase::kZero;
      if (in_.cotangent[i] == 0.0 || !series) continue;
      const StatusCode status = MixPoint(points_[i], seeds_[i]);
      if (status != kOk) return status;
    }
    return kOk;
  }

  int64_t last_block() const { return num_blocks_ - 1; }
  int64_t margin() const { return margin_; }
  bool mixed_signs() const { return mixed_signs_; }
  // Of prob_zero, and of prob_zero + sum(alpha).
  const T& atom_bar() const { return atom_bar_; }
  const T& total_bar() const { return total_bar_; }
  // sum over times of |cotangent| times the weights that were dropped.
  const Scaled<double>& tail() const { return tail_; }

  // The cotangents of a_k and b_k of one block, relative to 2^result. Blocks
  // must be asked for from the last one down.
  int64_t Get(int64_t b, T* a_bar, T* b_bar) {
    const Base base = sequence_.base();
    if (b == last_block()) suffix_ = Scaled<T>{};
    int64_t exponent = blocks_[b]->exponent;
    if (Depth<T>::kValue > 0 && b > 0 && blocks_[b - 1]->exponent > exponent) {
      exponent = blocks_[b - 1]->exponent;
    }
    if (base == Base::kCdf && !IsZero(suffix_.mantissa) &&
        suffix_.exponent > exponent) {
      exponent = suffix_.exponent;
    }
    const int offset = base == Base::kDensity ? 0 : 1;
    const double scale =
        base == Base::kDensity ? 1.0 : 1.0 / sequence_.model().q;
    T suffix = ScaleBy(suffix_.mantissa, suffix_.exponent - exponent);
    for (int j = kBlock - 1; j >= 0; --j) {
      T sum = T(0.0);
      for (int r = offset; r <= Depth<T>::kValue; ++r) {
        sum += Weighted(b, j - (r - offset), r, exponent);
      }
      b_bar[j] = T(0.0);
      if (base == Base::kSurvival) b_bar[j] = Weighted(b, j, 0, exponent);
      if (base == Base::kCdf) {
        sum += suffix;
        suffix += Weighted(b, j, 0, exponent);
      }
      a_bar[j] = scale * sum;
    }
    suffix_ = Normalized(Scaled<T>{suffix, exponent});
    return exponent;
  }

 private:
  struct TermBlock {
    T bars[kMaxOrder][kBlock];  // by channel, without the Poisson table
    const PoissonTable* poisson;
    int64_t exponent;
  };

  StatusCode MixPoint(const Point<T>& point, const Scaled<T>& seed) {
    const double max_steps =
        static_cast<double>(sequence_.max_blocks()) * kBlock;
    if (!(point.x < max_steps)) return kWorkLimit;
    const TaylorCoefficients<T> taylor(sequence_.base(), point.delta);
    T coefficients[kMaxOrder];
    for (int r = 0; r <= Depth<T>::kValue; ++r) {
      coefficients[r] = seed.mantissa * taylor.value[r];
    }
    PoissonWalk walk(point.x);
    int64_t start;
    const Scaled<double> start_weight = StartWeight(point.x, &start);
    StatusCode status = kOk;
    if (!Reserve(start, &status)) return status;
    Scaled<double> up =
        Include(start, start_weight, seed.exponent, coefficients, &walk);
    Scaled<double> weight = start_weight;
    for (int64_t b = start; b > 0; --b) {
      // The exact test is worth while only where weights are very small.
      if (weight.exponent + seed.exponent < -kFinalMargin / 2) {
        const Scaled<double> head =
            walk.HeadBound(static_cast<double>(b * kBlock), weight);
        if (ShareOf(head, seed, 0.0).exponent < -kFinalMargin) break;
      }
      weight = walk.Down(*blocks_[b - 1]->poisson, weight);
      Include(b - 1, weight, seed.exponent, coefficients, &walk);
    }
    // What each value contributes in all: its cotangent times the value.
    const double value_size = MaxAbs(point.value.mantissa);
    const Scaled<double> own =
        value_size > 0.0 ? Scaled<double>{MaxAbs(seed.mantissa) * value_size,
                                          seed.exponent + point.value.exponent}
                         : Scaled<double>{MaxAbs(seed.mantissa), seed.exponent};
    for (int64_t b = start + 1; up.mantissa != 0.0; ++b) {
      const double k = static_cast<double>(b * kBlock);
      const Scaled<double> tail =
          MayStop(start_weight, up) ? walk.TailBound(k, up) : Scaled<double>{};
      if (tail.mantissa > 0.0 && IsNegligible(ShareOf(tail, seed, k), own)) {
        Add(&tail_, Scaled<double>{tail.mantissa * MaxAbs(seed.mantissa),
                                   tail.exponent + seed.exponent});
        break;
      }
      if (!Reserve(b, &status)) return status;
      up = Include(b, up, seed.exponent, coefficients, &walk);
    }
    return kOk;
  }

  // Saves the exact test where the weights are still near their largest.
  static bool MayStop(const Scaled<double>& start,
                      const Scaled<double>& weight) {
    return weight.exponent + ExponentOf(weight.mantissa) < start.exponent - 40;
  }

  bool IsNegligible(const Scaled<double>& share,
                    const Scaled<double>& own) const {
    return margin_ == kFinalMargin ? share.exponent < -kFinalMargin
                                   : IsAtMost(share, -margin_, own);
  }

  // A bound on what weights of this sum can contribute to a derivative.
  Scaled<double> ShareOf(const Scaled<double>& weights, const Scaled<T>& seed,
                         double k) const {
    Scaled<double> share = {
        weights.mantissa * MaxAbs(seed.mantissa) * (k + 1.0),
        weights.exponent + seed.exponent};
    if (sequence_.base() == Base::kDensity) {
      share.exponent += sequence_.model().log2_q;
    }
    return Normalized(share);
  }

  // Makes cleared blocks up to b.
  bool Reserve(int64_t b, StatusCode* status) {
    for (; num_blocks_ <= b; ++num_blocks_) {
      const Block<T>* source = sequence_.Get(num_blocks_, status);
      if (source == nullptr) return false;
      if (num_blocks_ == num_allocated_ && !AllocateBlock()) {
        *status = kMemoryLimit;
        return false;
      }
      TermBlock* block = blocks_[num_blocks_];
      block->poisson = &source->poisson;
      block->exponent = INT64_MIN / 4;
      for (auto& channel : block->bars) {
        for (T& bar : channel) bar = T(0.0);
      }
    }
    return true;
  }

  bool AllocateBlock() {
    if (num_allocated_ == capacity_) {
      const int64_t capacity = capacity_ == 0 ? 64 : 2 * capacity_;
      TermBlock** blocks = static_cast<TermBlock**>(workspace_->Allocate(
          static_cast<size_t>(capacity), sizeof(TermBlock*)));
      if (blocks == nullptr) return false;
      for (int64_t b = 0; b < num_allocated_; ++b) blocks[b] = blocks_[b];
      blocks_ = blocks;
      capacity_ = capacity;
    }
    TermBlock* block =
        static_cast<TermBlock*>(workspace_->Allocate(1, sizeof(TermBlock)));
    if (block == nullptr) return false;
    blocks_[num_allocated_++] = block;
    return true;
  }

  Scaled<double> Include(int64_t b, const Scaled<double>& weight,
                         int64_t seed_exponent, const T* coefficients,
                         PoissonWalk* walk) {
    TermBlock& block = *blocks_[b];
    return walk->Up(b, *block.poisson, weight,
                    [&](int first, int last, const Scaled<double>& scale,
                        const double* powers) {
                      const int64_t e = scale.exponent + seed_exponent;
                      if (e > block.exponent + 200) {
                        for (auto& channel : block.bars) {
                          for (T& bar : channel) {
                            bar = ScaleBy(bar, block.exponent - e);
                          }
                        }
                        block.exponent = e;
                      }
                      const double factor =
                          ScaleBy(scale.mantissa, e - block.exponent);
                      for (int r = 0; r <= Depth<T>::kValue; ++r) {
                        const T coefficient = factor * coefficients[r];
                        for (int j = first; j < last; ++j) {
                          block.bars[r][j] += powers[j] * coefficient;
                        }
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
    const TermBlock& block = *blocks_[b];
    return ScaleBy(block.poisson->table[j] * block.bars[channel][j],
                   block.exponent - exponent);
  }

  const SweepInput& in_;
  Sequence<T>& sequence_;
  Workspace* workspace_;
  Point<T>* points_ = nullptr;
  Scaled<T>* seeds_ = nullptr;
  TermBlock** blocks_ = nullptr;
  int64_t num_blocks_ = 0;
  int64_t num_allocated_ = 0;
  int64_t capacity_ = 0;
  int64_t margin_ = 0;
  bool mixed_signs_ = false;
  T atom_bar_ = T(0.0);
  T total_bar_ = T(0.0);
  Scaled<double> tail_;
  Scaled<T> suffix_;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_TERM_ADJOINTS_H_
