// Times near quantiles, from which their search starts.

#ifndef PHASIC_NATIVE_QUANTILES_START_POINTS_H_
#define PHASIC_NATIVE_QUANTILES_START_POINTS_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "native/quantiles/functions.h"
#include "native/quantiles/log_odds.h"
#include "native/quantiles/search_run.h"
#include "native/quantiles/start_grid.h"
#include "native/quantiles/targets.h"

namespace phasic {

// Finds starting points for the targets of a run. Where none is found it is the
// typical time of the model.
//
// Few targets start there. A coarse grid, equally spaced in log t, leaves one
// step of Newton's method to most of the others if quantiles are spread over
// the grid, and finer ones, equally spaced in the log odds, if they are not.
template <class F>
class StartPoints {
 public:
  StartPoints(const SearchRun<F>& run, const std::vector<Target>& targets)
      : run_(run), targets_(targets) {}

  // Stores the starts of all targets; returns nullptr or an error message.
  const char* Find(std::vector<double>* starts) {
    const int64_t n = run_.num_targets();
    *starts = Typical(n);
    if (n < kLeastForCoarse) return nullptr;
    odds_.reserve(targets_.size());
    for (size_t i = 0; i < targets_.size(); ++i) {
      odds_.push_back(IsSearched(i) ? LogOdds(targets_[i]) : kNaN);
    }
    ranges_.reserve(static_cast<size_t>(run_.num_rows()));
    for (int64_t row = 0; row < run_.num_rows(); ++row) {
      ranges_.emplace_back(odds_.data() + row * n, n);
    }
    const char* error = Evaluate(CoarseTimes(), kNumCoarse);
    for (const Stage& stage : kFine) {
      if (error != nullptr || n < stage.least_targets) break;
      error = Evaluate(FineTimes(stage.num_points), stage.num_points);
    }
    if (error == nullptr) Replace(odds_, n, starts);
    return error;
  }

 private:
  static constexpr int64_t kLeastForCoarse = 32, kNumCoarse = 96;
  // Finer grids, each made with the one before.
  struct Stage {
    int64_t least_targets, num_points;
  };
  static constexpr Stage kFine[] = {{512, 96}, {4096, 256}};

  // Whether the quantile of a target is neither zero nor infinite, as far as an
  // atom and a limit of F below one decide.
  bool IsSearched(size_t i) const {
    const Limits& limits =
        run_.limits(static_cast<int64_t>(i) / run_.num_targets());
    if (limits.atom == 0.0 && limits.caught == 0.0) return true;
    const Ends ends = FindEnds(targets_[i], limits, run_.type().tiny);
    return !ends.is_first && !ends.is_never;
  }

  // Returns the typical time of each model, `width` times.
  std::vector<double> Typical(int64_t width) const {
    std::vector<double> times;
    times.reserve(static_cast<size_t>(run_.num_rows() * width));
    for (int64_t row = 0; row < run_.num_rows(); ++row) {
      times.insert(times.end(), static_cast<size_t>(width),
                   TypicalTime(run_.limits(row)));
    }
    return times;
  }

  // Returns times equally spaced in log t. They reach from the least quantile
  // to half of the largest one that an exponential distribution with the
  // typical time as its mean has for the range of log odds, within factors from
  // 2^-20 to 2^4. Later times cost more, and beyond them the tails of most
  // models are nearly exponential.
  std::vector<double> CoarseTimes() const {
    std::vector<double> times = Typical(kNumCoarse);
    for (size_t i = 0; i < times.size(); ++i) {
      const OddsRange& range = ranges_[i / kNumCoarse];
      const double low = std::max(std::min(range.low, -1.0), std::log(0x1p-20));
      const double high =
          std::log(0.5 * std::min(std::max(range.high, 2.0), 32.0));
      const double share = static_cast<double>(i % kNumCoarse) /
                           static_cast<double>(kNumCoarse - 1);
      times[i] *= std::exp(low + (high - low) * share);
    }
    return times;
  }

  // Returns times near quantiles of equally spaced log odds.
  std::vector<double> FineTimes(int64_t width) const {
    std::vector<double> odds;
    odds.reserve(ranges_.size() * static_cast<size_t>(width));
    for (const OddsRange& range : ranges_) {
      for (int64_t i = 0; i < width; ++i) {
        const double share =
            static_cast<double>(i) / static_cast<double>(width - 1);
        odds.push_back(range.low + (range.high - range.low) * share);
      }
    }
    // Points without a time are left out.
    std::vector<double> times(odds.size(), kNaN);
    Replace(odds, width, &times);
    return times;
  }

  // Makes new grids of the functions at times, `width` for each model.
  const char* Evaluate(const std::vector<double>& times, int64_t width) {
    const FloatType& type = run_.type();
    std::vector<Point> points;
    std::vector<bool> is_upper;
    for (size_t i = 0; i < times.size(); ++i) {
      const auto place = static_cast<int64_t>(i);
      const Limits& limits = run_.limits(place / width);
      const double time = type.Round(times[i]);
      const bool is_usable = time >= type.tiny && time < kInfinity;
      if (!limits.is_valid || !is_usable) continue;
      points.push_back({place, time});
      is_upper.push_back(time >= TypicalTime(limits));
    }
    grids_.assign(static_cast<size_t>(run_.num_rows()), StartGrid());
    if (points.empty()) return nullptr;
    Functions<F>& functions = run_.functions();
    if (const char* error = functions.EvaluateLogs(width, points, is_upper)) {
      return error;
    }
    for (size_t i = 0; i < points.size(); ++i) {
      grids_[static_cast<size_t>(points[i].place / width)].Add(
          points[i].time, is_upper[i], functions.value(i),
          functions.log_density(i));
    }
    for (StartGrid& grid : grids_) grid.Finish();
    return nullptr;
  }

  // Replaces starts, whose rows have `width` entries, where the grid of the row
  // knows a time for the log odds.
  void Replace(const std::vector<double>& odds, int64_t width,
               std::vector<double>* starts) const {
    for (size_t i = 0; i < odds.size(); ++i) {
      const double near = grids_[i / static_cast<size_t>(width)].Start(odds[i]);
      if (near > 0.0 && near < kInfinity) (*starts)[i] = near;
    }
  }

  const SearchRun<F>& run_;
  const std::vector<Target>& targets_;
  std::vector<double> odds_;       // of the targets
  std::vector<OddsRange> ranges_;  // of the rows
  std::vector<StartGrid> grids_;
};

}  // namespace phasic

#endif  // PHASIC_NATIVE_QUANTILES_START_POINTS_H_
