// What is compiled for each instruction set: the arithmetic of an elimination,
// for one model or for several that have the same edges, side by side.
//
// Everything is rounded as it is written, in an order that does not depend on
// instruction set or company: a model's results are always the same bits.

#ifndef PHASIC_NATIVE_ELIMINATION_SOLVER_SOLVER_H_
#define PHASIC_NATIVE_ELIMINATION_SOLVER_SOLVER_H_

#include <cstdint>

#include "native/elimination/symbolic/topology.h"

namespace phasic {

// So many models side by side.
constexpr int kLanes = 8;

// The recorded elimination: -S = (I - L) (D - W), by components. All arrays
// have as many numbers for each entry as there are models side by side.
struct FactorArrays {
  double* outer;    // weights of the edges out of components, by their slot
  double* leaving;  // [p], the weight out of the component
  double* pivots;   // [p], D
  // Of each front: its own rows, with shares L left of the diagonal and weights
  // W right of it, then for each own phase the shares of the later ones.
  double* fronts;
};

// What the elimination of one model has met.
struct Findings {
  // Some weight is negative or NaN, or a sum is infinite.
  bool is_invalid;
  // Some phase cannot be left; shares of those are infinite.
  bool has_traps;
};

// Memory that is used while a function runs. By position, with one more for
// absorption, and by column.
struct Scratch {
  double* matrices;  // [topology.num_working]
  double* local;     // [LocalSize(topology), columns]
  double* given;     // [p + 1, columns]
  double* rest;      // [p + 1, columns]
  double* solution;  // [p + 1, columns]
  double* above;     // [p + 1, columns], see Substitution
  double* bases;     // [p + 1, columns], of components, at their first position
};

// Phases with more edges than these in a component of their own have their
// differences by subtraction: the sums take the square of the number.
constexpr int64_t kMaxSummedEdges = 64;

inline int64_t LocalSize(const Topology& t) {
  const int64_t summed = kMaxSummedEdges + kLanes;
  return t.largest_front > summed ? t.largest_front : summed;
}

// What is to be computed: arrays of each of the models.
struct Task {
  Direction direction;
  int64_t columns;
  int count;  // of models; lanes beyond it are not written
  const void* per_phase[kLanes];
  const void* per_edge[kLanes];  // or nullptr, all
  void* phase_results[kLanes];
  void* edge_results[kLanes];  // or nullptr, all
};

// For one type of the arrays of a call.
struct Solver {
  // Factors of one model.
  Findings (*factorize)(const Topology& topology, const void* weights,
                        const FactorArrays& factors, const Scratch& scratch);
  // Of kLanes models; the bits of those that are not to be solved together are
  // set in the result: their weights are invalid or make traps.
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

// That of the instruction set that was chosen.
const SolverTable& Solvers();

// The same on numbers without ends to their range, for one model whose numbers
// leave that of doubles; all arrays are of `Wide`.
struct WideSolverTable {
  Solver for_double;
  Solver for_float;
  Solver for_wide;  // arrays of a call are of `Wide` too
};
extern const WideSolverTable kWideSolvers;

// So many doubles are as large as one of those numbers.
constexpr int kWideSize = 2;

}  // namespace phasic

#endif  // PHASIC_NATIVE_ELIMINATION_SOLVER_SOLVER_H_
