// Computes and writes the cotangents of the operands (initial_probs,
// subgenerator, exit_rates, prob_zero) from the sums of an adjoint sweep over
// one model.

#ifndef PHASIC_NATIVE_KERNEL_COTANGENTS_COTANGENT_WRITER_H_
#define PHASIC_NATIVE_KERNEL_COTANGENTS_COTANGENT_WRITER_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "native/kernel/api/sweep.h"
#include "native/kernel/model/model.h"
#include "native/kernel/numbers/scaled.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/point.h"

namespace phasic {
namespace PHASIC_ISA {

// The sums that an adjoint sweep computes: the cotangents of alpha, of the
// exits and of P, with all their entries regarded as independent. In fact the
// diagonal of P depends on other operands, and so do exits and prob_zero that
// are not given. CotangentWriter applies the chain rule to them.
template <class T>
struct AdjointSums {
  bool has_survival = false;  // a survival function is requested
  bool has_exits = false;     // another function is requested
  const T* starts = nullptr;  // [p], of alpha, relative to 2^exponent
  int64_t exponent = 0;       // exponent of `starts`
  // [p], further cotangents of alpha, each with its own exponent and without
  // errors; may be nullptr.
  const Scaled<T>* more_starts = nullptr;
  const T* exits = nullptr;      // [p]
  const T* stays = nullptr;      // [p], of the diagonal of P
  const T* products = nullptr;   // of P, in the cells of model.products
  T atom = T(0.0);               // cotangent of prob_zero
  T zeros = T(0.0);              // prob_zero times `atom`, always in range
  T total = T(0.0);              // cotangent of prob_zero + sum(alpha)
  T certain = T(0.0);            // sum of the cotangents of values that are one
  bool has_mixed_signs = false;  // there are cotangents of both signs
  int64_t start_exponent = 0;    // SweepInput::ResultExponent
  int64_t row_exponent = 0;      // SweepInput::RateBarExponent
  // Bounds on the errors of truncation (tail) and of flushing to zero (loss).
  // The start bounds hold for each cotangent of alpha. The row bounds hold for
  // each cotangent of P, and for q times each cotangent of an exit.
  Scaled<double> start_tail;
  Scaled<double> row_tail;
  Scaled<double> start_loss;
  Scaled<double> row_loss;
  // The same bound for q times the cotangent of a weight of a phase.
  Scaled<double> weight_loss;
  // Further bounds on flushing errors, which are added to those above: one for
  // each cotangent of alpha, relative to 2^start_losses_exponent, and one for
  // each row of P. Each array may be nullptr.
  const double* start_losses = nullptr;
  int64_t start_losses_exponent = 0;
  const double* row_losses = nullptr;

  Scaled<T> Start(int64_t i) const {
    Scaled<T> start = {starts[i], exponent};
    if (more_starts != nullptr) Add(&start, more_starts[i]);
    return start;
  }
  Scaled<double> StartSize(int64_t i) const {
    const Scaled<T> start = Start(i);
    return SizeOf(start.mantissa, start.exponent);
  }
  Scaled<double> StartLoss(int64_t i) const {
    Scaled<double> loss = start_loss;
    if (start_losses != nullptr) {
      Add(&loss, Scaled<double>{start_losses[i], start_losses_exponent});
    }
    return loss;
  }
  Scaled<double> RowLoss(int64_t i) const {
    Scaled<double> loss = row_loss;
    if (row_losses != nullptr) Add(&loss, Scaled<double>{row_losses[i], 0});
    return loss;
  }
  // Returns whether any value depends on the initial probability of phase i.
  bool Matters(const Model<T>& model, int64_t i) const {
    return has_survival || model.exiting[i];
  }

  static bool IsShort(const Scaled<double>& tail, const Scaled<double>& size) {
    return !IsAtMost(tail, -44, size);
  }
  // Return whether flushing to zero lost significant digits of a cotangent of
  // alpha, or of a cotangent in a row of P. `loss` is a bound on the flushing
  // error, and `size` the absolute value of the cotangent. An error below
  // 2^-920 (1e-277) is ordinary underflow. This threshold is higher if
  // cotangents of values have both signs and may cancel, since `size` then says
  // nothing about the terms of the sum.
  bool StartIsLost(const Scaled<double>& loss,
                   const Scaled<double>& size) const {
    return IsLost(loss, size, start_exponent);
  }
  bool RowIsLost(const Scaled<double>& loss, const Scaled<double>& size) const {
    return IsLost(loss, size, row_exponent);
  }

