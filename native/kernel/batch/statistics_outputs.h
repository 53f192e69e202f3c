// The outputs of a call of Statistics. Each model has its own rows, so that
// nothing is summed over models.

#ifndef PHASIC_NATIVE_KERNEL_BATCH_STATISTICS_OUTPUTS_H_
#define PHASIC_NATIVE_KERNEL_BATCH_STATISTICS_OUTPUTS_H_

#include <cmath>
#include <cstdint>

#include "native/kernel/api/phase_type.h"
#include "native/kernel/api/shapes.h"
#include "native/kernel/api/sweep.h"
#include "native/kernel/runtime/workspace.h"

namespace phasic {

template <class F>
class StatisticsOutputs {
 public:
  StatisticsOutputs(const Layout& layout, const Output* outputs)
      : layout_(layout), outputs_(outputs) {}

  bool Allocate(Workspace* workspace) {
    double** const rows[kNumStatistics] = {&scratch_.starts, &scratch_.sojourns,
                                           &scratch_.jumps, &scratch_.exits,
                                           &scratch_.atom};
    for (int32_t i = 0; i < kNumStatistics; ++i) {
      rows_[i] = static_cast<double*>(workspace->Allocate(
          static_cast<size_t>(StatisticSize(layout_, i)), sizeof(double)));
      if (rows_[i] == nullptr) return false;
      *rows[i] = rows_[i];
    }
    return true;
  }

  // Returns the arrays that a sweep over one model writes.
  const SweepOutput& scratch() const { return scratch_; }

  // Copies the sweep's statistics, times 2^exponent, into the rows of the given
  // model. The weights were divided by 2^exponent, and statistics are
  // proportional to them.
  void Store(int64_t model, int64_t exponent) const {
    for (int32_t i = 0; i < kNumStatistics; ++i) {
      const int64_t size = StatisticSize(layout_, i);
      F* target = static_cast<F*>(outputs_[i].data) + model * size;
      for (int64_t j = 0; j < size; ++j) {
        target[j] = static_cast<F>(
            exponent == 0
                ? rows_[i][j]
                : std::ldexp(rows_[i][j], static_cast<int>(exponent)));
      }
    }
  }

 private:
  const Layout& layout_;
  const Output* const outputs_;
  double* rows_[kNumStatistics] = {};
  SweepOutput scratch_ = {};
};

}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_BATCH_STATISTICS_OUTPUTS_H_
