#include "native/elimination/factors.h"

#include <cmath>
#include <limits>

namespace phasic {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Eliminates position n: takes up its edges, then what earlier positions of its
// component pass on. `row` [p] is zero and is left so.
void EliminatePosition(const Topology& t, int64_t n, double* row, Factors* f) {
  double leaving = 0.0;
  for (int64_t s = t.edge_offsets[n]; s < t.edge_offsets[n + 1]; ++s) {
    const int64_t target = t.edge_targets[s];
    if (target == n) continue;
    const double weight = f->given[t.edge_numbers[s]];
    if (target < t.num_phases && t.component[target] == t.component[n]) {
      row[target] += weight;
    } else {
      leaving += weight;
    }
  }
  for (int64_t s = t.lower_offsets[n]; s < t.lower_offsets[n + 1]; ++s) {
    const int64_t k = t.lower[s];
    const double weight = row[k];
    row[k] = 0.0;
    if (weight == 0.0) {
      f->shares[s] = 0.0;
      continue;
    }
    if (f->pivots[k] == 0.0) {  // a trap: no way back
      f->shares[s] = kInfinity;
      leaving += weight;
      continue;
    }
    const double share = weight / f->pivots[k];
    f->shares[s] = share;
    for (int64_t u = t.upper_offsets[k]; u < t.upper_offsets[k + 1]; ++u) {
      row[t.upper[u]] += share * f->weights[u];
    }
    leaving += share * f->leaving[k];
  }
  row[n] = 0.0;  // what comes back at once
  double pivot = leaving;
  for (int64_t u = t.upper_offsets[n]; u < t.upper_offsets[n + 1]; ++u) {
    const int64_t j = t.upper[u];
    f->weights[u] = row[j];
    pivot += row[j];
    row[j] = 0.0;
  }
  f->leaving[n] = leaving;
  f->pivots[n] = pivot;
  f->has_traps = f->has_traps || pivot == 0.0;
}

}  // namespace

size_t Factors::bytes() const {
  return sizeof(*this) +
         sizeof(double) * (given.size() + shares.size() + weights.size() +
                           pivots.size() + leaving.size());
}

std::shared_ptr<const Factors> Factorize(
    const std::shared_ptr<const Topology>& topology, const double* weights) {
  const Topology& t = *topology;
  auto factors = std::make_shared<Factors>();
  factors->topology = topology;
  factors->given.assign(weights, weights + t.num_edges);
  for (int64_t e = 0; e < t.num_edges; ++e) {
    const double weight = factors->given[e];
    const bool is_own = t.indices[e] == t.indices[t.num_edges + e];
    factors->is_valid =
        factors->is_valid && (is_own || (weight >= 0.0 && weight < kInfinity));
  }
  if (!factors->is_valid) return factors;
  factors->shares.resize(t.lower.size());
  factors->weights.resize(t.upper.size());
  factors->pivots.resize(t.num_phases);
  factors->leaving.resize(t.num_phases);
  std::vector<double> row(t.num_phases, 0.0);
  for (int64_t n = 0; n < t.num_phases; ++n) {
    EliminatePosition(t, n, row.data(), factors.get());
  }
  return factors;
}

}  // namespace phasic
