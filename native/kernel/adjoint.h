// Reverse mode: from cotangents of the values to those of the operands, by
// one sweep down the power sequence.
//
//   y_k = abar_k s + bbar_k 1 + P y_{k+1},   G = sum_k v_k^T y_{k+1},
//   sbar = sum_k abar_k v_k,                 alphabar = y_0,
// where abar, bbar are the cotangents of a_k = v_k . s and b_k = v_k . 1.
// q is a constant: the value does not depend on it.

#ifndef PHASIC_NATIVE_KERNEL_ADJOINT_H_
#define PHASIC_NATIVE_KERNEL_ADJOINT_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "native/kernel/bars_writer.h"
#include "native/kernel/isa.h"
#include "native/kernel/ladder_adjoint.h"
#include "native/kernel/model.h"
#include "native/kernel/point_seeds.h"
#include "native/kernel/products.h"
#include "native/kernel/sequence.h"
#include "native/kernel/statistics_writer.h"
#include "native/kernel/term_adjoints.h"

namespace phasic {
namespace PHASIC_ISA {

template <class T>
class AdjointSweeper {
 public:
  AdjointSweeper(const AdjointNeeds& needs, Sequence<T>* sequence,
                 const PointSeeds<T>& seeds, TermAdjoints<T>* terms,
                 Workspace* workspace)
      : needs_(needs),
        sequence_(*sequence),
        model_(sequence->model()),
        seeds_(seeds),
        terms_(*terms),
        workspace_(workspace) {}

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
                       workspace_)
               ? kOk
               : kMemoryLimit;
  }

  // Runs the sweep.
  StatusCode Run() {
    Clear();
    for (int64_t b = terms_.last_block(); b >= 0; --b) {
      if (!SweepBlock(*sequence_.Find(b), b)) return kMemoryLimit;
      if (b % kBlocksPerSum != 0 || !needs_.rows) continue;
      const bool is_only = terms_.last_block() < kBlocksPerSum;
      if (!exit_bar_.Flush(is_only) || !stays_.Flush(is_only) ||
          !products_.Flush(is_only)) {
        return kMemoryLimit;
      }
    }
    return kOk;
  }

  // Adds what was found elsewhere to what the last run found.
  void AddRow(int64_t i, const T& start, const T& exit, const T& stay) {
    y_[i] = ScaleBy(y_[i], exponent_) + start;
    exit_bar_.data()[i] += exit;
    stays_.data()[i] += stay;
  }
  void AddProduct(int64_t cell, const T& product) {
    if (needs_.products) products_.data()[cell] += product;
  }
  void EndOfAdded(const Scaled<double>& lost_start,
                  const Scaled<double>& lost_product) {
    exponent_ = 0;
    Add(&lost_adjoint_, lost_start);
    Add(&lost_product_, lost_product);
  }

  // What the last run found.
  AdjointSums<T> sums() const {
    AdjointSums<T> sums;
    sums.has_survival = seeds_.has(Base::kSurvival);
    sums.has_exits = seeds_.has(Base::kDensity) || seeds_.has(Base::kCdf);
    sums.starts = y_;
    sums.exponent = exponent_;
    sums.exits = exit_bar_.data();
    sums.stays = stays_.data();
    sums.products = products_.data();
    sums.atom = seeds_.atom_bar();
    sums.total = seeds_.total_bar();
    sums.certain = seeds_.certain_bar();
    sums.has_mixed_signs = seeds_.mixed_signs();
    sums.start_tail = terms_.tail();
    sums.row_tail = {sums.start_tail.mantissa * kBlock *
                         static_cast<double>(terms_.last_block() + 2),
                     sums.start_tail.exponent};
    sums.start_loss = lost_adjoint_;
    sums.row_loss = lost_product_;
    return sums;
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
    exponent_ = INT64_MIN / 4;
    lost_adjoint_ = lost_product_ = Scaled<double>{};
  }

  bool SweepBlock(const Block<T>& block, int64_t b) {
    const int64_t stride = model_.stride;
    T a_bar[kBlock];
    T b_bar[kBlock];
    T factors[kBlock];  // the steps'
    // What underflows there is known from when the states were first made.
    const T* states = needs_.rows ? sequence_.States(b, states_) : nullptr;
    if (needs_.rows && states == nullptr) return false;
    FloatEnvironment::ClearUnderflow();
    const int64_t exponent = terms_.Get(b, a_bar, b_bar);
    AlignExponents(exponent, a_bar, b_bar);
    // y_{k+1} is kept in row k.
    T* last = adjoints_ + (kBlock - 1) * stride;
    for (int64_t i = 0; i < stride; ++i) last[i] = y_[i];
    std::reverse_copy(a_bar, a_bar + kBlock, factors);
    // The row before the first one is y.
    const bool has_survival = terms_.has_survival();
    const int at_once = has_survival ? 1 : kBlock;
    for (int k = 0; k < kBlock; k += at_once) {
      T* next = last - stride;
      Apply(model_.backward, b, factors + k, model_.exits,
            Steps<T>{at_once, last, y_low_, next, -stride});
      last = next;
      for (int64_t i = 0; has_survival && i < model_.size; ++i) {
        next[i] += b_bar[kBlock - 1 - k];
      }
    }
    NoteLosses(block, b);
    if (!needs_.rows) return true;
    const int64_t shift = block.exponent + exponent_;
    double scale = PowerOfTwo(shift);
    if (shift < -1000 || shift > 64) {
      // Products of small numbers must not be flushed before they are scaled.
      for (int64_t i = 0; i < kBlock * stride; ++i) {
        states_[i] = ScaleBy(states[i], shift);
      }
      states = states_;
      scale = 1.0;
    }
    for (int k = 0; k < kBlock; ++k) a_bar[k] = scale * a_bar[k];
    AddRows(a_bar, states, stride, exit_bar_.recent());
    if (needs_.products) {
      AddProducts(model_.products, states, adjoints_, stride, scale,
                  products_.recent());
    }
    AddDiagonal(states, adjoints_, stride, scale, stays_.recent());
    return true;
  }

