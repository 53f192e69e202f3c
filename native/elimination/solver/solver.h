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

// The number of models that are solved at once, one per SIMD lane.
constexpr int kLanes = 8;

// The factors of -S = (I - L) (D - W) for each strongly connected component.
// All arrays have one number for each entry and lane.
struct FactorArrays {
  double* outer;    // weights of the edges that leave components
  double* leaving;  // [p], the weight out of the component
  double* pivots;   // [p], D
  // For each front: its own rows, with L to the left of the diagonal and W to
  // its right, then for each of its own phases the column of L in the rows of
  // the later phases.
  double* fronts;
};

// Special cases that were found in the factorization of one model.
struct Findings {
  // Some weight is negative or NaN, or some sum is infinite.
  bool is_invalid;
  // Some phase cannot be left (its pivot is zero); entries of L that belong to
  // such phases are infinite.
  bool has_traps;
};

// Scratch memory of the functions below. Rows are phases in the order of
// elimination; one more row stands for absorption.
struct Scratch {
  double* matrices;  // [topology.num_working]
  double* local;     // [LocalSize(topology), columns]
  double* given;     // [p + 1, columns]
  double* rest;      // [p + 1, columns]
  double* solution;  // [p + 1, columns]
  double* above;     // [p + 1, columns], see Substitution
  double* bases;     // [p + 1, columns], at each component's first row
};

// In components of one phase with more edges than this, differences are
// computed by subtraction, since the cost of summing them grows with the square
// of the number of edges.
constexpr int64_t kMaxSummedEdges = 64;

inline int64_t LocalSize(const Topology& t) {
  const int64_t summed = kMaxSummedEdges + kLanes;
  return t.largest_front > summed ? t.largest_front : summed;
}

// The right-hand sides and the result arrays of one solution, with pointers for
// each model.
struct Task {
  Direction direction;
  int64_t columns;
  int count;  // number of models; further lanes are not written
  const void* per_phase[kLanes];
  const void* per_edge[kLanes];  // or all nullptr
  void* phase_results[kLanes];
  void* edge_results[kLanes];  // or all nullptr
};

// The solver's functions for one floating-point type of the caller's arrays.
struct Solver {
  // Computes the factors of one model; returns the special cases.
  Findings (*factorize)(const Topology& topology, const void* weights,
                        const FactorArrays& factors, const Scratch& scratch);
  // Computes the factors of kLanes models. Returns a mask with the bits of the
  // models that must be computed alone, as their weights are invalid or a phase
  // is a trap.
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

// Returns the solvers of the chosen instruction set, for both floating-point
// types.
const SolverTable& Solvers();

// The solvers that compute in numbers of type Wide, for one model that leaves
// the range of doubles. All arrays of factors and scratch memory are of type
// `Wide`.
struct WideSolverTable {
  Solver for_double;
  Solver for_float;
  Solver for_wide;  // arrays of a call are of `Wide` too
};
extern const WideSolverTable kWideSolvers;

// The size of a Wide number in doubles.
constexpr int kWideSize = 2;

}  // namespace phasic

#endif  // PHASIC_NATIVE_ELIMINATION_SOLVER_SOLVER_H_
