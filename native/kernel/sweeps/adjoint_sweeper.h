// The adjoint sweep: one pass from the last step of the power sequence v_k to
// the first. From the cotangents of the sequence's terms, it computes the
// cotangents of P (called G), of the exits s (called sbar) and of alpha (called
// alphabar):
//   y_k = abar_k s + bbar_k 1 + P y_{k+1},   G = sum_k v_k^T y_{k+1},
//   sbar = sum_k abar_k v_k,                 alphabar = y_0.
// Here abar_k is the cotangent of the term a_k = v_k . s, and bbar_k is the
// cotangent of the term b_k = v_k . 1. The factor q is treated as a constant,
// as values do not depend on its choice.

#ifndef PHASIC_NATIVE_KERNEL_SWEEPS_ADJOINT_SWEEPER_H_
#define PHASIC_NATIVE_KERNEL_SWEEPS_ADJOINT_SWEEPER_H_

#include <algorithm>
#include <cstdint>

#include "native/kernel/cotangents/cotangent_writer.h"
#include "native/kernel/matrix/block_products.h"
#include "native/kernel/matrix/products.h"
#include "native/kernel/model/model.h"
#include "native/kernel/runtime/work_limit.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/sweeps/loss_bounds.h"
#include "native/kernel/sweeps/point_seeds.h"
#include "native/kernel/sweeps/term_adjoints.h"
#include "native/kernel/uniformization/sequence.h"

namespace phasic {
namespace PHASIC_ISA {

// Returns AdjointSums in which only the members that need no sweep are set: the
// cotangents of the atom and of the total mass, and the bounds on truncation
// errors.
template <class T>
AdjointSums<T> SumsOf(const PointSeeds<T>& seeds,
                      const TermAdjoints<T>& terms) {
  AdjointSums<T> sums;
  sums.has_survival = seeds.has(Base::kSurvival);
  sums.has_exits = seeds.has(Base::kDensity) || seeds.has(Base::kCdf);
  sums.atom = seeds.atom_bar();
  sums.zeros = seeds.zeros();
  sums.total = seeds.total_bar();
  sums.certain = seeds.certain_bar();
  sums.has_mixed_signs = seeds.mixed_signs();
  sums.start_exponent = seeds.in().ResultExponent();
  sums.row_exponent = seeds.in().RateBarExponent();
  sums.start_tail = terms.tail();
  sums.row_tail = {sums.start_tail.mantissa * kBlock *
                       static_cast<double>(terms.last_block() + 2),
                   sums.start_tail.exponent};
  return sums;
}

// Bounds on the flushing errors of y (`adjoint`), of G (`product`) and of q
// times sbar (`weight`).
struct SweepLosses {
  Scaled<double> adjoint;
  Scaled<double> product;
  Scaled<double> weight;  // of q times the cotangents of weights of phases

  // Returns a bound on the flushing error that a block adds to each entry of y,
  // for p phases. The block computes y relative to 2^exponent.
  static Scaled<double> Flushed(int64_t p, int64_t exponent) {
    return Normalized(Scaled<double>{Count(p), exponent - 1022});
  }
  // Adds the effects that flushing errors of y in block b have on y and on G.
  void AddFlushed(int64_t p, int64_t exponent, int64_t b) {
    const Scaled<double> lost = Flushed(p, exponent);
    Add(&adjoint, lost);
    Add(&product,
        Scaled<double>{lost.mantissa * kBlock * static_cast<double>(b + 1),
                       lost.exponent});
  }
  // Adds the effect that flushing errors of states have on G. The states are
  // multiplied by adjoints whose absolute values are at most `size`, and the
  // products are relative to 2^exponent.
  void AddFlushedStates(int64_t p, double size, int64_t exponent) {
    Add(&product, Scaled<double>{size * Count(p), exponent - 1022});
  }
  // Adds the effect that flushing errors of states have on q sbar, whose terms
  // are products of the states with numbers of at most `size`.
  void AddFlushedWeights(int64_t p, double size, int64_t exponent) {
    Add(&weight, Scaled<double>{size * Count(p), exponent - 1022});
  }
  static double Count(int64_t p) {
    return static_cast<double>(p + 2) * static_cast<double>(p + 2) * kBlock;
  }
};

// Chooses a common exponent for y and for the cotangents of a block's terms.
// Returns whether y must be rescaled to it. y has the exponent `exponent` and
// the largest absolute entry `size`. *target is the exponent of the cotangents,
// and is replaced by the common exponent. To rescale y less often, its exponent
// is kept if it is large enough, and at most seven too large.
inline bool AlignTarget(const Scaled<double>& size, int64_t exponent,
                        int64_t* target) {
  if (!(size.mantissa > 0.0)) return false;
  const int64_t top = size.exponent + ExponentOf(size.mantissa);
  if (top > *target) *target = top;
  if (exponent >= *target && exponent < *target + 8) *target = exponent;
  return *target != exponent;
}

// `Terms` gives the cotangents of the terms, as TermAdjoints does.
template <class T, class Terms = TermAdjoints<T>>
class AdjointSweeper {
 public:
  AdjointSweeper(const AdjointNeeds& needs, Sequence<T>* sequence, Terms* terms,
                 Workspace* workspace)
      : needs_(needs),
        sequence_(*sequence),
        model_(sequence->model()),
        terms_(*terms),
        workspace_(workspace),
        bounds_(sequence, workspace) {}

