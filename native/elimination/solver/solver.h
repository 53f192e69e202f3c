// The functions that are compiled for each instruction set: the arithmetic of
// an elimination, for one model or for several with the same edges in lanes.
//
// The order of operations, with all their roundings, does not depend on the
// instruction set or on other models: a model's results always have the same
// bits.

#ifndef PHASIC_NATIVE_ELIMINATION_SOLVER_SOLVER_H_
#define PHASIC_NATIVE_ELIMINATION_SOLVER_SOLVER_H_

#include <cstdint>

#include "native/elimination/symbolic/topology.h"

namespace phasic {

// The number of models in lanes.
constexpr int kLanes = 8;

// The recorded elimination: -S = (I - L) (D - W), by components. All arrays
// have one number for each entry and lane.
struct FactorArrays {
  double* outer;    // weights of the edges out of components, by slot
  double* leaving;  // [p], the weight out of the component
  double* pivots;   // [p], D
  // For each front: its own rows, with shares L left of the diagonal and
  // weights W right of it, then for each own phase the shares of the later
  // ones.
  double* fronts;
};

// Special cases in the elimination of one model.
struct Findings {
  // Some weight is negative or NaN, or a sum is infinite.
  bool is_invalid;
  // Some phase cannot be left; shares of those are infinite.
  bool has_traps;
};

// Memory that is used while a function runs. Rows are positions, with one more
// for absorption.
struct Scratch {
  double* matrices;  // [topology.num_working]
  double* local;     // [LocalSize(topology), columns]
  double* given;     // [p + 1, columns]
  double* rest;      // [p + 1, columns]
  double* solution;  // [p + 1, columns]
  double* above;     // [p + 1, columns], see Substitution
  double* bases;     // [p + 1, columns], of components, at their first position
};

// For components of one phase with more edges than this, differences are
// computed by subtraction: the cost of the sums grows with the square of the
// number of edges.
constexpr int64_t kMaxSummedEdges = 64;

inline int64_t LocalSize(const Topology& t) {
  const int64_t summed = kMaxSummedEdges + kLanes;
  return t.largest_front > summed ? t.largest_front : summed;
}

// One solution: arrays for each of the models.
struct Task {
  Direction direction;
  int64_t columns;
  int count;  // number of models; lanes beyond it are not written
  const void* per_phase[kLanes];
  const void* per_edge[kLanes];  // or all nullptr
  void* phase_results[kLanes];
  void* edge_results[kLanes];  // or all nullptr
};

// The functions for one type of the arrays of a call.
struct Solver {
  // Factorizes one model.
  Findings (*factorize)(const Topology& topology, const void* weights,
                        const FactorArrays& factors, const Scratch& scratch);
  // Factorizes kLanes models; sets the bits of those that must be computed
  // alone: their weights are invalid or make traps.
  uint32_t (*factorize_lanes)(const Topology& topology,
                              const void* const* weights,
                              const FactorArrays& factors,
                              const Scratch& scratch);
  void (*solve)(const Topology& topology, const FactorArrays& factors,
                bool has_traps, const Task& task, const Scratch& scratch);
  void (*solve_lanes)(const Topology& topology, const FactorArrays& factors,
                      const Task& task, const Scratch& scratch);
};

struct SolverTable {
  Solver for_double;
  Solver for_float;
};

// Returns the solvers of the chosen instruction set.
const SolverTable& Solvers();

// The solvers on numbers of unbounded range, for one model whose numbers leave
// the range of doubles; all arrays are of `Wide`.
struct WideSolverTable {
  Solver for_double;
  Solver for_float;
  Solver for_wide;  // arrays of a call are of `Wide` too
};
extern const WideSolverTable kWideSolvers;

// The size of a wide number in doubles.
constexpr int kWideSize = 2;

}  // namespace phasic

#endif  // PHASIC_NATIVE_ELIMINATION_SOLVER_SOLVER_H_
