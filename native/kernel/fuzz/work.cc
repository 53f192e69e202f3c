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
constexpr double kRefusedSteps = 0x1p22;  // of any model

double LargestRate(const CallCase& element) {
  const Rates rates = RatesOf(element);
  const size_t p = rates.exits.size();
  double largest = 0.0;
  for (size_t i = 0; i < p; ++i) {
    double leaving = rates.exits[i];
    for (size_t j = 0; j < p; ++j) leaving += rates.jumps[i * p + j];
    if (leaving > largest) largest = leaving;
  }
  return largest;
}

}  // namespace

double MaxLog2Steps(int64_t num_models, const CallCase& c) {
  const double p = static_cast<double>(c.inputs[0].dims.back()) + 8.0;
  const int32_t depth = c.call.order - (c.adjoint ? 1 : 0);
  const double step = static_cast<double>(num_models) * p * p *
                      std::pow(3.0, depth) * (c.adjoint ? 5.0 : 1.0);
  return std::clamp(std::log2(kMaxWork / step), 2.0, 14.0);
}

void LimitWork(const std::vector<int64_t>& batch, CallCase* c) {
  CallCase operands;
  operands.edges = c->edges;
  operands.inputs.assign(c->inputs.begin(), c->inputs.begin() + kNumOperands);
  const int64_t num_models = NumItems(batch);
  const double most = std::exp2(MaxLog2Steps(num_models, *c));
  Array& times = c->inputs[4];
  const auto n = static_cast<size_t>(times.dims.back());
  for (int64_t model = 0; model < num_models; ++model) {
    const std::vector<int64_t> index =
        BatchIndexOf(batch, static_cast<size_t>(model));
    const double rate = LargestRate(ElementOf(operands, index));
    double* row = times.values.data() + n * PlaceOf(times.dims, index);
    for (size_t i = 0; i < n; ++i) {
      const double steps = rate * row[i];
      if (steps > most && steps < kRefusedSteps) row[i] = 0.0;
    }
  }
}

}  // namespace fuzz
}  // namespace phasic
