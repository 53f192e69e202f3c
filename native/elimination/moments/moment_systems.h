// The memory and the linear systems of several models whose moments are
// computed together in SIMD lanes.

#ifndef PHASIC_NATIVE_ELIMINATION_MOMENTS_MOMENT_SYSTEMS_H_
#define PHASIC_NATIVE_ELIMINATION_MOMENTS_MOMENT_SYSTEMS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "native/elimination/factors/buffer.h"
#include "native/elimination/factors/factors.h"
#include "native/elimination/moments/moment_sums.h"
#include "native/elimination/solver/solver.h"
#include "native/elimination/symbolic/topology.h"

namespace phasic {

template <class T>
using MomentArray = T* MomentArrays<T>::*;

inline const Solver& SolverOf(double) { return Solvers().for_double; }
inline const Solver& SolverOf(const Wide&) { return kWideSolvers.for_wide; }

// The quantities that a call needs in addition to the sojourn times y.
struct MomentNeeds {
  bool is_discrete;
  bool expected;  // x and d are needed
  bool slopes;    // derivatives of the variance are needed
};

// Allocates the arrays of `count` models in this thread's memory, and sets the
// pointers in `models`.
template <class T>
void DivideMemory(const Topology& t, const MomentNeeds& needs, int count,
                  MomentSums<T>* models) {
  thread_local Buffer memory;
  constexpr size_t kThreadBytes = size_t{1} << 25;
  if (memory.bytes() > kThreadBytes) memory.Release();
  const int64_t p = t.num_phases;
  const int64_t m = t.num_edges;
  const bool slopes = needs.slopes;
  const struct {
    MomentArray<T> array;
    int64_t size;
  } parts[] = {
      {&MomentArrays<T>::weights, m},
      {&MomentArrays<T>::initial, p},
      {&MomentArrays<T>::sojourns, p},
      {&MomentArrays<T>::stay, needs.is_discrete ? p : 0},
      {&MomentArrays<T>::rewards, needs.expected ? p : 0},
      {&MomentArrays<T>::expected, needs.expected ? p : 0},
      {&MomentArrays<T>::differences, needs.expected ? m : 0},
      {&MomentArrays<T>::spread, slopes ? p : 0},
      {&MomentArrays<T>::spread_ahead, slopes ? p : 0},
      {&MomentArrays<T>::spread_differences, slopes ? m : 0},
      {&MomentArrays<T>::slopes, slopes ? p : 0},
      {&MomentArrays<T>::edge_slopes, slopes ? m : 0},
      {&MomentArrays<T>::weighted, slopes ? p : 0},
  };
  int64_t total = 0;
  for (const auto& part : parts) total += part.size;
  double* numbers = nullptr;
  // The size of T in doubles.
  // NOLINTNEXTLINE(bugprone-sizeof-expression)
  constexpr int64_t kSize = sizeof(T) / sizeof(double);
  memory.Divide({{&numbers, kSize * total * count}});
  T* next = reinterpret_cast<T*>(numbers);
  for (int l = 0; l < count; ++l) {
    models[l].topology = &t;
    models[l].is_discrete = needs.is_discrete;
    for (const auto& part : parts) {
      models[l].arrays.*part.array = next;
      next += part.size;
    }
  }
}

// Solves linear systems of several models at once. Right-hand sides and
// solutions are members of MomentArrays.
template <class T>
struct MomentSystems {
  using Array = MomentArray<T>;
  const Topology& topology;
  const Factors& factors;
  const Scratch& scratch;
  MomentSums<T>* models;
  int count;
  int lanes;

  void Solve(Array given, Array solution, Array differences) const {
    Run(Direction::kSolve, given, nullptr, solution, differences);
  }
  void SolveTransposed(Array given, Array at_edges, Array solution) const {
    Run(Direction::kSolveTransposed, given, at_edges, solution, nullptr);
  }

 private:
  void Run(Direction direction, Array given, Array at_edges, Array solution,
           Array differences) const {
    Task task = {};
    task.direction = direction;
    task.columns = 1;
    task.count = count;
    for (int l = 0; l < (lanes == kLanes ? kLanes : 1); ++l) {
      const MomentArrays<T>& arrays = models[std::min(l, count - 1)].arrays;
      task.per_phase[l] = arrays.*given;
      if (at_edges != nullptr) task.per_edge[l] = arrays.*at_edges;
      task.phase_results[l] = arrays.*solution;
      if (differences != nullptr) {
        task.edge_results[l] = arrays.*differences;
      }
    }
    const Solver& solver = SolverOf(T());
    if (lanes != kLanes) {
      solver.solve(topology, factors.arrays, factors.findings.has_traps, task,
                   scratch);
    } else {
      solver.solve_lanes(topology, factors.arrays, task, scratch);
    }
  }
};

}  // namespace phasic

#endif  // PHASIC_NATIVE_ELIMINATION_MOMENTS_MOMENT_SYSTEMS_H_