  StatusCode Allocate() {
    const int64_t stride = model_.stride;
    states_ = AllocateRoom<T>(workspace_, kBlock * stride);
    y_ = AllocateRoom<T>(workspace_, (1 + kBlock) * stride);
    adjoints_ = y_ + stride;
    y_low_ = AllocateRoom<T>(workspace_, stride);
    return states_ && y_ && y_low_ && exit_bar_.Allocate(stride, workspace_) &&
                   stays_.Allocate(stride, workspace_) &&
                   products_.Allocate(
                       needs_.products ? model_.products.num_cells() : 0,
                       workspace_) &&
                   block_products_.Allocate(needs_.products ? stride : 0,
                                            model_.products, workspace_)
               ? kOk
               : kMemoryLimit;
  }

  // Sweeps from the last block to the first, and computes the sums that `left`
  // requests. Returns kMemoryLimit if memory does not suffice or the call has
  // to end early.
  StatusCode Run(const AdjointNeeds& left) {
    needs_ = left;
    Clear();
    for (int64_t b = terms_.last_block(); b >= 0; --b) {
      if (IsStopped()) return kMemoryLimit;
      if (!SweepBlock(*sequence_.Find(b), b)) return kMemoryLimit;
      if (b % kBlocksPerSum != 0 || !needs_.states()) continue;
      if (needs_.products) {
        block_products_.Fold(model_.products, products_.recent());
      }
      const bool is_only = terms_.last_block() < kBlocksPerSum;
      if (!exit_bar_.Flush(is_only) || !stays_.Flush(is_only) ||
          !products_.Flush(is_only)) {
        return kMemoryLimit;
      }
    }
    return kOk;
  }

  // These functions add results of scaling and squaring to the sums of the last
  // sweep. AddStarts adds cotangents of alpha, relative to 2^exponent. AddRow
  // adds to the cotangents of the exit rate of phase i and of entry (i, i) of
  // P. AddProduct adds to the cotangent of another entry of P.
  void AddStarts(const T* starts, int64_t exponent) {
    std::copy(y_, y_ + model_.stride, adjoints_);
    before_added_ = {adjoints_, exponent_, others_.adjoint};
    FloatEnvironment::ClearUnderflow();
    AddScaled(starts, exponent, model_.size, y_, &exponent_);
    if (!FloatEnvironment::Underflowed()) return;
    Add(&others_.adjoint, Scaled<double>{1.0, exponent_ - 1020});
  }
  void AddRow(int64_t i, const T& exit, const T& stay) {
    exit_bar_.data()[i] += exit;
    stays_.data()[i] += stay;
  }
  void AddProduct(int64_t cell, const T& product) {
    if (needs_.products) products_.data()[cell] += product;
  }
  void EndOfAdded(const Scaled<double>& lost_start,
                  const Scaled<double>& lost_product,
                  const Scaled<double>& lost_weight) {
    Add(&others_.weight, lost_weight);
    Add(&others_.adjoint, lost_start);
    Add(&others_.product, lost_product);
  }

