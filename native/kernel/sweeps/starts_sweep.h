// Computes the cotangents of alpha alone, by an adjoint sweep in doubles with
// an exponent for each phase.
//
// For a single time, the cotangent of alpha_i is proportional to the value for
// a chain that starts in phase i. In a long chain, these values for the first
// and the last phases differ by far more than the range of doubles. So a vector
// y with one exponent would lose the small ones. Here phase i has an exponent
// e_i of its own, which may be changed between blocks:
//   y_k[i] = 2^e_i z_k[i],
//   z_k[i] = 2^-e_i (abar_k s_i + bbar_k)
//            + sum_j 2^(e_j - e_i) P_ij z_{k+1}[j].
// As scaling by powers of two is exact, the steps are those of AdjointSweeper.
//
// All terms must have the same sign. Then a flushing error that is small
// relative to its entry stays as small relative to all sums that contain the
// entry. So the relative error of every entry is bounded by the sum of the
// relative errors of all steps.

#ifndef PHASIC_NATIVE_KERNEL_SWEEPS_STARTS_SWEEP_H_
#define PHASIC_NATIVE_KERNEL_SWEEPS_STARTS_SWEEP_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "native/kernel/cotangents/bars_writer.h"
#include "native/kernel/matrix/dense_product.h"
#include "native/kernel/matrix/operator.h"
#include "native/kernel/model/model.h"
#include "native/kernel/numbers/scaled.h"
#include "native/kernel/simd/float_environment.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/sweeps/phase_exponents.h"
#include "native/kernel/sweeps/term_adjoints.h"

namespace phasic {
namespace PHASIC_ISA {

// Cotangents of alpha that scaling and squaring computed, relative to
// 2^exponent, and bounds on their flushing errors as in AdjointSums.
template <class T>
struct AddedStarts {
  const T* starts = nullptr;  // nullptr if there are none
  int64_t exponent = 0;
  Scaled<double> loss;
  const double* losses = nullptr;
  int64_t losses_exponent = 0;
  // The same cotangents with an exponent each and without flushing errors; or
  // nullptr.
  const Scaled<T>* scaled = nullptr;
};

// For types other than double, this class does nothing: extended doubles do not
// need such a sweep, and for dual numbers it is not implemented.
template <class T>
class StartsSweep {
 public:
  StartsSweep(const Model<T>&, TermAdjoints<T>*, int64_t, Workspace*) {}
  void Improve(const AddedStarts<T>&, AdjointSums<T>*) {}
};

template <>
class StartsSweep<double> {
 public:
  // At most `num_terms` points contribute to the cotangent of any one term.
  StartsSweep(const Model<double>& model, TermAdjoints<double>* terms,
              int64_t num_terms, Workspace* workspace)
      : model_(model),
        terms_(*terms),
        count_(static_cast<double>(model.size + num_terms + 8)),
        workspace_(workspace),
        exponents_(model) {}

  // Replaces the cotangents of alpha in `sums`, and their error bounds, by the
  // results of this sweep plus `added`. Does nothing if flushing errors of this
  // sweep are not negligible, if cotangents of terms have both signs, or if
  // memory does not suffice. The cotangents of terms must have been computed
  // with the largest margin, so that the truncation error is as small as
  // possible.
  void Improve(const AddedStarts<double>& added, AdjointSums<double>* sums) {
    if (terms_.last_block() < 0 && added.scaled == nullptr) return;
    if (!Allocate() || !Run()) return;
    for (int64_t i = 0; i < model_.size; ++i) {
      starts_[i] = Normalized(Scaled<double>{z_[i], exponents_[i]});
      if (added.scaled != nullptr) {
        Add(&starts_[i], added.scaled[i]);
      } else if (added.starts != nullptr) {
        Add(&starts_[i], Scaled<double>{added.starts[i], added.exponent});
      }
    }
    sums->scaled_starts = starts_;
    sums->start_tail = Scaled<double>{};
    if (added.scaled != nullptr) {
      sums->start_loss = Scaled<double>{};
      sums->start_losses = nullptr;
      return;
    }
    sums->start_loss = added.loss;
    sums->start_losses = added.losses;
    sums->start_losses_exponent = added.losses_exponent;
  }

 private:
  // Exponents are not changed while the entries of z are within this range.
  static constexpr double kLargest = 0x1p100;
  static constexpr double kSmallest = 0x1p-300;
  // The largest accepted bound on the relative flushing error.
  static constexpr double kMostLoss = 0x1p-60;
  static constexpr int64_t kOfZero = PhaseExponents::kOfZero;