 private:
  bool IsLost(const Scaled<double>& loss, const Scaled<double>& size,
              int64_t exponent) const {
    const int64_t negligible = has_mixed_signs ? -900 : -920;
    const int64_t unit = -std::max<int64_t>(exponent, 0);
    if (IsAtMost(loss, negligible, {1.0, unit})) return false;
    return !IsAtMost(loss, -42, size);
  }
};

// The groups of cotangents that are requested and not yet written.
struct AdjointNeeds {
  bool starts;
  bool rows;  // exits and stays
  bool products;
  bool weights;  // exits that are weights of phases

  bool any() const { return starts || rows || weights; }
  // Returns whether the states of the power sequence are needed, and whether
  // its adjoints are.
  bool states() const { return rows || weights; }
  bool adjoints() const { return starts || rows; }
};

// Writes the cotangents of the operands. The adjoint sweep may be repeated with
// smaller truncation errors. The cotangents of alpha are written after the
// first sweep in which they are accurate, and so are the cotangents of the
// rates and those of weights. So no group depends on whether another is
// requested.
template <class T>
class CotangentWriter {
 public:
  CotangentWriter(const SweepInput& in, const Model<T>& model,
                  const SweepOutput& out)
      : in_(in), model_(model), out_(out), left_(NeedsOf(in, out)) {}

  static AdjointNeeds NeedsOf(const SweepInput& in, const SweepOutput& out) {
    const bool rates = out.subgenerator != nullptr;
    const bool exits = in.has_exit_rates && out.exit_rates != nullptr;
    const bool weights = exits && in.has_edges();
    return {out.initial_probs != nullptr, rates || (exits && !weights), rates,
            weights};
  }

  void WriteAtom(const T& atom) {
    if (in_.has_prob_zero && out_.prob_zero != nullptr) {
      out_.prob_zero[0] = Shown(false, atom, in_.ResultExponent());
    }
  }

  // Returns whether flushing to zero lost significant digits of any cotangent
  // that is not written yet.
  bool Loses(const AdjointSums<T>& sums) {
    sums_ = sums;
    for (int64_t i = 0; i < model_.size; ++i) {
      if ((left_.starts && StartIsLost(i)) || (left_.rows && RowIsLost(i)) ||
          (left_.weights && WeightIsLost(i))) {
        return true;
      }
    }
    return false;
  }

  // Returns whether flushing to zero lost significant digits of any cotangent
  // of alpha, if those are not written yet.
  bool LosesStarts(const AdjointSums<T>& sums) {
    sums_ = sums;
    for (int64_t i = 0; i < model_.size; ++i) {
      if (left_.starts && StartIsLost(i)) return true;
    }
    return false;
  }

  // Writes those groups of cotangents whose truncation errors are small; in the
  // last pass writes all. Returns whether nothing is left to write.
  bool Write(const AdjointSums<T>& sums, bool is_last) {
    sums_ = sums;
    if (left_.starts && (is_last || StartsAreAccurate())) {
      left_.starts = false;
      WriteStarts();
    }
    if (left_.weights && (is_last || WeightsAreAccurate())) {
      left_.weights = false;
      WriteWeights();
    }
    if (left_.rows && (is_last || RowsAreAccurate())) {
      left_.rows = false;
      if (in_.has_edges()) {
        WriteEdges();
      } else {
        WriteSubgenerator();
      }
    }
    return !left_.any();
  }

  // Returns which cotangents are not written yet.
  const AdjointNeeds& left() const { return left_; }

  // Returns whether any written cotangent left the range of T, so that a sweep
  // over numbers of wider range may be able to compute it.
  bool has_losses() const { return has_losses_; }

