// The adjoint sweep over one model: computes the cotangents of the operands
// from the cotangents of the values.

#ifndef PHASIC_NATIVE_KERNEL_SWEEPS_ADJOINT_H_
#define PHASIC_NATIVE_KERNEL_SWEEPS_ADJOINT_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "native/kernel/cotangents/cotangent_writer.h"
#include "native/kernel/cotangents/lost_times.h"
#include "native/kernel/cotangents/statistics_writer.h"
#include "native/kernel/model/model.h"
#include "native/kernel/model/rate_scales.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/sweeps/adjoint_sweeper.h"
#include "native/kernel/sweeps/point_seeds.h"
#include "native/kernel/sweeps/term_adjoints.h"
#include "native/kernel/uniformization/sequence.h"

namespace phasic {
namespace PHASIC_ISA {

inline void FillWithNaN(double* bars, int64_t count) {
  for (int64_t i = 0; bars != nullptr && i < count; ++i) bars[i] = kNaN;
}

inline void FillWithLost(double* bars, int64_t count) {
  for (int64_t i = 0; bars != nullptr && i < count; ++i) {
    bars[i] = MissingBar(kUnderflow);
  }
}

// Fills the outputs with NaN, which marks results that are not computed.
inline void FillWithNaN(const SweepInput& in, const SweepOutput& out) {
  const int64_t p = in.num_phases;
  FillWithNaN(out.initial_probs, p);
  FillWithNaN(out.exit_rates, in.has_exit_rates ? p : 0);
  FillWithNaN(out.prob_zero, in.has_prob_zero ? 1 : 0);
  FillWithLost(out.times, in.num_times);
  FillWithNaN(out.subgenerator,
              in.has_edges() ? in.edges.num_parameters : p * p);
  if (in.has_edges() || in.discrete || !in.has_exit_rates ||
      out.subgenerator == nullptr) {
    return;
  }
  // If exits are given in continuous time, the diagonal of the subgenerator is
  // not read, and its cotangent is zero.
  for (int64_t i = 0; i < p; ++i) out.subgenerator[i * p + i] = 0.0;
}

// Runs another sweep. It recomputes all entries of every output that has NaN
// entries, and the cotangents of the times that underflowed. Outputs without
// NaN entries are left out, so that no output depends on which others are
// requested.
template <class Sweep>
void SweepLostAgain(const Sweep& sweep, const SweepInput& in,
                    const SweepOutput& out, Workspace* workspace) {
  const auto unknown = [](double* bars, int64_t count) {
    const auto is_known = [](double x) { return !std::isnan(x); };
    const bool known =
        bars == nullptr || std::all_of(bars, bars + count, is_known);
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
  if (out.times != nullptr &&
      std::any_of(out.times, out.times + in.num_times, IsLostBar)) {
    again.times = static_cast<double*>(
        workspace->Allocate(static_cast<size_t>(in.num_times), sizeof(double)));
    if (again.times == nullptr) return;
    FillWithLost(again.times, in.num_times);
  }
  sweep(in, again, workspace);
  for (int64_t i = 0; again.times != nullptr && i < in.num_times; ++i) {
    if (IsLostBar(out.times[i])) out.times[i] = again.times[i];
  }
}

// Returns the margin of a first sweep. With margin m, the truncation error at
// each time is below 2^-m * |cotangent * value|. For groups of times, and for
// models with many phases over which derivatives may spread, a larger margin
// costs less than a second sweep.
inline int64_t FirstMargin(int64_t num_phases, bool has_groups) {
  if (has_groups) return 100;
  return num_phases > 64 ? 80 : 56;
}

// The number of margins. If results are not accurate, the sweep is repeated
// with the next larger margin.
constexpr int kNumMargins = 3;

// Returns the number of the margin to start with (see AdjointRun::Margin),
// given the number of blocks of a sweep with margin number 0. A larger margin
// needs more blocks, but in long sweeps not many more: at most 1.4 times as
// many for the second margin from 64 blocks on, and at most 1.3 times as many
// for the last margin from 512 blocks on. Sparse models need a larger margin
// more often, since some of their phases are hardly ever visited.
inline int FirstMarginNumber(int64_t num_blocks, bool is_sparse) {
  if (num_blocks >= 512) return kNumMargins - 1;
  return num_blocks >= 64 && is_sparse ? 1 : 0;
}

// Computes the cotangents of one model: evaluates the values and the cotangents
// of times, and runs the sweeps. `Writer` converts the sums of a sweep to
// results; see CotangentWriter and StatisticsWriter.
template <class T, template <class> class Writer>
class AdjointRun {
 public:
  AdjointRun(const SweepInput& in, const SweepOutput& out,
             const Model<T>& model, const SharedSequence& shared,
             Workspace* workspace)
      : out_(out),
        workspace_(workspace),
        needs_(Writer<T>::NeedsOf(in, out)),
        sequence_(model, HasBase(in, Base::kSurvival), needs_.states(),
                  workspace),
        sets_(&sequence_, Depth<T>::kValue + 2, workspace),
        squared_powers_(model, PhasesOf(in, needs_), workspace),
        squaring_path_(&squared_powers_, Depth<T>::kValue + 2, workspace),
        seeds_(in, &sets_, &squaring_path_, workspace),
        terms_(seeds_, &sequence_, workspace),
        writer_(in, model, out) {
    sequence_.TakeFrom(shared);
  }
  AdjointRun(const AdjointRun&) = delete;
  AdjointRun& operator=(const AdjointRun&) = delete;

  // Computes the values, and those cotangents that need no sweep: of the times
  // and of prob_zero.
  StatusCode Evaluate() {
    StatusCode status = sequence_.Start();
    if (status == kOk) status = seeds_.Evaluate(out_.times);
    if (status == kOk) writer_.WriteAtom(seeds_.atom_bar());
    return status;
  }

  // Runs sweeps with increasing margins until all results are accurate. If some
  // results are not finite or are lost to underflow, writes only the other
  // results, and returns kUnderflow.
  StatusCode Sweep() {
    const StatusCode status = needs_.any() ? SweepRows() : kOk;
    const bool is_lost = writer_.has_losses() || seeds_.lost_early_time();
    return status == kOk && is_lost ? kUnderflow : status;
  }

  int64_t Margin(int number) const {
    if (number > 0) return number == 1 ? 400 : kFinalMargin;
    return FirstMargin(model().size, seeds_.groups().size() > 0);
  }

  const AdjointNeeds& needs() const { return needs_; }
  const Sequence<T>& sequence() const { return sequence_; }
  const PointSeeds<T>& seeds() const { return seeds_; }
  const Model<T>& model() const { return sequence_.model(); }
  TermAdjoints<T>* terms() { return &terms_; }
  const TermAdjoints<T>& terms() const { return terms_; }
  Writer<T>* writer() { return &writer_; }

 private:
  static Phases PhasesOf(const SweepInput& in, const AdjointNeeds& needs) {
    if (!needs.adjoints()) return Phases::kReached;
    const bool has_others =
        HasBase(in, Base::kSurvival) || HasBase(in, Base::kCdf);
    return has_others ? Phases::kAll : Phases::kUseful;
  }

  StatusCode SweepRows() {
    AdjointSweeper<T> sweeper(needs_, &sequence_, &terms_, workspace_);
    StatusCode status = sweeper.Allocate();
    SquaringAdjoint<T> squaring_adjoint(&squaring_path_, needs_.adjoints(),
                                        workspace_);
    SquaringStarts<T> squaring_starts(&squaring_path_, workspace_);
    for (int64_t n = 0; n < seeds_.num_by_squaring() && status == kOk; ++n) {
      status = squaring_adjoint.AddPoint(*seeds_.by_squaring()[n]);
    }
    for (int64_t n = 0; n < seeds_.num_intervals() && status == kOk; ++n) {
      const Interval<T>& interval = seeds_.interval(n);
      if (interval.by_squaring) status = squaring_adjoint.AddInterval(interval);
    }
    if (status == kOk) status = squaring_adjoint.Descend();
    if (status == kOk) status = terms_.Mix(Margin(0));
    const int first = StartingMargin();
    for (int margin = first; margin < kNumMargins; ++margin) {
      if (status == kOk && margin > 0) status = terms_.Mix(Margin(margin));
      if (status == kOk) status = sweeper.Run(writer_.left());
      if (status != kOk) return status;
      if (squaring_adjoint.has_sums()) squaring_adjoint.AddTo(&sweeper);
      AdjointSums<T> sums = SumsOf(seeds_, terms_);
      sweeper.Put(&sums);
      if (writer_.Loses(sums)) {
        if (!sweeper.BoundLosses(&sums)) return kMemoryLimit;
        if (writer_.LosesStarts(sums) && seeds_.num_intervals() == 0) {
          sweeper.ReplaceStarts(squaring_starts.Run(seeds_.by_squaring(),
                                                    seeds_.num_by_squaring()),
                                &sums);
        }
      }
      if (writer_.Write(sums, margin == kNumMargins - 1)) break;
    }
    return kOk;
  }

  int StartingMargin() const {
    // For many times, the cotangents of the terms cost more than a sweep. So a
    // larger margin is used only if the smallest one does not suffice.
    if (seeds_.groups().size() > 0 || AreMany(seeds_.num_points())) {
      return 0;
    }
    // The sweep with the smallest margin has too few steps to reach all phases.
    if (model().columns != nullptr &&
        model().columns->num_blocks() > terms_.last_block() + 1) {
      return kNumMargins - 1;
    }
    const int64_t cells = model().forward.pattern.num_cells();
    const bool is_sparse = cells < model().size * model().size / 8;
    return FirstMarginNumber(terms_.last_block() + 1, is_sparse);
  }

  const SweepOutput& out_;
  Workspace* workspace_;
  const AdjointNeeds needs_;
  Sequence<T> sequence_;
  ChannelSets<T> sets_;
  SquaredPowers<T> squared_powers_;
  SquaringPath<T> squaring_path_;
  PointSeeds<T> seeds_;
  TermAdjoints<T> terms_;
  Writer<T> writer_;
};

// Computes the cotangents of a model. If are_early is nullptr, uses scaling and
// squaring at the same times as for values. Otherwise may also use it at
// earlier times, where it is cheaper for cotangents, and sets *are_early to
// whether it was used at such a time.
template <class T, template <class> class Writer>
StatusCode RunAdjoint(const SweepInput& in, const SweepOutput& out,
                      Workspace* workspace, bool* are_early = nullptr) {
  Model<T> model;
  SweepInput used = in;
  const auto build = [&] {
    model = Model<T>();
    if (are_early != nullptr) model.derivatives = Derivatives::kCotangents;
    ModelBuilder<T> builder(used, workspace, &model);
    if (HasOwnExponent<T>::kValue && out.subgenerator == nullptr &&
        out.jumps == nullptr) {
      builder.SkipZeros();
    }
    return builder.Build();
  };
  StatusCode status = build();
  if (NeedsScaledRates(in, status, model.log2_q)) {
    if (!RateScales(in, workspace).Apply(model.log2_q, &used)) {
      return kMemoryLimit;
    }
    status = build();
  }
  if (status != kOk) return status;
  AdjointRun<T, Writer> run(used, out, model, SharedSequence{}, workspace);
  status = run.Evaluate();
  if (are_early != nullptr) *are_early = run.seeds().are_early();
  return status == kOk ? run.Sweep() : status;
}

template <class T>
void AdjointSweep(const SweepInput& in, const SweepOutput& out,
                  Workspace* workspace) {
  const FloatEnvironment environment(Denormals::kFlush);
  FillWithNaN(in, out);
  bool are_early = false;
  bool* const may_be_early =
      std::is_same<T, double>::value ? &are_early : nullptr;
  StatusCode status =
      RunAdjoint<T, CotangentWriter>(in, out, workspace, may_be_early);
  if ((status == kUnderflow || status == kMemoryLimit) && are_early) {
    const auto by_steps = [&status](const SweepInput& in,
                                    const SweepOutput& out,
                                    Workspace* workspace) {
      FillWithNaN(in, out);
      status = RunAdjoint<T, CotangentWriter>(in, out, workspace);
    };
    SweepLostAgain(by_steps, in, out, workspace);
  }
  if (status == kUnderflow) {
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

#endif  // PHASIC_NATIVE_KERNEL_SWEEPS_ADJOINT_H_
