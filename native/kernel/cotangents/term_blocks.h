// The cotangents of the coefficients c_k of one function (density, survival or
// cdf), in blocks. They are sums over many points and intervals. A function
// with time derivatives has several series of coefficients; series r is called
// channel r in channels.h.

#ifndef PHASIC_NATIVE_KERNEL_COTANGENTS_TERM_BLOCKS_H_
#define PHASIC_NATIVE_KERNEL_COTANGENTS_TERM_BLOCKS_H_

#include <cstdint>

#include "native/kernel/numbers/compensated_sum.h"
#include "native/kernel/numbers/scaled.h"
#include "native/kernel/simd/block_list.h"
#include "native/kernel/simd/float_environment.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/simd/pack.h"
#include "native/kernel/uniformization/channels.h"
#include "native/kernel/uniformization/poisson.h"
#include "native/kernel/uniformization/sequence.h"

namespace phasic {
namespace PHASIC_ISA {

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
class TermBlocks {
 public:
  TermBlocks(Sequence<T>* sequence, Base base, Workspace* workspace)
      : sequence_(*sequence), base_(base), blocks_(workspace) {}

  // Clears all cotangents.
  void Start() { count_ = 0; }

  int64_t count() const { return count_; }

  // Allocates and clears the blocks up to b. Returns false and sets the status
  // if a block is not available.
  bool Reserve(int64_t b, StatusCode* status) {
    for (; count_ <= b; ++count_) {
      const Block<T>* source = sequence_.Get(count_, status);
      if (source == nullptr) return false;
      if (count_ == blocks_.size() && blocks_.Append() == nullptr) {
        *status = kMemoryLimit;
        return false;
      }
      TermBlock& block = blocks_[count_];
      block.poisson = &source->poisson;
      block.exponent = kEmpty;
      block.has_losses = false;
      for (auto& channel : block.bars) {
        for (T& bar : channel) bar = T(0.0);
      }
      for (T& bar : block.whole) bar = T(0.0);
    }
    return true;
  }

  const PoissonTable& Table(int64_t b) const { return *blocks_[b].poisson; }

  // Sums and Whole return two arrays of block b. The cotangent of coefficient j
  // of the block, in series 0, is table[j] * Sums[j] + Whole[j], where `table`
  // is the Poisson table of the block. The arrays are scaled. To add x *
  // 2^exponent to an entry, the caller adds scale * x.
  T* Sums(int64_t b, int64_t exponent, double* scale) {
    return At(b, exponent, scale)->bars[0];
  }
  T* Whole(int64_t b, int64_t exponent, double* scale) {
    return At(b, exponent, scale)->whole;
  }

  // Adds `bar` to the cotangent of coefficient j of block b, in series 0.
  void AddTo(int64_t b, int j, const Scaled<T>& bar) {
    TermBlock& block = blocks_[b];
    RaiseExponent(bar.exponent, &block);
    FloatEnvironment::ClearUnderflow();
    block.bars[0][j] += (1.0 / block.poisson->table[j]) *
                        ScaleBy(bar.mantissa, bar.exponent - block.exponent);
    if (FloatEnvironment::Underflowed()) block.has_losses = true;
  }

