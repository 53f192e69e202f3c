// Solves the systems of a Task with given factors: reads the right-hand sides,
// substitutes, and writes the results.

#ifndef PHASIC_NATIVE_ELIMINATION_SOLVER_SOLUTION_H_
#define PHASIC_NATIVE_ELIMINATION_SOLVER_SOLUTION_H_

#include <cstdint>

#include "native/elimination/solver/differences.h"
#include "native/elimination/solver/solver.h"
#include "native/elimination/solver/substitute.h"
#include "native/elimination/solver/values.h"

namespace phasic {
namespace PHASIC_ISA {

template <class V, class F>
class Solution {
 public:
  Solution(const Topology& topology, const FactorArrays& factors,
           const Task& task, const Scratch& scratch)
      : t_(topology), factors_(factors), task_(task), scratch_(scratch) {}

  template <bool kTraps>
  void Run() {
    if (task_.columns == 1) {
      Run<1, kTraps>();
    } else {
      Run<0, kTraps>();
    }
  }

 private:
  bool wants_edges() const { return task_.edge_results[0] != nullptr; }

  template <int kColumns, bool kTraps>
  void Run() {
    Substitution<V, kColumns, kTraps> substitution(t_, factors_, task_.columns,
                                                   scratch_);
    V* solution = reinterpret_cast<V*>(scratch_.solution);
    if (task_.direction == Direction::kSolveTransposed) {
      ReadRightHandSides(solution);
      substitution.SolveTransposed();
      StorePhases(solution);
      if (wants_edges()) StoreAtSources();
      return;
    }
    V* rest = reinterpret_cast<V*>(scratch_.rest);
    ReadRightHandSides(rest);
    if (wants_edges()) {
      V* given = reinterpret_cast<V*>(scratch_.given);
      const int64_t count = t_.num_phases * task_.columns;
      for (int64_t s = 0; s < count; ++s) given[s] = rest[s];
    }
    substitution.Solve();
    StorePhases(solution);
    if (wants_edges()) {
      Differences<V, F, kTraps>(t_, factors_, task_, scratch_).Run();
    }
  }

  // Reads the right-hand sides into `to`, permuted to the order of elimination.
  void ReadRightHandSides(V* to) const {
    const int64_t columns = task_.columns;
    const auto* per_phase = reinterpret_cast<const F* const*>(task_.per_phase);
    for (int64_t n = 0; n < t_.num_phases; ++n) {
      for (int64_t c = 0; c < columns; ++c) {
        Read(per_phase, t_.phases[n] * columns + c, &to[n * columns + c]);
      }
    }
    for (int64_t c = 0; c < columns; ++c) {
      to[t_.num_phases * columns + c] = V(0.0);
    }
    if (task_.per_edge[0] == nullptr) return;
    const auto* per_edge = reinterpret_cast<const F* const*>(task_.per_edge);
    const bool transposed = task_.direction == Direction::kSolveTransposed;
    const int32_t* sources = t_.positions.data();
    const int32_t* targets = sources + t_.num_edges;
    for (int64_t e = 0; e < t_.num_edges; ++e) {
      // The contributions of an edge from a phase to itself cancel.
      if (transposed && sources[e] == targets[e]) continue;
      for (int64_t c = 0; c < columns; ++c) {
        V here;
        Read(per_edge, e * columns + c, &here);
        V& source = to[sources[e] * columns + c];
        source = source + here;
        if (!transposed) continue;
        V& target = to[targets[e] * columns + c];
        target = target - here;
      }
    }
  }

  void StorePhases(const V* x) const {
    const int64_t columns = task_.columns;
    auto* results = reinterpret_cast<F* const*>(task_.phase_results);
    for (int64_t n = 0; n < t_.num_phases; ++n) {
      for (int64_t c = 0; c < columns; ++c) {
        Write(x[n * columns + c], t_.phases[n] * columns + c, task_.count,
              results);
      }
    }
  }

  void StoreAtSources() const {
    const int64_t columns = task_.columns;
    for (int l = 0; l < task_.count; ++l) {
      const F* from = static_cast<const F*>(task_.phase_results[l]);
      F* to = static_cast<F*>(task_.edge_results[l]);
      for (int64_t e = 0; e < t_.num_edges; ++e) {
        for (int64_t c = 0; c < columns; ++c) {
          to[e * columns + c] = from[t_.indices[e] * columns + c];
        }
      }
    }
  }

  const Topology& t_;
  const FactorArrays& factors_;
  const Task& task_;
  const Scratch& scratch_;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_ELIMINATION_SOLVER_SOLUTION_H_
