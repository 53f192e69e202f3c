// Searches of quantiles, all that are open in each call of the kernel.

#ifndef PHASIC_NATIVE_QUANTILES_SEARCH_RUN_H_
#define PHASIC_NATIVE_QUANTILES_SEARCH_RUN_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "native/kernel/api/shapes.h"
#include "native/kernel/runtime/work_limit.h"
#include "native/quantiles/functions.h"
#include "native/quantiles/targets.h"

namespace phasic {

// Returns a time of the order of a model's quantiles.
inline double TypicalTime(const Limits& limits) {
  return limits.time > 0.0 && limits.time < kInfinity ? limits.time : 1.0;
}

// Returns whether the work limit is surely exceeded at half the quantile that
// an exponential distribution with the model's typical time has. A search would
// only find out how far the steps go.
inline bool IsTooDear(const Target& target, const Limits& limits) {
  const double share = target.is_upper ? -target.log_value : target.value;
  return 0.5 * limits.work * TypicalTime(limits) * share > MaxWork();
}

// The entries `first` to `last` - 1 of all rows, which have `width` entries.
struct Part {
  int64_t width, first, last;
};

// The models of a call, and the kernel's functions of them.
template <class F>
class SearchRun {
 public:
  SearchRun(const Layout& layout, const FloatType& type,
            const std::vector<Limits>* limits, Functions<F>* functions)
      : layout_(layout), type_(type), limits_(limits), functions_(functions) {}

  int64_t num_rows() const { return layout_.batch_size; }
  int64_t num_targets() const { return layout_.num_times; }
  const FloatType& type() const { return type_; }
  const Limits& limits(int64_t row) const {
    return (*limits_)[static_cast<size_t>(row)];
  }
  Functions<F>& functions() const { return *functions_; }

  // Makes the searches for the targets of a part that need one. Stores the
  // quantiles of the others in `found`.
  template <class S>
  std::vector<S> Begin(const Part& part, const std::vector<Target>& targets,
                       const std::vector<double>& starts,
                       std::vector<double>* found) const {
    std::vector<S> searches;
    searches.reserve(
        static_cast<size_t>(layout_.batch_size * (part.last - part.first)));
    for (int64_t row = 0; row < layout_.batch_size; ++row) {
      const Limits& own = limits(row);
      if (!own.is_valid) continue;
      for (int64_t k = part.first; k < part.last; ++k) {
        const auto i = static_cast<size_t>(row * part.width + k);
        if (targets[i].is_bad) continue;
        const Ends ends = FindEnds(targets[i], own, type_.tiny);
        if (!ends.is_first && !ends.is_never) {
          if (IsTooDear(targets[i], own)) continue;
          searches.emplace_back(static_cast<int64_t>(i), targets[i], ends,
                                type_.Round(starts[i]));
        } else {
          (*found)[i] = ends.is_first ? 0.0 : kInfinity;
        }
      }
    }
    return searches;
  }

  // Runs searches to their end, with all that are open in each call of the
  // kernel.
  template <class S>
  const char* Search(int64_t width, std::vector<S>* searches) const {
    std::vector<size_t> open(searches->size());
    for (size_t i = 0; i < open.size(); ++i) open[i] = i;
    std::vector<Point> points;
    std::vector<bool> is_upper;
    for (int k = 0; k < S::kMaxIterations && !open.empty(); ++k) {
      if (IsStopped()) return nullptr;
      points.clear();
      is_upper.clear();
      for (const size_t i : open) {
        const S& search = (*searches)[i];
        points.push_back({search.place(), search.at()});
        is_upper.push_back(search.is_upper());
      }
      if (const char* error =
              functions_->EvaluateLogs(width, points, is_upper)) {
        return error;
      }
      size_t kept = 0;
      for (size_t j = 0; j < open.size(); ++j) {
        const bool ends = (*searches)[open[j]].Improve(
            functions_->value(j), functions_->log_density(j), type_);
        if (!ends) open[kept++] = open[j];
      }
      open.resize(kept);
    }
    return nullptr;
  }

 private:
  const Layout& layout_;
  const FloatType type_;
  const std::vector<Limits>* const limits_;  // of the rows
  Functions<F>* const functions_;
};

}  // namespace phasic

#endif  // PHASIC_NATIVE_QUANTILES_SEARCH_RUN_H_