  // Replaces the cotangents of alpha that AddStarts added by others without
  // errors, unless `starts` is nullptr.
  void ReplaceStarts(const Scaled<T>* starts, AdjointSums<T>* sums) const {
    if (starts == nullptr) return;
    sums->more_starts = starts;
    sums->starts = before_added_.starts;
    sums->exponent = before_added_.exponent;
    sums->start_loss = before_added_.loss;
  }

  // Sets the sums of the last sweep.
  void Put(AdjointSums<T>* sums) const {
    sums->starts = y_;
    sums->exponent = exponent_;
    sums->exits = exit_bar_.data();
    sums->stays = stays_.data();
    sums->products = products_.data();
    sums->start_loss = others_.adjoint;
    Add(&sums->start_loss, flushed_.adjoint);
    sums->row_loss = others_.product;
    Add(&sums->row_loss, flushed_.product);
    sums->weight_loss = others_.weight;
  }

  // If T is double, replaces the bounds on flushing errors, which hold for all
  // rows, by a separate bound for each row. This costs half as much as a sweep.
  // Returns false if memory does not suffice.
  bool BoundLosses(AdjointSums<T>* sums) {
    if (!bounds_.Run(needs_.rows)) return false;
    if (bounds_.rows() == nullptr) return true;
    sums->start_losses = bounds_.starts();
    sums->start_losses_exponent = bounds_.exponent();
    sums->start_loss = others_.adjoint;
    sums->row_losses = bounds_.rows();
    sums->row_loss = others_.product;
    return true;
  }

 private:
  void Clear() {
    const int64_t stride = model_.stride;
    for (int64_t i = 0; i < stride; ++i) {
      y_[i] = y_low_[i] = T(0.0);
    }
    exit_bar_.Clear();
    stays_.Clear();
    products_.Clear();
    exponent_ = kExponentOfZero;
    flushed_ = others_ = SweepLosses{};
    bounds_.Clear();
  }

  bool SweepBlock(const Block<T>& block, int64_t b) {
    const int64_t stride = model_.stride;
    T a_bar[kBlock];
    T b_bar[kBlock];
    T factors[kBlock];  // one for each step
    // Computing states again may set the underflow flag. It is cleared below,
    // since that underflow was recorded when the states were first computed.
    const T* states = nullptr;  // not set unless they are needed
    if (needs_.states()) {
      states = sequence_.States(b, states_);
      if (states == nullptr) return false;
    }
    const Columns columns = ColumnsOf(b);
    for (int k = 0; k <= kBlock; ++k) {
      ClearOthers(columns, stride, y_ + k * stride);
    }
    ClearOthers(columns, stride, y_low_);
    FloatEnvironment::ClearUnderflow();
    const int64_t exponent = terms_.Get(b, a_bar, b_bar);
    NoteLostWeights(block, b, a_bar, exponent);
    if (!needs_.adjoints()) {
      exponent_ = exponent;
      AddWeights(block, a_bar, states);
      return true;
    }
    AlignExponents(exponent, a_bar, b_bar);
    // Row k of the adjoints holds y_{k+1}.
    T* last = adjoints_ + (kBlock - 1) * stride;
    for (int64_t i = 0; i < stride; ++i) last[i] = y_[i];
    std::reverse_copy(a_bar, a_bar + kBlock, factors);
    // y_ is the row in memory before row 0, so that the last step writes to y_.
    const bool has_survival = terms_.has_survival();
    const int at_once = has_survival ? 1 : kBlock;
    for (int k = 0; k < kBlock; k += at_once) {
      T* next = last - stride;
      Apply(model_.backward, b, factors + k, model_.exits,
            Steps<T>{at_once, last, y_low_, next, -stride, columns});
      last = next;
      if (!has_survival) continue;
      ForEachSpan(columns, model_.size, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          next[i] += b_bar[kBlock - 1 - k];
        }
      });
    }
    if (!NoteLosses(block, b)) return false;
    if (states == nullptr) return true;
    const double scale = AddWeights(block, a_bar, states);
    if (!needs_.rows) return true;
    if (needs_.products) {
      block_products_.Add(model_.products, columns, states, adjoints_, stride,
                          scale, products_.recent());
    }
    ForEachSpan(columns, stride, [&](int64_t begin, int64_t end) {
      AddDiagonal(states, adjoints_, begin, end, stride, scale,
                  stays_.recent());
    });
    return true;
  }