  // Adds coefficients[r] w_k to the cotangent of coefficient k of series r, for
  // each r and each index k of block b. `weight` is the Poisson weight w_k of
  // the first index. Returns the weight of the first index of the next block.
  Scaled<double> AddWeights(int64_t b, const Scaled<double>& weight,
                            int64_t exponent, const T* coefficients,
                            PoissonWalk* walk) {
    TermBlock& block = blocks_[b];
    FloatEnvironment::ClearUnderflow();
    return walk->Up(b, *block.poisson, weight,
                    [&](int first, int last, const Scaled<double>& scale,
                        const double* powers) {
                      const int64_t e = scale.exponent + exponent;
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

  // Returns whether a number was flushed to zero in the cotangents of block b.
  bool HasLosses(int64_t b) const {
    return b < count_ && blocks_[b].has_losses;
  }

  // Computes the cotangents of the terms a_k and b_k of block b, relative to
  // 2^e, and returns e. Blocks must be requested in descending order.
  int64_t Get(int64_t b, T* a_bar, T* b_bar) {
    if (b == count_ - 1) {
      suffix_ = Scaled<T>{};
      suffix_low_ = T(0.0);
    }
    int64_t exponent = blocks_[b].exponent;
    if (Depth<T>::kValue > 0 && b > 0 && blocks_[b - 1].exponent > exponent) {
      exponent = blocks_[b - 1].exponent;
    }
    if (base_ == Base::kCdf && !IsZero(suffix_.mantissa) &&
        suffix_.exponent > exponent) {
      exponent = suffix_.exponent;
    }
    if (Depth<T>::kValue == 0 && base_ == Base::kDensity) {
      for (int j = 0; j < kBlock; ++j) {
        a_bar[j] = Bar(blocks_[b], j, 0);
        b_bar[j] = T(0.0);
      }
      return exponent;
    }
    const int offset = base_ == Base::kDensity ? 0 : 1;
    const double scale =
        base_ == Base::kDensity ? 1.0 : 1.0 / sequence_.model().q;
    T suffix = ScaleBy(suffix_.mantissa, suffix_.exponent - exponent);
    T low = ScaleBy(suffix_low_, suffix_.exponent - exponent);
    for (int j = kBlock - 1; j >= 0; --j) {
      T sum = T(0.0);
      for (int r = offset; r <= Depth<T>::kValue; ++r) {
        sum += Weighted(b, j - (r - offset), r, exponent);
      }
      b_bar[j] = T(0.0);
      if (base_ == Base::kSurvival) b_bar[j] = Weighted(b, j, 0, exponent);
      if (base_ == Base::kCdf) {
        sum += suffix + low;
        AddCompensated(Weighted(b, j, 0, exponent), &suffix, &low);
      }
      a_bar[j] = scale * sum;
    }
    suffix_ = Normalized(Scaled<T>{suffix, exponent});
    suffix_low_ = ScaleBy(low, exponent - suffix_.exponent);
    return exponent;
  }

 private:
  static constexpr int64_t kEmpty = INT64_MIN / 4;  // all sums are zero

  struct TermBlock {
    // For each series, the sums that are still to be multiplied by the Poisson
    // table; see Sums.
    T bars[Depth<T>::kValue + 1][kBlock];
    T whole[kBlock];  // further cotangents of series 0; see Whole
    const PoissonTable* poisson;
    int64_t exponent;
    bool has_losses;  // a number was flushed to zero
  };

  TermBlock* At(int64_t b, int64_t exponent, double* scale) {
    TermBlock& block = blocks_[b];
    RaiseExponent(exponent, &block);
    *scale = PowerOfTwo(exponent - block.exponent);
    return &block;
  }

  static void RaiseExponent(int64_t exponent, TermBlock* block) {
    const int64_t shift = block->exponent - exponent;
    if (shift >= -200) return;
    if (block->exponent != kEmpty) {
      FloatEnvironment::ClearUnderflow();
      for (auto& channel : block->bars) ScaleAllBy(channel, kBlock, shift);
      ScaleAllBy(block->whole, kBlock, shift);
      if (FloatEnvironment::Underflowed()) block->has_losses = true;
    }
    block->exponent = exponent;
  }

  // Returns the cotangent of coefficient j of a series in block b, relative to
  // 2^exponent. A negative j means a coefficient of the previous block.
  T Weighted(int64_t b, int j, int channel, int64_t exponent) const {
    if (j < 0) {
      if (b == 0) return T(0.0);
      --b;
      j += kBlock;
    }
    return ScaleBy(Bar(blocks_[b], j, channel), blocks_[b].exponent - exponent);
  }
  static T Bar(const TermBlock& block, int j, int channel) {
    T sum = block.poisson->table[j] * block.bars[channel][j];
    if (channel == 0) sum += block.whole[j];
    return sum;
  }

  Sequence<T>& sequence_;
  const Base base_;
  BlockList<TermBlock> blocks_;
  int64_t count_ = 0;
  Scaled<T> suffix_;       // sum of series 0 over later k
  T suffix_low_ = T(0.0);  // rounding error, same exponent
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_COTANGENTS_TERM_BLOCKS_H_
