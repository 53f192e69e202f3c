// The search for the quantiles of one call.

#ifndef PHASIC_NATIVE_QUANTILES_QUANTILE_RUN_H_
#define PHASIC_NATIVE_QUANTILES_QUANTILE_RUN_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "native/kernel/api/shapes.h"
#include "native/kernel/batch/batch_index.h"
#include "native/kernel/runtime/work_limit.h"
#include "native/quantiles/count_search.h"
#include "native/quantiles/functions.h"
#include "native/quantiles/limits.h"
#include "native/quantiles/quantiles.h"
#include "native/quantiles/search_run.h"
#include "native/quantiles/start_points.h"
#include "native/quantiles/targets.h"
#include "native/quantiles/time_search.h"

namespace phasic {

// Searches the quantiles of one call, whose arrays have floating-point type F.
// Entries are numbered row by row.
template <class F>
class QuantileRun {
 public:
  QuantileRun(const Call& call, const Input* inputs, const Layout& layout,
              Executor* executor)
      : call_(call),
        inputs_(inputs),
        layout_(layout),
        executor_(executor),
        type_(FloatTypeOf<F>()),
        functions_(call, inputs, layout, executor) {}

  const char* Run(const Output* outputs) {
    const char* error =
        FindLimits(call_, inputs_, layout_, executor_, &functions_, &limits_);
    if (error != nullptr) return error;
    const int64_t n = layout_.num_times;
    ReadTargets();
    error = call_.discrete ? FindCounts() : FindTimes();
    if (error != nullptr) return error;
    auto* results = static_cast<F*>(outputs[0].data);
    auto* times = static_cast<F*>(outputs[1].data);
    auto* kinds = static_cast<int32_t*>(outputs[kQuantileKinds].data);
    for (size_t i = 0; i < targets_.size(); ++i) {
      const Target& target = targets_[i];
      const Limits& limits = limits_[i / static_cast<size_t>(n)];
      results[i] = static_cast<F>(found_[i]);
      const double found = static_cast<double>(results[i]);
      double time = found;
      Kind kind = target.is_upper ? Kind::kLogSurvival : Kind::kLogCdf;
      if (found == 0.0 && IsInsideAtom(target, limits)) {
        time = 1.0;
        kind = Kind::kNothing;
      } else if (found == 0.0 || found == kInfinity) {
        time = TypicalTime(limits);
      }
      times[i] = static_cast<F>(time);
      kinds[i] = static_cast<int32_t>(kind);
    }
    return nullptr;
  }

 private:
  void ReadTargets() {
    const int64_t n = layout_.num_times;
    const auto* values = static_cast<const F*>(inputs_[kTimes].data);
    int64_t strides[kMaxRank];
    BatchStrides(layout_, inputs_[kTimes].shape, n, strides);
    bool axes[kMaxRank];
    std::fill_n(axes, kMaxRank, true);
    BatchIndex row(layout_, axes);
    given_.reserve(static_cast<size_t>(layout_.batch_size * n));
    targets_.reserve(given_.capacity());
    do {
      const F* own = values + row.Offset(strides);
      for (int64_t i = 0; i < n; ++i) {
        given_.push_back(static_cast<double>(own[i]));
        targets_.push_back(
            ReadTarget(static_cast<Form>(call_.kind), given_.back()));
        targets_.back().value = type_.Round(targets_.back().value);
      }
    } while (row.Next());
  }

  const char* FindTimes() {
    const int64_t n = layout_.num_times;
    const SearchRun<F> run(layout_, type_, &limits_, &functions_);
    std::vector<double> starts;
    const char* missed = StartPoints<F>(run, targets_).Find(&starts);
    if (missed != nullptr) return missed;
    return InParts([&](int64_t first, int64_t last) {
      const Part part = {n, first, last};
      std::vector<TimeSearch> searches =
          run.template Begin<TimeSearch>(part, targets_, starts, &found_);
      const char* error = run.Search(n, &searches);
      return error != nullptr ? error : Refine(searches);
    });
  }

