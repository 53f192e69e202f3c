// The limits of F in the rows of a call.

#ifndef PHASIC_NATIVE_QUANTILES_LIMITS_H_
#define PHASIC_NATIVE_QUANTILES_LIMITS_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "native/kernel/api/shapes.h"
#include "native/kernel/batch/batch_plan.h"
#include "native/kernel/runtime/work_limit.h"
#include "native/quantiles/absorption.h"
#include "native/quantiles/functions.h"
#include "native/quantiles/targets.h"

namespace phasic {

// Returns the multiply-adds for each unit of time that evaluates a model by the
// steps of its power sequence; zero for models whose times may be evaluated by
// scaling and squaring.
inline double WorkOf(const Absorption& model, const Layout& layout) {
  const auto p = static_cast<double>(layout.num_phases);
  if (!(model.rate > 0.0)) return 0.0;
  const double num_jumps = std::fmax(model.rate * model.time, 1.0);
  const double num_products = 20.0 + std::fmin(std::log2(num_jumps), 60.0);
  if (MaySquare(layout.num_phases, num_products, 1.0, 1.0)) return 0.0;
  const double cells =
      layout.has_edges ? static_cast<double>(layout.num_edges) : p * p;
  return std::exp2(std::ceil(std::log2(model.rate))) *
         WorkOfStep(cells, layout.num_phases);
}

// Computes the limits of F in every row of a call, whose arrays have type F.
// Returns nullptr or an error message.
template <class F>
const char* FindLimits(const Call& call, const Input* inputs,
                       const Layout& layout, Executor* executor,
                       Functions<F>* functions, std::vector<Limits>* limits) {
  const FloatType type = FloatTypeOf<F>();
  limits->assign(static_cast<size_t>(layout.batch_size), Limits());
  std::vector<Point> zeros;
  zeros.reserve(limits->size());
  for (int64_t row = 0; row < layout.batch_size; ++row) {
    zeros.push_back({row, 0.0});
  }
  const char* error = functions->Evaluate(Kind::kCdf, 1, zeros);
  if (error != nullptr) return error;
  for (size_t row = 0; row < limits->size(); ++row) {
    (*limits)[row].atom = functions->value(row);
  }
  error = functions->Evaluate(Kind::kSurvival, 1, zeros);
  if (error != nullptr) return error;
  for (size_t row = 0; row < limits->size(); ++row) {
    (*limits)[row].positive = functions->value(row);
  }
  const BatchPlan plan(call, inputs, kNumOperands, layout, false);
  std::vector<Absorption> found;
  error = FindAbsorption(plan, executor, &found);
  if (error != nullptr) return error;
  int64_t strides[kMaxRank];
  int64_t dims[kMaxRank];
  std::copy_n(layout.batch, layout.batch_rank, dims);
  BatchStrides(layout, {dims, layout.batch_rank}, 1, strides);
  for (int64_t n = 0; n < plan.num_models(); ++n) {
    const Absorption& own = found[static_cast<size_t>(n)];
    const int64_t first = plan.Model(n).Offset(strides);
    plan.ForEachRun(strides, [&](int64_t offset, int64_t) {
      Limits& here = (*limits)[static_cast<size_t>(first + offset)];
      // Without a trap F(inf) is exactly one, whatever the rounding error.
      here.absorbed =
          own.caught > 0.0 ? type.Round(here.atom + own.passing) : 1.0;
      here.caught = type.Round(own.caught);
      const bool is_good = !std::isnan(here.atom) && !std::isnan(here.positive);
      here.is_valid = is_good && own.is_valid;
      here.time = type.Round(own.time);
      here.work = WorkOf(own, layout);
    });
  }
  return nullptr;
}

}  // namespace phasic

#endif  // PHASIC_NATIVE_QUANTILES_LIMITS_H_
