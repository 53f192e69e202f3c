// A rough estimate of the time that a batch takes, which decides whether to use
// several threads. A wrong estimate costs time, but does not change results.

#ifndef PHASIC_NATIVE_KERNEL_BATCH_WORK_ESTIMATE_H_
#define PHASIC_NATIVE_KERNEL_BATCH_WORK_ESTIMATE_H_

#include <cmath>
#include <cstdint>

#include "native/kernel/batch/batch_index.h"
#include "native/kernel/batch/batch_plan.h"

namespace phasic {

// Batches that take less time run on one thread, as waking another thread takes
// a few microseconds.
constexpr double kWorthThreadsMicroseconds = 20.0;

// Returns a lower bound on the microseconds that one model takes, from its
// sizes.
inline double LeastMicroseconds(const BatchPlan& plan) {
  const double p = static_cast<double>(plan.layout().num_phases);
  const double n = static_cast<double>(plan.times_per_model());
  const double derivatives = std::ldexp(1.0, plan.call().order);
  if (plan.HasSmallModels()) return 0.1 * derivatives * n;
  return derivatives * (1.0 + 0.01 * p * p + 0.1 * n);
}

template <class F>
double LargestSize(const F* values, int64_t count) {
  // Finds one maximum per lane, since the updates of a single maximum would
  // depend on each other.
  constexpr int64_t kLanes = 8;
  F largest[kLanes] = {};
  for (int64_t i = 0; i < count; i += kLanes) {
    const int64_t lanes = count - i < kLanes ? count - i : kLanes;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      const F size = std::fabs(values[i + lane]);
      largest[lane] = size > largest[lane] ? size : largest[lane];
    }
  }
  for (const F size : largest) {
    if (size > largest[0]) largest[0] = size;
  }
  return largest[0];
}

// Returns the largest rate times the largest time, which is the number of
// uniformization steps up to a small factor. In a discrete call returns the
// largest number of steps.
template <class F>
double Steps(const BatchPlan& plan, const BatchIndex& model) {
  const auto start = [&](int32_t operand) {
    return static_cast<const F*>(plan.input(operand).data) +
           model.Offset(plan.strides(operand));
  };
  const double jump =
      LargestSize(start(kSubgenerator), plan.ModelSize(kSubgenerator));
  const double exit =
      LargestSize(start(kExitRates), plan.ModelSize(kExitRates));
  double time = 0.0;
  plan.ForEachRun(plan.strides(kTimes), [&](int64_t offset, int64_t) {
    const double largest =
        LargestSize(start(kTimes) + offset, plan.layout().num_times);
    if (largest > time && largest < HUGE_VAL) time = largest;
  });
  if (plan.call().discrete) return time;
  return (jump > exit ? jump : exit) * time;
}

// Estimates the microseconds for all models. Stops early if the sum is large
// enough for several threads.
template <class F>
double BatchMicroseconds(const BatchPlan& plan) {
  double work =
      LeastMicroseconds(plan) * static_cast<double>(plan.num_models());
  // If the sizes alone do not imply enough work for several threads, the batch
  // is small, and reading its values is cheap.
  for (int64_t m = 0; m < plan.num_models() && work < kWorthThreadsMicroseconds;
       ++m) {
    work += 0.02 * Steps<F>(plan, plan.Model(m));
  }
  return work;
}

}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_BATCH_WORK_ESTIMATE_H_