  const char* FindCounts() {
    const int64_t n = layout_.num_times;
    const SearchRun<F> run(layout_, type_, &limits_, &functions_);
    std::vector<double> starts(targets_.size());
    for (size_t i = 0; i < starts.size(); ++i) {
      const double time = limits_[i / static_cast<size_t>(n)].time;
      starts[i] =
          time >= 1.0 && time < type_.max_count ? std::floor(time) : 1.0;
    }
    return InParts([&](int64_t first, int64_t last) {
      const Part part = {n, first, last};
      std::vector<CountSearch> searches =
          run.template Begin<CountSearch>(part, targets_, starts, &found_);
      const char* error = run.Search(n, &searches);
      return error != nullptr ? error : Settle(searches);
    });
  }

  // Calls function(first, last) for parts of all rows, whose searches fit into
  // the cache. Returns nullptr or the first error message.
  template <class Function>
  const char* InParts(const Function& function) {
    constexpr int64_t kMost = int64_t{1} << 16;
    const int64_t n = layout_.num_times;
    const int64_t length = std::max<int64_t>(kMost / layout_.batch_size, 64);
    found_.assign(targets_.size(), kNaN);
    for (int64_t first = 0; first < n && !IsStopped(); first += length) {
      const char* error = function(first, std::min(n, first + length));
      if (error != nullptr) return error;
    }
    return nullptr;
  }

  // Stores the found times. Makes one more step of Newton's method, with F or
  // 1 - F instead of its logarithm, where rounding of the logarithm dominates
  // the error: a probability has only thirteen digits if its logarithm is -700.
  const char* Refine(const std::vector<TimeSearch>& searches) {
    for (const bool is_upper : {false, true}) {
      std::vector<Point> points;
      std::vector<const TimeSearch*> rough;
      for (const TimeSearch& search : searches) {
        if (search.is_upper() != is_upper) continue;
        const double t = search.result();
        found_[static_cast<size_t>(search.place())] = t;
        if (!search.IsRough(type_)) continue;
        points.push_back({search.place(), t});
        rough.push_back(&search);
      }
      if (points.empty()) continue;
      const Kind kind = is_upper ? Kind::kSurvival : Kind::kCdf;
      const char* error = functions_.Evaluate(kind, layout_.num_times, points);
      if (error != nullptr) return error;
      for (size_t i = 0; i < points.size(); ++i) {
        found_[static_cast<size_t>(points[i].place)] =
            rough[i]->Refined(functions_.value(i), type_);
      }
    }
    return nullptr;
  }

  // Corrects counts by at most one, with the function to be inverted. The
  // search works with a logarithm or with 1 - F, and rounding may put it on the
  // wrong side of a target that F meets exactly.
  const char* Settle(const std::vector<CountSearch>& searches) {
    const auto form = static_cast<Form>(call_.kind);
    const Kind kind = form == Form::kCdf      ? Kind::kCdf
                      : form == Form::kLogCdf ? Kind::kLogCdf
                                              : Kind::kLogSurvival;
    const bool of_upper = form == Form::kLogSurvival;
    std::vector<Point> points;
    std::vector<const CountSearch*> own;
    for (const CountSearch& search : searches) {
      found_[static_cast<size_t>(search.place())] = search.result();
      if (!(search.result() >= 1.0) || form == Form::kFolded) continue;
      points.push_back({search.place(), search.result() - 1.0});
      points.push_back({search.place(), search.result()});
      own.push_back(&search);
    }
    if (points.empty()) return nullptr;
    const char* error = functions_.Evaluate(kind, layout_.num_times, points);
    if (error != nullptr) return error;
    for (size_t i = 0; i < own.size(); ++i) {
      const auto entry = static_cast<size_t>(own[i]->place());
      const double x = given_[entry];
      const auto reaches = [&](double value) {
        return of_upper ? value <= x : value >= x;
      };
      if (reaches(functions_.value(2 * i))) {
        found_[entry] -= 1.0;
      } else if (own[i]->is_upper() == of_upper &&
                 !reaches(functions_.value(2 * i + 1))) {
        found_[entry] += 1.0;
      }
    }
    return nullptr;
  }

  const Call& call_;
  const Input* const inputs_;
  const Layout& layout_;
  Executor* const executor_;
  const FloatType type_;
  Functions<F> functions_;
  std::vector<Limits> limits_;  // of the rows
  // Of the entries: the given numbers, what they stand for, and the results.
  std::vector<double> given_;
  std::vector<Target> targets_;
  std::vector<double> found_;
};

}  // namespace phasic

#endif  // PHASIC_NATIVE_QUANTILES_QUANTILE_RUN_H_
