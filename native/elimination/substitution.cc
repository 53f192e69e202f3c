#include "native/elimination/substitution.h"

#include <limits>
#include <vector>

namespace phasic {
namespace {

// to += factor * from. Infinite factors are those of traps: nothing is zero
// there however often it is counted.
inline void AddMultiple(bool has_traps, int64_t columns, double factor,
                        const double* from, double* to) {
  if (has_traps) {
    if (factor == 0.0) return;
    for (int64_t c = 0; c < columns; ++c) {
      if (from[c] != 0.0) to[c] += factor * from[c];
    }
    return;
  }
  for (int64_t c = 0; c < columns; ++c) to[c] += factor * from[c];
}

inline void Divide(int64_t columns, double pivot, double* x) {
  for (int64_t c = 0; c < columns; ++c) {
    if (pivot != 0.0 || x[c] != 0.0) x[c] /= pivot;
  }
}

}  // namespace

void Substitute(const Factors& factors, int64_t columns, double* rest,
                double* solution) {
  const Topology& t = *factors.topology;
  const bool traps = factors.has_traps;
  for (size_t c = t.starts.size() - 1; c-- > 0;) {
    const int64_t first = t.starts[c];
    const int64_t last = t.starts[c + 1];
    for (int64_t n = first; n < last; ++n) {
      double* mine = rest + n * columns;
      for (int64_t s = t.edge_offsets[n]; s < t.edge_offsets[n + 1]; ++s) {
        const int64_t target = t.edge_targets[s];
        if (target < last || target == t.num_phases) continue;
        AddMultiple(traps, columns, factors.given[t.edge_numbers[s]],
                    solution + target * columns, mine);
      }
      for (int64_t s = t.lower_offsets[n]; s < t.lower_offsets[n + 1]; ++s) {
        AddMultiple(traps, columns, factors.shares[s],
                    rest + t.lower[s] * columns, mine);
      }
    }
    for (int64_t n = last - 1; n >= first; --n) {
      double* mine = solution + n * columns;
      for (int64_t k = 0; k < columns; ++k) mine[k] = rest[n * columns + k];
      for (int64_t u = t.upper_offsets[n]; u < t.upper_offsets[n + 1]; ++u) {
        AddMultiple(traps, columns, factors.weights[u],
                    solution + t.upper[u] * columns, mine);
      }
      Divide(columns, factors.pivots[n], mine);
    }
  }
}

void SubstituteTransposed(const Factors& factors, int64_t columns,
                          double* solution) {
  const Topology& t = *factors.topology;
  const bool traps = factors.has_traps;
  for (size_t c = 0; c + 1 < t.starts.size(); ++c) {
    const int64_t first = t.starts[c];
    const int64_t last = t.starts[c + 1];
    for (int64_t n = first; n < last; ++n) {
      double* mine = solution + n * columns;
      Divide(columns, factors.pivots[n], mine);
      for (int64_t u = t.upper_offsets[n]; u < t.upper_offsets[n + 1]; ++u) {
        AddMultiple(traps, columns, factors.weights[u], mine,
                    solution + t.upper[u] * columns);
      }
    }
    for (int64_t n = last - 1; n >= first; --n) {
      const double* mine = solution + n * columns;
      for (int64_t s = t.lower_offsets[n]; s < t.lower_offsets[n + 1]; ++s) {
        AddMultiple(traps, columns, factors.shares[s], mine,
                    solution + t.lower[s] * columns);
      }
      for (int64_t s = t.edge_offsets[n]; s < t.edge_offsets[n + 1]; ++s) {
        const int64_t target = t.edge_targets[s];
        if (target < last || target == t.num_phases) continue;
        AddMultiple(traps, columns, factors.given[t.edge_numbers[s]], mine,
                    solution + target * columns);
      }
    }
  }
}

}  // namespace phasic