  // Sweeps from the last block to the first. Returns whether flushing errors
  // are negligible.
  bool Run() {
    relative_loss_ = 0.0;
    has_positive_ = has_negative_ = false;
    bool is_known = true;
    for (int64_t b = terms_.last_block(); b >= 0 && is_known; --b) {
      is_known = SweepBlock(b);
    }
    FloatEnvironment::ClearUnderflow();
    return is_known;
  }

  bool Allocate() {
    const int64_t stride = model_.stride;
    if (rows_ == nullptr) {
      rows_ = AllocateZeros<double>(workspace_, (1 + kBlock) * stride);
      low_ = AllocateZeros<double>(workspace_, stride);
      exits_ = AllocateZeros<double>(workspace_, stride);
      ones_ = AllocateZeros<double>(workspace_, stride);
      starts_ = AllocateRoom<Scaled<double>>(workspace_, stride);
      if (!rows_ || !low_ || !exits_ || !ones_ || !starts_ ||
          !exponents_.Allocate(workspace_)) {
        return false;
      }
    }
    z_ = rows_;
    std::fill(z_, z_ + stride, 0.0);
    std::fill(low_, low_ + stride, 0.0);
    exponents_.Clear();
    return true;
  }

  bool SweepBlock(int64_t b) {
    double a_bar[kBlock];
    double b_bar[kBlock];
    double factors[kBlock];  // one for each step
    FloatEnvironment::ClearUnderflow();
    const int64_t exponent = terms_.Get(b, a_bar, b_bar);
    const double largest =
        std::max(LargestSize(a_bar, kBlock), LargestSize(b_bar, kBlock));
    if (!NoteTerms(b, a_bar, b_bar)) return false;
    FloatEnvironment::ClearUnderflow();
    const int64_t source = largest > 0.0 ? ExponentOf(largest) : 0;
    ScaleAllBy(a_bar, kBlock, -source);
    ScaleAllBy(b_bar, kBlock, -source);
    if (FloatEnvironment::Underflowed()) return false;
    if (!Align(exponent + source, largest > 0.0)) return false;
    const int64_t stride = model_.stride;
    double* last = rows_ + kBlock * stride;
    std::copy(z_, z_ + stride, last);
    std::reverse_copy(a_bar, a_bar + kBlock, factors);
    const bool has_survival = terms_.has_survival();
    const int at_once = has_survival ? 1 : kBlock;
    for (int k = 0; k < kBlock; k += at_once) {
      double* next = last - stride;
      Apply(exponents_.backward(), b, factors + k, exits_,
            Steps<double>{at_once, last, low_, next, -stride});
      last = next;
      if (has_survival) {
        AddMultiple(b_bar[kBlock - 1 - k], ones_, stride, next);
      }
    }
    return NoteLosses(a_bar, b_bar);
  }

  // Adds the relative flushing error of the cotangents of a block's terms.
  // Returns whether all cotangents so far have one sign and errors are small.
  bool NoteTerms(int64_t b, const double* a_bar, const double* b_bar) {
    const bool lost = terms_.HasLosses(b) || FloatEnvironment::Underflowed();
    for (int k = 0; k < kBlock; ++k) {
      for (const double bar : {a_bar[k], b_bar[k]}) {
        if (bar > 0.0) has_positive_ = true;
        if (bar < 0.0) has_negative_ = true;
      }
      if (!lost) continue;
      const double loss = count_ * 0x1p-1000;
      if (terms_.has_exits()) relative_loss_ += loss / std::fabs(a_bar[k]);
      if (terms_.has_survival()) relative_loss_ += loss / std::fabs(b_bar[k]);
    }
    return !(has_positive_ && has_negative_) && relative_loss_ < kMostLoss;
  }

  // Chooses new exponents if necessary, and scales the exits by them. The
  // cotangents of the block's terms are relative to 2^source, and at most 2.
  // Returns false if an entry of z is flushed to zero, or if no exponents are
  // found.
  bool Align(int64_t source, bool has_terms) {
    if (!FitsExponents(source, has_terms) &&
        !ChooseExponents(source, has_terms)) {
      return false;
    }
    for (int64_t i = 0; i < model_.size; ++i) {
      const int64_t shift = has_terms ? source - exponents_[i] : 0;
      exits_[i] = has_terms ? ScaleBy(model_.exits[i], shift) : 0.0;
      if (terms_.has_survival()) {
        ones_[i] = has_terms ? ScaleBy(1.0, shift) : 0.0;
      }
    }
    return true;
  }