  // Brings y and this block's term cotangents to one exponent.
  void AlignExponents(int64_t exponent, T* a_bar, T* b_bar) {
    const Scaled<double> size = LargestScaledSize(y_, model_.stride, exponent_);
    int64_t target = exponent;
    if (size.mantissa > 0.0) {
      const int64_t top = size.exponent + ExponentOf(size.mantissa);
      if (top > target) target = top;
      // The exponents need not be the same, only near enough.
      if (exponent_ >= target && exponent_ < target + 8) target = exponent_;
      ScaleAllBy(y_, model_.size, exponent_ - target);
      ScaleAllBy(y_low_, model_.size, exponent_ - target);
    }
    ScaleAllBy(a_bar, kBlock, exponent - target);
    ScaleAllBy(b_bar, kBlock, exponent - target);
    exponent_ = target;
  }

  // What flushing to zero may have cost: in y itself, and in G.
  void NoteLosses(const Block<T>& block, int64_t b) {
    if (HasOwnExponent<T>::kValue) return;
    const double count = static_cast<double>(model_.size + 2) *
                         static_cast<double>(model_.size + 2) * kBlock;
    if (FloatEnvironment::Underflowed() || terms_.HasLosses(b)) {
      const Scaled<double> lost =
          Normalized(Scaled<double>{count, exponent_ - 1022});
      Add(&lost_adjoint_, lost);
      Add(&lost_product_,
          Scaled<double>{lost.mantissa * kBlock * static_cast<double>(b + 1),
                         lost.exponent});
    }
    if (sequence_.UnderflowedBefore(b + 1)) {
      const double size = LargestSize(adjoints_, kBlock * model_.stride);
      Add(&lost_product_,
          Scaled<double>{size * count, exponent_ + block.exponent - 1022});
    }
  }

  const AdjointNeeds needs_;
  Sequence<T>& sequence_;
  const Model<T>& model_;
  const PointSeeds<T>& seeds_;
  TermAdjoints<T>& terms_;
  Workspace* workspace_;
  T* states_ = nullptr;
  T* adjoints_ = nullptr;
  T* y_ = nullptr;  // the row before those of the adjoints
  T* y_low_ = nullptr;
  LongSum<T> exit_bar_;
  LongSum<T> stays_;      // the diagonal of G
  LongSum<T> products_;   // G
  int64_t exponent_ = 0;  // of y
  Scaled<double> lost_adjoint_;
  Scaled<double> lost_product_;
};

inline void FillWithNaN(double* bars, int64_t count) {
  for (int64_t i = 0; bars != nullptr && i < count; ++i) bars[i] = kNaN;
}

// What is not overwritten stays unknown.
inline void FillWithNaN(const SweepInput& in, const SweepOutput& out) {
  const int64_t p = in.num_phases;
  FillWithNaN(out.initial_probs, p);
  FillWithNaN(out.exit_rates, in.has_exit_rates ? p : 0);
  FillWithNaN(out.prob_zero, in.has_prob_zero ? 1 : 0);
  FillWithNaN(out.times, in.num_times);
  FillWithNaN(out.subgenerator,
              in.has_edges() ? in.edges.num_parameters : p * p);
  if (in.has_edges() || in.discrete || !in.has_exit_rates ||
      out.subgenerator == nullptr) {
    return;
  }
  // The diagonal of a subgenerator is not read where exits are given.
  for (int64_t i = 0; i < p; ++i) out.subgenerator[i * p + i] = 0.0;
}

