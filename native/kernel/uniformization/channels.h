// Computes the coefficients c_k of the Poisson mixture sum_k w_k(x) c_k that is
// equal to a function at x = q t. They follow from the terms a_k and b_k of
// sequence.h:
//   density:   a_k
//   survival:  b_k
//   cdf:       A_k = prob_zero + sum_{j<k} a_j / q
// Derivatives of a function with respect to time are linear combinations of
// several such mixtures. The sequences of coefficients of these mixtures are
// called the channels of the function. For the density, channel r is a_{k+r}.
// For the other two functions, channel 0 is b_k or A_k, and channel r > 0 is
// a_{k+r-1} / q.

#ifndef PHASIC_NATIVE_KERNEL_UNIFORMIZATION_CHANNELS_H_
#define PHASIC_NATIVE_KERNEL_UNIFORMIZATION_CHANNELS_H_

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "native/kernel/numbers/scaled_sum.h"
#include "native/kernel/simd/block_list.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/decay_bounds.h"
#include "native/kernel/uniformization/sequence.h"

namespace phasic {
namespace PHASIC_ISA {

enum class Base { kDensity, kSurvival, kCdf };
constexpr int kNumBases = 3;

// Returns whether a function of this kind is a single Poisson mixture. Only the
// probability of an interval is not one.
inline bool HasSeries(Kind kind) {
  return kind >= Kind::kLogDensity && kind <= Kind::kCdf;
}

inline Base BaseOf(Kind kind) {
  switch (kind) {
    case Kind::kLogDensity:
    case Kind::kDensity:
      return Base::kDensity;
    case Kind::kLogSurvival:
    case Kind::kSurvival:
      return Base::kSurvival;
    default:
      return Base::kCdf;
  }
}

inline bool IsLog(Kind kind) { return static_cast<int32_t>(kind) % 2 == 0; }

// Returns whether the call requests this function (density, survival or cdf)
// for at least one of its times.
inline bool HasBase(const SweepInput& in, Base base) {
  if (in.kinds == nullptr) return BaseOf(in.kind) == base;
  for (int64_t i = 0; i < in.num_times; ++i) {
    const Kind kind = in.KindOf(i);
    if (HasSeries(kind) && BaseOf(kind) == base) return true;
  }
  return false;
}

constexpr int kMaxChannels = kMaxOrder + 2;

// Bounds on the coefficients of a block and all later blocks, relative to
// 2^exponent: caps[0] for the first channel, caps[1] for the others.
struct TailCaps {
  double caps[2];
  int64_t exponent;
};

// The coefficients of one block for all channels, relative to 2^exponent.
template <class T>
struct ChannelBlock {
  T channels[kMaxChannels][kBlock];  // coefficients times the Poisson table
  const PoissonTable* poisson;
  int64_t exponent;
  TailCaps tail;
  Scaled<double> largest;      // largest coefficient so far
  int64_t underflow_exponent;  // largest lost_exponent up to this block
  int64_t lost_exponent;       // scale of the numbers flushed in this block
};

template <class T>
class Channels {
  struct NoDecays {
    NoDecays(const Model<T>&, Workspace*) {}
  };
  using Decays =
      std::conditional_t<std::is_same<T, double>::value, DecayBounds, NoDecays>;

 public:
  Channels(Sequence<T>* sequence, Base base, int num_channels,
           Workspace* workspace)
      : sequence_(*sequence),
        base_(base),
        num_channels_(sequence->model().discrete ? 1 : num_channels),
        blocks_(workspace),
        decays_(sequence->model(), workspace) {}

  Base base() const { return base_; }
  int size() const { return num_channels_; }
  Sequence<T>& sequence() const { return sequence_; }
  const Model<T>& model() const { return sequence_.model(); }

  // Computes the blocks up to this one where necessary, and returns this one.
  // Returns nullptr and sets the status on failure.
  const ChannelBlock<T>* Get(int64_t block, StatusCode* status) {
    while (blocks_.size() <= block) {
      *status = AppendBlock();
      if (*status != kOk) return nullptr;
    }
    return &blocks_[block];
  }

  const ChannelBlock<T>* Find(int64_t block) const { return &blocks_[block]; }

  // Sets `tail` to bounds on the coefficients of a block and all later blocks,
  // without computing that block. Returns false and sets the status on failure.
  bool Tail(int64_t block, TailCaps* tail, StatusCode* status) {
    if (block > 0 && Get(block - 1, status) == nullptr) return false;
    if (block < blocks_.size()) {
      *tail = blocks_[block].tail;
      return true;
    }
    Front<T> front;
    if (!sequence_.Begin(block, &front, status)) return false;
    *tail = BoundTail(front.mass, front.exponent);
    return true;
  }

  bool UnderflowedBefore(int64_t block) const {
    return first_underflow_ < block || sequence_.UnderflowedBefore(block);
  }