  // Returns the largest exponent of a term that the block's steps add to entry
  // i of y, or kOfZero if there is none.
  int64_t SourceOf(int64_t i, int64_t source) const {
    const double exit = model_.exits[i];
    int64_t result = exit != 0.0 ? source + ExponentOf(exit) + 1 : kOfZero;
    if (terms_.has_survival()) result = std::max(result, source + 1);
    return result;
  }

  bool FitsExponents(int64_t source, bool has_terms) const {
    for (int64_t i = 0; i < model_.size; ++i) {
      const double size = std::fabs(z_[i]);
      if (size > kLargest || (size < kSmallest && size > 0.0)) return false;
      if (has_terms && SourceOf(i, source) > exponents_[i] + 100) return false;
    }
    return exponents_.are_chosen();
  }

  // Chooses exponents for a block. Returns false if an entry of z is flushed to
  // zero, or if no exponents are found.
  bool ChooseExponents(int64_t source, bool has_terms) {
    int64_t* next = exponents_.next();
    for (int64_t i = 0; i < model_.size; ++i) {
      next[i] = z_[i] != 0.0 ? exponents_[i] + ExponentOf(z_[i]) : kOfZero;
      if (has_terms) next[i] = std::max(next[i], SourceOf(i, source));
    }
    if (!exponents_.Raise()) return false;
    for (int64_t i = 0; i < model_.size; ++i) {
      if (z_[i] == 0.0) continue;
      z_[i] = ScaleBy(z_[i], exponents_[i] - next[i]);
      low_[i] = ScaleBy(low_[i], exponents_[i] - next[i]);
      if (z_[i] == 0.0) return false;
    }
    exponents_.Take();
    return true;
  }

  // Adds a bound on the relative flushing errors of a block's steps. Returns
  // whether the total bound is small enough and nothing overflowed.
  bool NoteLosses(const double* a_bar, const double* b_bar) {
    const int64_t stride = model_.stride;
    if (!IsFinite(Sum(rows_, kBlock * stride))) return false;
    if (!exponents_.lost_weights() && !FloatEnvironment::Underflowed()) {
      return true;
    }
    for (int k = kBlock - 1; k >= 0; --k) {
      const double* row = rows_ + k * stride;
      const double* before = row + stride;
      const bool has_term = a_bar[k] != 0.0;
      double least = HUGE_VAL;
      for (int64_t i = 0; i < model_.size; ++i) {
        const double size = std::fabs(row[i]);
        if (size > 0.0) {
          least = std::min(least, size);
        } else if ((has_term && model_.exits[i] != 0.0) || b_bar[k] != 0.0 ||
                   (before[i] != 0.0 &&
                    model_.backward.staying.share[i] > 0.0)) {
          return false;
        }
      }
      if (!ZerosAreExact(row, before)) return false;
      const double largest = std::max(1.0, LargestSize(before, stride));
      relative_loss_ += count_ * (0x1p-1022 * largest) / least;
    }
    return relative_loss_ < kMostLoss;
  }

  // Returns whether all zeros in `row` are exact, not flushed: no jump adds a
  // nonzero entry of `before` to a zero.
  bool ZerosAreExact(const double* row, const double* before) const {
    bool exact = true;
    for (int64_t g = 0; g < model_.backward.pattern.num_groups; ++g) {
      exponents_.ForEachJump(g, [&](int64_t i, int64_t j, int64_t) {
        exact = exact && (row[i] != 0.0 || before[j] == 0.0);
      });
    }
    return exact;
  }

  const Model<double>& model_;
  TermAdjoints<double>& terms_;
  const double count_;
  Workspace* workspace_;
  PhaseExponents exponents_;
  double* rows_ = nullptr;  // z after the steps of a block, last first
  double* z_ = nullptr;
  double* low_ = nullptr;
  double* exits_ = nullptr;  // 2^-e_i s_i, relative to the terms
  double* ones_ = nullptr;   // 2^-e_i
  Scaled<double>* starts_ = nullptr;
  double relative_loss_ = 0.0;
  bool has_positive_ = false;
  bool has_negative_ = false;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_SWEEPS_STARTS_SWEEP_H_
