#include "native/kernel/fuzz/work.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "native/kernel/fuzz/rates.h"
#include "native/kernel/fuzz/slices.h"

namespace phasic {
namespace fuzz {
namespace {

constexpr double kMaxWork = 2e5;          // multiply-adds of one call
constexpr double kRefusedSteps = 0x1p22;  // refused for any model
constexpr double kLeastSquaringSteps = 0x1p12;
// Sweeps over extended doubles evaluate the times that underflow in scaling and
// squaring. They take long with more steps than this.
constexpr double kMaxExtendedSteps = 0x1p15;
constexpr double kMaxSquaringWork = 2e6;  // multiply-adds of matrix products

double LargestRate(const CallCase& element) {
  const Rates rates = RatesOf(element);
  double largest = 0.0;
  for (size_t i = 0; i < rates.exits.size(); ++i) {
    largest = std::max(largest, LeavingRate(rates, i));
  }
  return largest;
}

CallCase OperandsOf(const CallCase& c) {
  CallCase operands;
  operands.call.discrete = c.call.discrete;
  operands.edges = c.edges;
  operands.inputs.assign(c.inputs.begin(), c.inputs.begin() + kNumOperands);
  return operands;
}

// Returns a bound on the cost of scaling and squaring for all models: one
// matrix product for each bit of the number of steps, and twenty for the first
// power. See choice.h.
double SquaringWork(int64_t num_models, double steps, const CallCase& c) {
  const double p = static_cast<double>(c.inputs[0].dims.back()) + 4.0;
  const int32_t depth = c.call.order - (c.adjoint ? 1 : 0);
  return static_cast<double>(num_models) * p * p * p *
         (std::log2(steps) + 20.0) * std::pow(3.0, depth) *
         (c.adjoint ? 3.0 : 1.0);
}

}  // namespace

double MaxLog2Steps(int64_t num_models, const CallCase& c) {
  const double p = static_cast<double>(c.inputs[0].dims.back()) + 8.0;
  const int32_t depth = c.call.order - (c.adjoint ? 1 : 0);
  const double step = static_cast<double>(num_models) * p * p *
                      std::pow(3.0, depth) * (c.adjoint ? 5.0 : 1.0);
  return std::clamp(std::log2(kMaxWork / step), 2.0, 14.0);
}

double LargestLeavingRate(const std::vector<int64_t>& batch,
                          const CallCase& c) {
  const CallCase operands = OperandsOf(c);
  double largest = 0.0;
  for (int64_t model = 0; model < NumItems(batch); ++model) {
    largest = std::max(
        largest,
        LargestRate(ElementOf(
            operands, BatchIndexOf(batch, static_cast<size_t>(model)))));
  }
  return largest;
}

void LimitWork(const std::vector<int64_t>& batch, CallCase* c) {
  const CallCase operands = OperandsOf(*c);
  const bool may_climb = !c->call.discrete;
  const int64_t num_models = NumItems(batch);
  const double most = std::exp2(MaxLog2Steps(num_models, *c));
  Array& times = c->inputs[4];
  const auto n = static_cast<size_t>(times.dims.back());
  for (int64_t model = 0; model < num_models; ++model) {
    const std::vector<int64_t> index =
        BatchIndexOf(batch, static_cast<size_t>(model));
    const double rate =
        c->call.discrete ? 1.0 : LargestRate(ElementOf(operands, index));
    double* row = times.values.data() + n * PlaceOf(times.dims, index);
    for (size_t i = 0; i < n; ++i) {
      const double steps = rate * row[i];
      const bool climbs = may_climb && steps >= kLeastSquaringSteps;
      // The kernel computes the steps one by one where squaring costs more.
      const bool is_long =
          climbs ? SquaringWork(num_models, steps, *c) > kMaxSquaringWork ||
                       (steps > kMaxExtendedSteps && steps < kRefusedSteps)
                 : steps > most && steps < kRefusedSteps;
      if (is_long && steps < HUGE_VAL) row[i] = 0.0;
    }
  }
}

}  // namespace fuzz
}  // namespace phasic