  // Returns whether flushing to zero may have changed a result by more than
  // 2^-45 of its size. The result is a sum over the blocks `first_block` to
  // `last_block`. The test relies on the fact that an error in one state does
  // not grow in later states. If possible, all blocks up to `last_block` are
  // computed first. So the answer does not depend on which blocks were computed
  // for other times.
  bool LostToUnderflow(int64_t last_block, const Scaled<double>& result,
                       int64_t first_block = 0) {
    if (HasOwnExponent<T>::kValue) return false;
    StatusCode ignored = kOk;
    const bool is_made = Get(last_block, &ignored) != nullptr;
    if (!UnderflowedBefore(last_block + 1)) return false;
    if (blocks_.size() == 0) return true;
    if (IsAtMost(Loss(last_block), -45, result)) return false;
    if (is_made && Decayed(LossOfBlock(), first_block, last_block, result)) {
      return false;
    }
    sequence_.NoteLoss();
    return true;
  }

  // Returns a bound on the error that flushing to zero causes in a sum over the
  // blocks up to `last_block`, or in its tangent if the tangent is of moderate
  // size. At least one block must have been computed. The bound is zero if
  // nothing underflowed.
  Scaled<double> Loss(int64_t last_block) const {
    if (HasOwnExponent<T>::kValue || !UnderflowedBefore(last_block + 1) ||
        blocks_.size() == 0) {
      return {};
    }
    const int64_t b = std::min(last_block, blocks_.size() - 1);
    return Normalized(
        Scaled<double>{static_cast<double>(last_block + 1) * LossOfBlock(),
                       blocks_[b].underflow_exponent - 1022});
  }

 private:
  // Returns a bound on the error of a result by all flushes in one block,
  // relative to the largest number that may be flushed there.
  double LossOfBlock() const {
    const double p = static_cast<double>(model().size);
    return kBlock * (p + 2) * (p + 2) * LargestFactor();
  }

  // Returns whether the errors by flushing are negligible in a result that is a
  // sum over blocks from `first_block` on. The error of each earlier block
  // decays until the result's first block. `of_block` is the value of
  // LossOfBlock.
  bool Decayed(double of_block, int64_t first_block, int64_t last_block,
               const Scaled<double>& result) {
    if constexpr (std::is_same<T, double>::value) {
      if (base_ == Base::kCdf || first_block == 0 ||
          !sequence_.knows_losses()) {
        return false;  // the absorbed mass in a cdf does not decay
      }
      sequence_.SetAsideUnderflow();
      const bool is_known = decays_.Reach(first_block);
      FloatEnvironment::ClearUnderflow();
      if (!is_known) return false;
      Scaled<double> lost;
      for (int64_t b = 0; b <= last_block; ++b) {
        const int64_t exponent = blocks_[b].lost_exponent;
        if (exponent == kNothingLost) continue;
        const Scaled<double>& left =
            decays_.after(std::max<int64_t>(first_block - b, 0));
        Add(&lost, Scaled<double>{of_block * left.mantissa,
                                  exponent - 1022 + left.exponent});
      }
      return IsAtMost(lost, -45, result);
    }
    return false;
  }

  // Returns a bound on the factor of a flushed number in a result. In a
  // density, an entry of a state has an exit rate as its factor, which is at
  // most q unless it is a weight, and the product of an entry and an exit rate
  // has the factor one. In a survival function, an entry has the factor one. In
  // a cdf, the factors of a density are divided by q.
  double LargestFactor() const {
    const double q = model().q;
    if (base_ == Base::kDensity) {
      return std::max({q, model().max_exit, 1.0});
    }
    return base_ == Base::kCdf && q < 1.0 ? 1.0 / q : 1.0;
  }

  int num_shifts() const { return num_channels_ - 1 - first_a(); }
  int first_a() const { return base_ == Base::kDensity ? 0 : 1; }

  StatusCode AppendBlock() {
    const int64_t b = blocks_.size();
    // The shifted channels of a block also need terms a_k of the next block.
    StatusCode status = kOk;
    Front<T> next = {};
    const bool is_made =
        num_shifts() == 1
            ? sequence_.Begin(b + 1, &next, &status)
            : sequence_.Get(b + (num_shifts() > 0 ? 1 : 0), &status) != nullptr;
    if (!is_made) return status;
    const Block<T>& source = *sequence_.Find(b);
    if (b == 0) cumulative_.Add({model().prob_zero, 0});
    ChannelBlock<T>* block = blocks_.Append();
    if (block == nullptr) return kMemoryLimit;
    sequence_.SetAsideUnderflow();
    FillBlock(source, b, next, block);
    NoteUnderflow(source, b, block);
    FloatEnvironment::ClearUnderflow();
    block->tail = BoundTail(source.mass, source.exponent);
    return kOk;
  }