 private:
  // Returns whether the truncation error of every cotangent of alpha is small
  // relative to the cotangent itself.
  bool StartsAreAccurate() const {
    for (int64_t i = 0; i < model_.size; ++i) {
      if (sums_.Matters(model_, i) &&
          sums_.IsShort(sums_.start_tail, sums_.StartSize(i))) {
        return false;
      }
    }
    return true;
  }
  bool RowsAreAccurate() const {
    for (int64_t i = 0; i < model_.size; ++i) {
      if (model_.reached[i] && !IsDead(i) &&
          sums_.IsShort(sums_.row_tail, LeastRowSize(i))) {
        return false;
      }
    }
    return ExitsOfDeadAreAccurate();
  }
  // Returns whether no path leads from phase i to a weight, so that all terms
  // of its row are zero but for those of edges that leave the dead phases.
  // These have the rate zero.
  bool IsDead(int64_t i) const {
    return in_.has_weights() && !sums_.Matters(model_, i);
  }
  bool ExitsOfDeadAreAccurate() const {
    if (!in_.has_weights()) return true;
    const EdgeView& edges = in_.edges;
    int64_t listed = 0;
    for (int64_t e = 0; e < edges.count; ++e) {
      const int64_t i = edges.sources[e];
      const int64_t j = edges.targets[e];
      if (j == i || j == model_.size) continue;
      const int64_t cell = model_.cells[listed++];
      if (model_.reached[i] && IsDead(i) && !IsDead(j) &&
          sums_.IsShort(sums_.row_tail, SizeOf(sums_.products[cell], 0))) {
        return false;
      }
    }
    return true;
  }
  bool WeightsAreAccurate() const {
    for (int64_t i = 0; i < model_.size; ++i) {
      if (model_.reached[i] && sums_.IsShort(sums_.row_tail, WeightSize(i))) {
        return false;
      }
    }
    return true;
  }

  void WriteStarts() {
    for (int64_t i = 0; i < model_.size; ++i) {
      // The two terms may be out of the range of doubles while their difference
      // is in range. So they are subtracted as numbers of type T.
      // A cotangent alone is scaled up first, as it may be below their range.
      const bool is_alone =
          IsZero(sums_.total) && (in_.has_prob_zero || IsZero(sums_.atom));
      Scaled<T> sum = sums_.Start(i);
      if (is_alone) sum.exponent += in_.ResultExponent();
      T start = ToPlain(sum) + sums_.total;
      if (!in_.has_prob_zero) start -= sums_.atom;
      const bool is_lost = StartIsLost(i);
      // A sum with finite mantissas that exceeds the range of doubles would
      // exceed it in any type, unless the result is scaled down.
      const bool overflows = !is_lost && in_.ResultExponent() >= 0 &&
                             IsFinite(sum.mantissa) && IsFinite(sums_.total) &&
                             IsFinite(sums_.atom) &&
                             std::fabs(Top(start)) == HUGE_VAL;
      out_.initial_probs[i] =
          overflows
              ? Top(start)
              : Shown(is_lost, start, is_alone ? 0 : in_.ResultExponent());
    }
  }

  // As in WriteStarts, subtracts numbers of type T and converts the difference
  // to double.
  void WriteSubgenerator() {
    const int64_t p = model_.size;
    for (int64_t i = 0; i < p; ++i) {
      const bool lost = RowIsLost(i);
      const T stay = model_.discrete ? T(0.0) : PerRate(sums_.stays[i]);
      const T& exit = sums_.exits[i];
      const T& row = in_.has_exit_rates ? stay : exit;
      // If exits are given in continuous time, the diagonal is not read.
      const bool is_read = !in_.has_exit_rates || model_.discrete;
      if (in_.has_exit_rates && out_.exit_rates != nullptr) {
        out_.exit_rates[i] = ShownRate(lost, exit - stay);
      }
      if (out_.subgenerator == nullptr) continue;
      for (int64_t j = 0; j < p; ++j) {
        const int64_t cell = FullCell(p, model_.products.width, i, j);
        const T jump = PerRate(sums_.products[cell]);
        out_.subgenerator[i * p + j] =
            i == j && !is_read ? 0.0 : ShownRate(lost, jump - row);
      }
    }
  }

  void WriteWeights() {
    for (int64_t i = 0; i < model_.size; ++i) {
      out_.exit_rates[i] = ShownRate(WeightIsLost(i), sums_.exits[i]);
    }
  }

