#include "native/kernel/fuzz/rates.h"

#include <cstddef>
#include <limits>

namespace phasic {
namespace fuzz {
namespace {

void ReadDense(const CallCase& c, Rates* rates) {
  const std::vector<double>& s = c.inputs[1].values;
  const size_t p = rates->exits.size();
  for (size_t i = 0; i < p; ++i) {
    double sum = 0.0;
    for (size_t j = 0; j < p; ++j) {
      sum += s[i * p + j];
      if (i != j) rates->jumps[i * p + j] = s[i * p + j];
    }
    rates->exits[i] = c.call.discrete ? 1.0 - sum : -sum;
    if (c.call.discrete) rates->stays[i] = s[i * p + i];
  }
  rates->knows_zeros = !c.inputs[2].values.empty();
  if (rates->knows_zeros) rates->exits = c.inputs[2].values;
}

// Reads the rate of edge e. Returns false if it is uncertain whether the kernel
// computes zero for it.
bool ReadRate(const CallCase& c, size_t e, double* rate) {
  const std::vector<double>& constants = c.edges[1].values;
  const std::vector<double>& coefficients = c.edges[2].values;
  const std::vector<double>& theta = c.inputs[1].values;
  *rate = constants.empty() ? 0.0 : constants[e];
  if (coefficients.empty()) {
    *rate += theta[e];
    return *rate >= 0.0 && theta[e] >= 0.0;
  }
  bool is_certain = *rate >= 0.0;
  for (size_t k = 0; k < theta.size(); ++k) {
    const double factor = coefficients[e * theta.size() + k];
    const double term = factor * theta[k];
    *rate += term;
    const bool has_term = factor != 0.0 && theta[k] != 0.0;
    is_certain &=
        has_term ? term >= std::numeric_limits<double>::min() : factor >= 0.0;
  }
  return is_certain;
}

void ReadEdges(const CallCase& c, Rates* rates) {
  const std::vector<double>& indices = c.edges[0].values;
  const auto p = static_cast<double>(rates->exits.size());
  const size_t m = indices.size() / 2;
  for (size_t e = 0; e < m; ++e) {
    const double source = indices[e];
    const double target = indices[e + m];
    if (!(source >= 0.0 && source < p && target >= 0.0 && target <= p)) {
      continue;
    }
    double rate;
    rates->knows_zeros &= ReadRate(c, e, &rate);
    const auto i = static_cast<size_t>(source);
    const auto j = static_cast<size_t>(target);
    if (target == p) {
      rates->exits[i] += rate;
    } else if (i != j) {
      rates->jumps[i * rates->exits.size() + j] += rate;
    }
  }
  if (!c.call.discrete) return;
  // The probability of staying is one minus a sum. Whether it is zero depends
  // on rounding, and the kernel may round differently.
  rates->knows_zeros = false;
  for (size_t i = 0; i < rates->exits.size(); ++i) {
    rates->stays[i] = 1.0 - LeavingRate(*rates, i);
  }
}

}  // namespace

double LeavingRate(const Rates& rates, size_t phase) {
  const size_t p = rates.exits.size();
  double sum = rates.exits[phase];
  for (size_t j = 0; j < p; ++j) sum += rates.jumps[phase * p + j];
  return sum;
}

Rates RatesOf(const CallCase& c) {
  const size_t p = c.inputs[0].values.size();
  Rates rates;
  rates.jumps.assign(p * p, 0.0);
  rates.stays.assign(p, 0.0);
  rates.exits.assign(p, 0.0);
  if (c.edges.empty()) {
    ReadDense(c, &rates);
  } else {
    ReadEdges(c, &rates);
  }
  return rates;
}

}  // namespace fuzz
}  // namespace phasic
