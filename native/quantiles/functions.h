// The kernel's functions at some entries of a batch.

#ifndef PHASIC_NATIVE_QUANTILES_FUNCTIONS_H_
#define PHASIC_NATIVE_QUANTILES_FUNCTIONS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "native/kernel/api/phase_type.h"
#include "native/kernel/api/shapes.h"

namespace phasic {

// An entry of a batch of rows, and a time for it.
struct Point {
  int64_t place;  // the number of the entry, row by row
  double time;
};

template <class F>
class Functions {
 public:
  Functions(const Call& call, const Input* inputs, const Layout& layout,
            Executor* executor)
      : call_(call), layout_(layout), executor_(executor) {
    std::copy_n(inputs, kNumOperands, inputs_);
    call_.order = 0;
    call_.mapped_dims = 0;
    // Counts are decided by F as other calls compute it, to the last bit.
    call_.repeats = !call.discrete;
  }

  int64_t num_rows() const { return layout_.batch_size; }

  // Evaluates one of the kernel's kinds at points, in the order of their
  // entries. Rows have `width` entries. Then value(i) is the result at point i.
  const char* Evaluate(Kind kind, int64_t width,
                       const std::vector<Point>& points) {
    call_.kind = static_cast<int32_t>(kind);
    Place(width, points, 1);
    return Forward(nullptr);
  }

  // Evaluates log(1 - F) where `is_upper`, else log F, and the log density.
  // Then value(i) and log_density(i) are the results at point i.
  const char* EvaluateLogs(int64_t width, const std::vector<Point>& points,
                           const std::vector<bool>& is_upper) {
    Place(width, points, 2);
    kinds_.assign(times_.size(), static_cast<int32_t>(Kind::kNothing));
    for (size_t i = 0; i < points.size(); ++i) {
      const auto at = static_cast<size_t>(indices_[i]);
      kinds_[at] = static_cast<int32_t>(is_upper[i] ? Kind::kLogSurvival
                                                    : Kind::kLogCdf);
      kinds_[at + static_cast<size_t>(longest_)] =
          static_cast<int32_t>(Kind::kLogDensity);
    }
    return Forward(kinds_.data());
  }

  double value(size_t point) const {
    return static_cast<double>(results_[static_cast<size_t>(indices_[point])]);
  }
  double log_density(size_t point) const {
    return static_cast<double>(
        results_[static_cast<size_t>(indices_[point] + longest_)]);
  }

 private:
  // Puts the times of all points into rows of equal length, `copies` times.
  void Place(int64_t width, const std::vector<Point>& points, int64_t copies) {
    longest_ = 1;
    for (size_t i = 0, first = 0; i < points.size(); ++i) {
      if (points[i].place / width != points[first].place / width) first = i;
      longest_ = std::max(longest_, static_cast<int64_t>(i - first + 1));
    }
    length_ = longest_ * copies;
    times_.assign(static_cast<size_t>(num_rows() * length_), F(0));
    indices_.resize(points.size());
    for (size_t i = 0, first = 0; i < points.size(); ++i) {
      const int64_t row = points[i].place / width;
      if (row != points[first].place / width) first = i;
      indices_[i] = row * length_ + static_cast<int64_t>(i - first);
      for (int64_t k = 0; k < copies; ++k) {
        times_[static_cast<size_t>(indices_[i] + k * longest_)] =
            static_cast<F>(points[i].time);
      }
    }
  }

  const char* Forward(const int32_t* kinds) {
    int64_t dims[kMaxRank];
    std::copy_n(layout_.batch, layout_.batch_rank, dims);
    dims[layout_.batch_rank] = length_;
    const Shape shape = {dims, layout_.batch_rank + 1};
    const Input kind_array = {kinds, shape};
    call_.kinds = kinds == nullptr ? nullptr : &kind_array;
    inputs_[kTimes] = {times_.data(), shape};
    results_.resize(times_.size());
    return phasic::Forward(call_, inputs_, kNumOperands,
                           {results_.data(), shape}, executor_);
  }

  Call call_;
  const Layout& layout_;
  Executor* const executor_;
  Input inputs_[kNumOperands];
  int64_t longest_ = 1;  // the largest number of points of a row
  int64_t length_ = 1;   // the number of times of a row
  std::vector<F> times_, results_;
  std::vector<int32_t> kinds_;
  std::vector<int64_t> indices_;  // of the points in `times_`
};

}  // namespace phasic

#endif  // PHASIC_NATIVE_QUANTILES_FUNCTIONS_H_
