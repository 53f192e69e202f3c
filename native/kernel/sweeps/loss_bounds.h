// Bounds on the flushing errors of the sums of an adjoint sweep, with a
// separate bound for each row of G. See adjoint_sweeper.h for y and G.
//
// A bound L on the flushing errors of y in some block is propagated in the same
// way as y: L_k = P L_{k+1}. These errors change an entry of row i of G by at
// most sum_k v_k[i] max_j L_{k+1}[j]. If the cotangents of the times have very
// different sizes, errors may be large at late steps. But most phases have
// hardly any mass at late steps, so that a single bound for all rows would be
// too large.

#ifndef PHASIC_NATIVE_KERNEL_SWEEPS_LOSS_BOUNDS_H_
#define PHASIC_NATIVE_KERNEL_SWEEPS_LOSS_BOUNDS_H_

#include <algorithm>
#include <cstdint>
#include <utility>

#include "native/kernel/matrix/operator.h"
#include "native/kernel/model/model.h"
#include "native/kernel/numbers/scaled.h"
#include "native/kernel/simd/block_list.h"
#include "native/kernel/simd/float_environment.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/sequence.h"

namespace phasic {
namespace PHASIC_ISA {

// Bounds for types other than double: extended doubles have no flushing errors,
// and for dual numbers no bounds are computed. rows() returns nullptr.
template <class T>
class LossBounds {
 public:
  LossBounds(Sequence<T>*, Workspace*) {}
  void Clear() {}
  bool Note(int64_t, const Scaled<double>&) { return true; }
  bool Run(bool) { return true; }
  const double* rows() const { return nullptr; }
  const double* starts() const { return nullptr; }
  int64_t exponent() const { return 0; }
};

template <>
class LossBounds<double> {
 public:
  LossBounds(Sequence<double>* sequence, Workspace* workspace)
      : sequence_(*sequence),
        model_(sequence->model()),
        workspace_(workspace),
        losses_(workspace) {}

  void Clear() { num_losses_ = 0; }

  // Records that in a block the flushing error of each entry of y is at most
  // `loss`, a normalized number. Must be called in descending order of blocks.
  // Returns false if memory does not suffice.
  bool Note(int64_t block, const Scaled<double>& loss) {
    if (num_losses_ == losses_.size() && losses_.Append() == nullptr) {
      return false;
    }
    losses_[num_losses_++] = {block, loss};
    return true;
  }

  // Propagates the recorded errors back to the first block. Computes bounds for
  // the rows of G only if `wants_rows`. Returns false if memory does not
  // suffice.
  bool Run(bool wants_rows) {
    if (!Allocate()) return false;
    std::fill(bound_, bound_ + model_.stride, 0.0);
    std::fill(rows_, rows_ + model_.stride, 0.0);
    exponent_ = kExponentOfZero;
    int64_t n = 0;
    for (int64_t b = num_losses_ > 0 ? losses_[0].block : -1; b >= 0; --b) {
      const double* states = nullptr;
      if (wants_rows) {
        states = sequence_.States(b, states_);
        if (states == nullptr) return false;
      }
      if (n > 0) Step(b, states);
      if (n == num_losses_ || losses_[n].block != b) continue;
      const Scaled<double> loss = losses_[n++].loss;
      double all[kBlock];
      std::fill(all, all + kBlock, loss.mantissa);
      AddRows(b, all, loss.exponent, states);
      std::fill(next_, next_ + model_.size, loss.mantissa);
      AddScaled(next_, loss.exponent, model_.size, bound_, &exponent_);
    }
    FloatEnvironment::ClearUnderflow();
    return true;
  }

  // rows() returns the bounds for the rows of G, [p]; starts() returns the
  // bounds for the cotangents of alpha, relative to 2^exponent.
  const double* rows() const { return rows_; }
  const double* starts() const { return bound_; }
  int64_t exponent() const { return exponent_; }

 private:
  struct Loss {
    int64_t block;
    Scaled<double> loss;
  };
  // Flushing to zero also affects the computation of these bounds. It takes
  // less than this from each sum over a block.
  static constexpr double kFlushedSum = 0x1p-1000;

  bool Allocate() {
    if (states_ != nullptr) return true;
    bound_ = AllocateZeros<double>(workspace_, model_.stride);
    next_ = AllocateZeros<double>(workspace_, model_.stride);
    rows_ = AllocateZeros<double>(workspace_, model_.stride);
    states_ = AllocateRoom<double>(workspace_, kBlock * model_.stride);
    return bound_ && next_ && rows_ && states_;
  }

  // Propagates the bound back through the steps of block b, and adds its effect
  // on G to the bounds of the rows.
  void Step(int64_t b, const double* states) {
    double largest[kBlock];
    for (int k = kBlock - 1; k >= 0; --k) {
      largest[k] = LargestSize(bound_, model_.stride);
      Apply(model_.backward, 0, bound_, static_cast<double*>(nullptr), next_);
      std::swap(bound_, next_);
    }
    AddRows(b, largest, exponent_, states);
    for (int64_t i = 0; i < model_.size; ++i) bound_[i] += kFlushedSum;
    const int64_t e = ExponentOf(LargestSize(bound_, model_.stride));
    if (e > -64 && e < 64) return;
    ScaleAllBy(bound_, model_.size, -e);
    exponent_ += e;
  }

  // Adds the effect of a block's errors to the bounds of the rows. largest[k]
  // is a bound on the entries of L_{k+1}.
  void AddRows(int64_t b, const double* largest, int64_t exponent,
               const double* states) {
    if (states == nullptr) return;
    const int64_t shift = exponent + sequence_.Find(b)->exponent;
    const bool underflowed = sequence_.UnderflowedBefore(b + 1);
    for (int64_t i = 0; i < model_.size; ++i) {
      double sum = 0.0;
      bool is_visited = underflowed;
      for (int k = 0; k < kBlock; ++k) {
        const double state = states[k * model_.stride + i];
        sum += largest[k] * state;
        is_visited = is_visited || state != 0.0;
      }
      // If no state of the block has mass in a phase, the block adds nothing to
      // this phase's row of G, and so no error.
      if (is_visited) rows_[i] += ScaleBy(sum + kFlushedSum, shift);
    }
  }

  Sequence<double>& sequence_;
  const Model<double>& model_;
  Workspace* workspace_;
  BlockList<Loss> losses_;
  int64_t num_losses_ = 0;
  double* bound_ = nullptr;  // L, relative to 2^exponent
  double* next_ = nullptr;
  double* rows_ = nullptr;
  double* states_ = nullptr;
  int64_t exponent_ = kExponentOfZero;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_SWEEPS_LOSS_BOUNDS_H_