  void FillBlock(const Block<T>& source, int64_t b, const Front<T>& front,
                 ChannelBlock<T>* block) {
    const double a_scale = base_ == Base::kDensity ? 1.0 : 1.0 / model().q;
    T cumulative[kBlock];
    int64_t exponents[kBlock];
    int64_t exponent = source.exponent;
    if (base_ == Base::kCdf) {
      for (int j = 0; j < kBlock; ++j) {
        const Scaled<T> sum = cumulative_.Result();
        cumulative[j] = sum.mantissa;
        exponents[j] = sum.exponent;
        cumulative_.Add({source.a[j] * a_scale, source.exponent});
      }
      exponent = std::max(exponent, cumulative_.Result().exponent);
    }
    block->exponent = exponent;
    block->poisson = &source.poisson;
    T terms[kBlock + kMaxChannels];  // a_k from the block's first index on
    for (int j = 0; j < kBlock; ++j) {
      terms[j] = ScaleBy(source.a[j] * a_scale, source.exponent - exponent);
    }
    if (num_shifts() == 1) {
      terms[kBlock] = ScaleBy(front.a * a_scale, front.exponent - exponent);
    } else {
      for (int j = 0; j < num_shifts(); ++j) {
        const Block<T>& next = *sequence_.Find(b + 1);
        terms[kBlock + j] =
            ScaleBy(next.a[j] * a_scale, next.exponent - exponent);
      }
    }
    Scaled<double> largest;
    for (int r = 0; r < num_channels_; ++r) {
      T shifted[kBlock];
      for (int j = 0; j < kBlock; ++j) {
        if (r >= first_a()) {
          shifted[j] = terms[j + r - first_a()];
        } else if (base_ == Base::kSurvival) {
          shifted[j] = source.b[j];
        } else {
          shifted[j] = ScaleBy(cumulative[j], exponents[j] - exponent);
        }
      }
      const Scaled<double> size = LargestScaledSize(shifted, kBlock, exponent);
      if (IsAtMost(largest, 0, size)) largest = size;
      for (int j = 0; j < kBlock; ++j) {
        block->channels[r][j] = source.poisson.table[j] * shifted[j];
      }
    }
    block->largest = Normalized(largest);
    if (b > 0 && !IsAtMost(blocks_[b - 1].largest, 0, block->largest)) {
      block->largest = blocks_[b - 1].largest;
    }
  }

  void NoteUnderflow(const Block<T>& source, int64_t b,
                     ChannelBlock<T>* block) {
    block->underflow_exponent = source.underflow_exponent;
    if (b > 0 &&
        block->underflow_exponent < blocks_[b - 1].underflow_exponent) {
      block->underflow_exponent = blocks_[b - 1].underflow_exponent;
    }
    block->lost_exponent = source.lost_exponent;
    if (!FloatEnvironment::Underflowed()) return;
    block->lost_exponent = std::max(block->lost_exponent, block->exponent);
    if (first_underflow_ > b) first_underflow_ = b;
    if (block->underflow_exponent < block->exponent) {
      block->underflow_exponent = block->exponent;
    }
  }

  // Returns bounds on the coefficients of a block and all later blocks, given
  // the mass at the start of the block. They follow from a_k <= max(s) b_k,
  // where s are the exit rates and b_k does not increase with k, and from A_k
  // <= total mass, including prob_zero.
  TailCaps BoundTail(double mass, int64_t exponent) const {
    constexpr double kLeast = 0x1p-1022;  // keeps bounds positive
    Scaled<double> total;
    if (base_ == Base::kCdf) {
      total = Normalized(Scaled<double>{
          Primal(model().prob_zero) + Primal(model().initial_size), 0});
      mass = ScaleBy(mass, exponent - total.exponent);
      exponent = total.exponent;
    }
    const double exits =
        model().max_exit * mass +
        (model().max_exit > 1.0 ? model().max_exit : 1.0) * kLeast;
    if (base_ == Base::kDensity) return {{exits, exits}, exponent};
    const double first = base_ == Base::kSurvival ? mass : total.mantissa;
    return {{first + kLeast, exits / model().q + kLeast}, exponent};
  }

  Sequence<T>& sequence_;
  const Base base_;
  const int num_channels_;
  BlockList<ChannelBlock<T>> blocks_;
  Decays decays_;
  ScaledSum<T> cumulative_;
  int64_t first_underflow_ = INT64_MAX;
};

// The channels of the density, the survival function and the cdf of one model,
// computed on demand.
template <class T>
class ChannelSets {
 public:
  ChannelSets(Sequence<T>* sequence, int num_channels, Workspace* workspace)
      : sequence_(*sequence),
        sets_{{sequence, Base::kDensity, num_channels, workspace},
              {sequence, Base::kSurvival, num_channels, workspace},
              {sequence, Base::kCdf, num_channels, workspace}} {}

  Sequence<T>& sequence() const { return sequence_; }
  Channels<T>* Of(Base base) { return &sets_[static_cast<int>(base)]; }

 private:
  Sequence<T>& sequence_;
  Channels<T> sets_[kNumBases];
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_UNIFORMIZATION_CHANNELS_H_