// Runs the extended sweep for those of the outputs that are not known, so that
// none depends on which others are wanted.
inline void SweepLostAgain(Sweep sweep, const SweepInput& in,
                           const SweepOutput& out, Workspace* workspace) {
  const auto unknown = [](double* bars, int64_t count) {
    const auto is_nan = [](double x) { return x != x; };
    const bool known =
        bars == nullptr || std::none_of(bars, bars + count, is_nan);
    return known ? nullptr : bars;
  };
  const int64_t p = in.num_phases;
  SweepOutput again = {};
  again.initial_probs = unknown(out.initial_probs, p);
  again.exit_rates = unknown(out.exit_rates, in.has_exit_rates ? p : 0);
  again.prob_zero = unknown(out.prob_zero, in.has_prob_zero ? 1 : 0);
  again.subgenerator = unknown(
      out.subgenerator, in.has_edges() ? in.edges.num_parameters : p * p);
  workspace->Reset();
  if (unknown(out.times, in.num_times) != nullptr) {
    again.times = static_cast<double*>(
        workspace->Allocate(static_cast<size_t>(in.num_times), sizeof(double)));
    if (again.times == nullptr) return;
    FillWithNaN(again.times, in.num_times);
  }
  sweep(in, again, workspace);
  for (int64_t i = 0; again.times != nullptr && i < in.num_times; ++i) {
    if (std::isnan(out.times[i])) out.times[i] = again.times[i];
  }
}

// A wider margin costs groups of times, or models whose derivatives are shared
// among many phases, less than a second sweep does.
inline int64_t FirstMargin(int64_t num_phases, bool has_groups) {
  if (has_groups) return 100;
  return num_phases > 64 ? 80 : 56;
}

// `Writer` takes what the sweep found; see BarsWriter. What was lost to
// underflow makes the result kUnderflow; all else is written even so.
template <class T, template <class> class Writer>
StatusCode RunAdjoint(const SweepInput& in, const SweepOutput& out,
                      Workspace* workspace) {
  Model<T> model;
  StatusCode status = ModelBuilder<T>(in, workspace, &model).Build();
  if (status != kOk) return status;
  const AdjointNeeds needs = Writer<T>::NeedsOf(in, out);
  Sequence<T> sequence(model, HasBase(in, Base::kSurvival), needs.rows,
                       workspace);
  status = sequence.Start();
  if (status != kOk) return status;
  ChannelSets<T> sets(&sequence, Depth<T>::kValue + 2, workspace);
  Ladder<T> ladder(model, workspace);
  LadderPath<T> ladder_path(&ladder, Depth<T>::kValue + 2, workspace);
  PointSeeds<T> seeds(in, &sets, &ladder_path, workspace);
  status = seeds.Evaluate(out.times);
  if (status != kOk) return status;
  Writer<T> writer(in, model, out);
  writer.WriteAtom(seeds.atom_bar());
  if (!needs.any()) return kOk;
  TermAdjoints<T> terms(seeds, &sequence, workspace);
  AdjointSweeper<T> sweeper(needs, &sequence, seeds, &terms, workspace);
  status = sweeper.Allocate();
  if (status != kOk) return status;
  LadderAdjoint<T> ladder_adjoint(&ladder_path, workspace);
  for (int64_t n = 0; n < seeds.num_on_ladder() && status == kOk; ++n) {
    status = ladder_adjoint.AddPoint(*seeds.on_ladder()[n]);
  }
  for (int64_t n = 0; n < seeds.num_intervals() && status == kOk; ++n) {
    const Interval<T>& interval = seeds.interval(n);
    if (interval.on_ladder) status = ladder_adjoint.AddInterval(interval);
  }
  if (status == kOk) status = ladder_adjoint.Descend();
  const int64_t margins[] = {FirstMargin(model.size, seeds.groups().size() > 0),
                             400, kFinalMargin};
  for (const int64_t margin : margins) {
    if (status == kOk) status = terms.Mix(margin);
    if (status == kOk) status = sweeper.Run();
    if (status != kOk) return status;
    if (ladder_adjoint.has_sums()) ladder_adjoint.AddTo(&sweeper);
    if (writer.Write(sweeper.sums(), margin == kFinalMargin)) break;
  }
  return writer.has_losses() ? kUnderflow : kOk;
}

template <class T>
void AdjointSweep(const SweepInput& in, const SweepOutput& out,
                  Workspace* workspace) {
  const FloatEnvironment environment(Denormals::kFlush);
  FillWithNaN(in, out);
  if (RunAdjoint<T, BarsWriter>(in, out, workspace) == kUnderflow) {
    SweepLostAgain(ExtendedSweeps().adjoint[Depth<T>::kValue + 1], in, out,
                   workspace);
  }
}

inline void StatisticsSweep(const SweepInput& in, const SweepOutput& out,
                            Workspace* workspace) {
  const FloatEnvironment environment(Denormals::kFlush);
  const int64_t p = in.num_phases;
  for (double* rows : {out.starts, out.sojourns, out.exits}) {
    FillWithNaN(rows, p);
  }
  FillWithNaN(out.jumps, in.has_edges() ? in.edges.count : p * p);
  FillWithNaN(out.atom, 1);
  if (RunAdjoint<double, StatisticsWriter>(in, out, workspace) == kUnderflow) {
    workspace->Reset();
    ExtendedSweeps().statistics(in, out, workspace);
  }
}

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_ADJOINT_H_