  // Writes the cotangents of theta, the parameters of the edges' rates.
  void WriteEdges() {
    const EdgeView& edges = in_.edges;
    if (edges.coefficients == nullptr) {
      ForEachEdge([&](int64_t e, bool lost, const T& bar) {
        out_.subgenerator[e] = ShownRate(lost, bar);
      });
      return;
    }
    // Parameters are processed in groups whose sums fit into a local array.
    constexpr int64_t kAtOnce = 8;
    for (int64_t first = 0; first < edges.num_parameters; first += kAtOnce) {
      const int64_t count =
          std::min<int64_t>(kAtOnce, edges.num_parameters - first);
      T sums[kAtOnce];
      bool has_lost[kAtOnce] = {};
      for (T& sum : sums) sum = T(0.0);
      ForEachEdge([&](int64_t e, bool lost, const T& bar) {
        const double* factors =
            edges.coefficients + e * edges.num_parameters + first;
        for (int64_t c = 0; c < count; ++c) {
          if (factors[c] == 0.0) continue;
          sums[c] += factors[c] * bar;
          has_lost[c] = has_lost[c] || lost;
        }
      });
      for (int64_t c = 0; c < count; ++c) {
        out_.subgenerator[first + c] = ShownRate(has_lost[c], sums[c]);
      }
    }
  }

  // Calls visit(e, is_lost, bar) for each edge e, where `bar` is the cotangent
  // of its rate.
  template <class Visit>
  void ForEachEdge(const Visit& visit) {
    const EdgeView& edges = in_.edges;
    int64_t listed = 0;
    for (int64_t e = 0; e < edges.count; ++e) {
      const int64_t i = edges.sources[e];
      if (edges.targets[e] == i) {
        visit(e, false, T(0.0));
        continue;
      }
      T arrive = T(0.0);
      if (edges.targets[e] != model_.size) {
        arrive = PerRate(sums_.products[model_.cells[listed++]]);
      } else if (!in_.has_weights()) {
        arrive = sums_.exits[i];
      }
      visit(e, RowIsLost(i), arrive - PerRate(sums_.stays[i]));
    }
  }

  // Returns sum / q. The division is exact, as q is a power of two.
  T PerRate(const T& sum) const { return (1.0 / model_.q) * sum; }

  // Returns a lower bound on the size of the terms of each derivative with
  // respect to a rate of row i. Such a derivative is the difference of two
  // terms. The first is the term of a jump or an exit. The second is the term
  // of the diagonal of P or, if exits are derived, the term of an exit. The
  // term of an exit may be many orders of magnitude larger than the term of a
  // jump to a phase that is far from absorption.
  Scaled<double> LeastRowSize(int64_t i) const {
    const bool has_stays = in_.has_exit_rates || in_.has_edges();
    const double stays = MaxAbs(sums_.stays[i]);
    return has_stays && stays > 0.0 ? Scaled<double>{stays, 0} : RowSize(i);
  }
  Scaled<double> RowSize(int64_t i) const {
    Scaled<double> size = SizeOf(sums_.stays[i], 0);
    if (!in_.has_weights()) Add(&size, WeightSize(i));
    return size;
  }
  // Returns the size of q times the cotangent of an exit.
  Scaled<double> WeightSize(int64_t i) const {
    return SizeOf(sums_.exits[i], model_.log2_q);
  }
  bool StartIsLost(int64_t i) const {
    Scaled<double> size = sums_.StartSize(i);
    if (!in_.has_prob_zero) {
      Add(&size, SizeOf(sums_.atom, 0));
    }
    return sums_.Matters(model_, i) &&
           sums_.StartIsLost(sums_.StartLoss(i), size);
  }
  bool RowIsLost(int64_t i) const {
    return model_.reached[i] && sums_.RowIsLost(sums_.RowLoss(i), RowSize(i));
  }
  bool WeightIsLost(int64_t i) const {
    return model_.reached[i] &&
           sums_.RowIsLost(sums_.weight_loss, WeightSize(i));
  }
  double ShownRate(bool is_lost, const T& bar) {
    return Shown(is_lost, bar, in_.RateBarExponent());
  }
  // Returns the cotangent times 2^exponent as a double, or NaN if it is lost to
  // underflow. An infinite result is NaN, too, if T has the range of doubles,
  // since intermediate numbers may have overflowed.
  double Shown(bool is_lost, const T& bar, int64_t exponent) {
    const double shown = is_lost ? kNaN : Top(ScaleBy(bar, exponent));
    if (IsFinite(shown)) return shown;
    has_losses_ = true;
    return HasOwnExponent<T>::kValue ? shown : kNaN;
  }

  const SweepInput& in_;
  const Model<T>& model_;
  const SweepOutput& out_;
  AdjointNeeds left_;
  AdjointSums<T> sums_;
  bool has_losses_ = false;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_COTANGENTS_COTANGENT_WRITER_H_