  // Adds products of states and of `a_bar` to sbar. Returns the factor of
  // products of the states and adjoints.
  double AddWeights(const Block<T>& block, T* a_bar, const T*& states) {
    const int64_t stride = model_.stride;
    const int64_t shift = block.exponent + exponent_;
    double scale = PowerOfTwo(shift);
    if (shift < -1000 || shift > 64) {
      // States are scaled before they are multiplied by adjoints, so that
      // products of small numbers do not underflow.
      if (states != states_) {
        std::copy(states, states + kBlock * stride, states_);
      }
      ScaleAllBy(states_, kBlock * stride, shift);
      states = states_;
      scale = 1.0;
    }
    for (int k = 0; k < kBlock; ++k) a_bar[k] = scale * a_bar[k];
    AddRows(a_bar, states, stride, exit_bar_.recent());
    return scale;
  }

  // Returns the columns in which the adjoints of a block are needed and can be
  // nonzero. Adjoints are multiplied by states, and so are needed where the
  // states are nonzero. If the cotangents of alpha are requested, all columns
  // are needed, since these cotangents are adjoints.
  Columns ColumnsOf(int64_t b) const {
    if (model_.columns == nullptr) return {};
    if (!terms_.has_survival()) {
      return model_.columns->OfAdjoints(b, terms_.last_block(), needs_.starts);
    }
    return needs_.starts ? Columns{} : model_.columns->OfStates(b);
  }

  // Scales y and the cotangents of this block's terms to a common exponent.
  void AlignExponents(int64_t exponent, T* a_bar, T* b_bar) {
    const Scaled<double> size = LargestScaledSize(y_, model_.stride, exponent_);
    int64_t target = exponent;
    if (AlignTarget(size, exponent_, &target)) {
      ScaleAllBy(y_, model_.size, exponent_ - target);
      ScaleAllBy(y_low_, model_.size, exponent_ - target);
    }
    ScaleAllBy(a_bar, kBlock, exponent - target);
    ScaleAllBy(b_bar, kBlock, exponent - target);
    exponent_ = target;
  }

  // Records the effect that flushing errors up to block b have on weights of
  // phases.
  void NoteLostWeights(const Block<T>& block, int64_t b, const T* a_bar,
                       int64_t exponent) {
    if (HasOwnExponent<T>::kValue || !needs_.weights) return;
    const int64_t shift = exponent + block.exponent + model_.log2_q;
    if (sequence_.UnderflowedBefore(b + 1)) {
      others_.AddFlushedWeights(model_.size, LargestSize(a_bar, kBlock), shift);
    }
    if (terms_.HasLosses(b)) {
      others_.AddFlushedWeights(model_.size, 1.0, shift);
    }
  }

  // Records the flushing errors of block b in y and in G. Returns false if
  // memory does not suffice.
  bool NoteLosses(const Block<T>& block, int64_t b) {
    if (HasOwnExponent<T>::kValue) return true;
    const bool flushed = FloatEnvironment::Underflowed();
    if (sequence_.UnderflowedBefore(b + 1)) {
      others_.AddFlushedStates(model_.size,
                               LargestSize(adjoints_, kBlock * model_.stride),
                               exponent_ + block.exponent);
    }
    if (!flushed && !terms_.HasLosses(b)) return true;
    flushed_.AddFlushed(model_.size, exponent_, b);
    return bounds_.Note(b, SweepLosses::Flushed(model_.size, exponent_));
  }

  AdjointNeeds needs_;
  Sequence<T>& sequence_;
  const Model<T>& model_;
  Terms& terms_;
  Workspace* workspace_;
  T* states_ = nullptr;
  T* adjoints_ = nullptr;
  T* y_ = nullptr;  // the row before the adjoints
  T* y_low_ = nullptr;
  LongSum<T> exit_bar_;
  LongSum<T> stays_;     // the diagonal of G
  LongSum<T> products_;  // G
  BlockProducts<T> block_products_;
  int64_t exponent_ = 0;  // exponent of y
  SweepLosses flushed_;   // flushing in y, over all blocks
  LossBounds<T> bounds_;  // of flushing in y, for each row
  SweepLosses others_;
  // The cotangents of alpha before AddStarts, and the bound on their losses.
  struct {
    const T* starts;
    int64_t exponent;
    Scaled<double> loss;
  } before_added_ = {};
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_SWEEPS_ADJOINT_SWEEPER_H_
