// Computes the power sequence v_k = alpha P^k, block by block.

#ifndef PHASIC_NATIVE_KERNEL_UNIFORMIZATION_POWER_WALK_H_
#define PHASIC_NATIVE_KERNEL_UNIFORMIZATION_POWER_WALK_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "native/kernel/matrix/operator.h"
#include "native/kernel/matrix/power_block.h"
#include "native/kernel/matrix/tiles.h"
#include "native/kernel/numbers/scaled.h"
#include "native/kernel/simd/isa.h"

// Declares a function that is neither inlined nor specialized for a caller.
#if defined(__clang__)
#define PHASIC_ONE_COPY [[gnu::noinline]]
#else
#define PHASIC_ONE_COPY [[gnu::noinline, gnu::noclone]]
#endif

namespace phasic {
namespace PHASIC_ISA {

// Returns the exponent e for which a state of this size is multiplied by 2^-e
// at the start of a block, so that its largest entry is near one. Returns 0 if
// it is near one already.
inline int64_t RescaleExponent(const Scaled<double>& size) {
  if (!(size.mantissa > 0.0) || size.mantissa >= 0x1p1023) return 0;
  const int64_t e = size.exponent + ExponentOf(size.mantissa);
  return e > -64 && e < 64 ? 0 : e;
}

// The current state of a power sequence, which can be stepped forward. It is
// (state + low) * 2^exponent, where `low` is the rounding error of `state`.
template <class T>
class PowerWalk {
 public:
  explicit PowerWalk(Workspace* workspace) : workspace_(workspace) {}

  // If `reached` is not null, it lists the columns that can be reached. The
  // state must be zero in all other columns.
  bool Allocate(int64_t size, int64_t stride,
                const ReachedColumns* reached = nullptr) {
    reached_ = reached;
    size_ = size;
    stride_ = stride;
    state_ = AllocateZeros<T>(workspace_, stride);
    low_ = AllocateZeros<T>(workspace_, stride);
    at_once_ = stride <= kSmallStride ? kBlock : 1;
    next_ = reached != nullptr ? AllocateZeros<T>(workspace_, stride)
                               : AllocateRoom<T>(workspace_, stride * at_once_);
    return state_ && low_ && next_;
  }
  bool is_allocated() const { return next_ != nullptr; }

  int64_t stride() const { return stride_; }
  T* state() { return state_; }
  const T* state() const { return state_; }
  T* low() { return low_; }
  const T* low() const { return low_; }
  int64_t exponent() const { return exponent_; }
  void set_exponent(int64_t exponent) { exponent_ = exponent; }

  // Scales the state so that its largest entry is near one. Must be called at
  // the start of each block.
  void Rescale() {
    const int64_t e = RescaleExponent(LargestScaledSize(state_, stride_, 0));
    for (int64_t i = 0; e != 0 && i < size_; ++i) {
      state_[i] = ScaleBy(state_[i], -e);
      low_[i] = ScaleBy(low_[i], -e);
    }
    exponent_ += e;
  }

  // Must be called after the state was set to that of an earlier block.
  void GoBack() {
    if (reached_ != nullptr) std::fill(next_, next_ + stride_, T(0.0));
  }

  // Computes the states of one block and calls visit(j, state) with each of the
  // sixteen. If `states` is not null, they are stored in its rows.
  template <class Visit>
  void StepBlock(const Operator<T>& m, int64_t block, T* states,
                 const Visit& visit) {
    columns_ = reached_ != nullptr ? reached_->OfStates(block) : Columns{};
    if (states != nullptr) {
      std::copy(state_, state_ + stride_, states);
      for (int j = 1; j < kBlock; ++j) {
        ClearOthers(columns_, stride_, states + j * stride_);
      }
      Step(m, block, kBlock - 1, states, states + stride_);
      for (int j = 0; j < kBlock; ++j) visit(j, states + j * stride_);
      Step(m, block, 1, states + (kBlock - 1) * stride_, next_);
      TakeNext(0);
      return;
    }
    for (int j = 0; j < kBlock; j += at_once_) {
      Step(m, block, at_once_, state_, next_);
      visit(j, state_);
      for (int i = 1; i < at_once_; ++i) {
        visit(j + i, next_ + (i - 1) * stride_);
      }
      TakeNext(at_once_ - 1);
    }
  }

 private:
  // If the stride is at most this, the sixteen states of a block are computed
  // at once.
  static constexpr int64_t kSmallStride = 64;

  // Replaces the state by the last one that was computed.
  void TakeNext(int row) {
    if (at_once_ == 1) return std::swap(state_, next_);
    std::copy(next_ + row * stride_, next_ + (row + 1) * stride_, state_);
  }

  // Computes the `count` states that follow `state`. Not inlined: in each
  // inlined copy, the compiler might contract different products and sums to
  // multiply-adds. Then a recomputed state would not have the same bits.
  PHASIC_ONE_COPY void Step(const Operator<T>& m, int64_t block, int count,
                            const T* state, T* rows) {
    Apply(m, block, Steps<T>{count, state, low_, rows, stride_, columns_});
  }

  Workspace* workspace_;
  int64_t size_ = 0;
  int64_t stride_ = 0;
  T* state_ = nullptr;
  T* low_ = nullptr;   // its rounding error
  T* next_ = nullptr;  // [at_once_, stride]
  int at_once_ = 1;    // states that are computed before any is visited
  int64_t exponent_ = 0;
  const ReachedColumns* reached_ = nullptr;
  Columns columns_;  // of the current block
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#undef PHASIC_ONE_COPY

#endif  // PHASIC_NATIVE_KERNEL_UNIFORMIZATION_POWER_WALK_H_
