// Instantiates the solvers for one instruction set.

#include <cstdint>

#include "native/elimination/solver/factorize.h"
#include "native/elimination/solver/solution.h"
#include "native/elimination/solver/solver.h"
#include "native/elimination/solver/values.h"

namespace phasic {
namespace PHASIC_ISA {
namespace {

template <class F>
Findings Factorize(const Topology& topology, const void* weights,
                   const FactorArrays& factors, const Scratch& scratch) {
  const F* array = static_cast<const F*>(weights);
  return Factorization<double, F>(topology, &array, factors, scratch)
      .Run()
      .findings();
}

template <class F>
uint32_t FactorizeLanes(const Topology& topology, const void* const* weights,
                        const FactorArrays& factors, const Scratch& scratch) {
  const auto* arrays = reinterpret_cast<const F* const*>(weights);
  return Factorization<Lanes, F>(topology, arrays, factors, scratch)
      .Run()
      .bad();
}

template <class F>
void Solve(const Topology& topology, const FactorArrays& factors,
           bool has_traps, const Task& task, const Scratch& scratch) {
  Solution<double, F> solution(topology, factors, task, scratch);
  if (has_traps) {
    solution.template Run<true>();
  } else {
    solution.template Run<false>();
  }
}

template <class F>
void SolveLanes(const Topology& topology, const FactorArrays& factors,
                const Task& task, const Scratch& scratch) {
  Solution<Lanes, F>(topology, factors, task, scratch).template Run<false>();
}

template <class F>
constexpr Solver kSolver = {Factorize<F>, FactorizeLanes<F>, Solve<F>,
                            SolveLanes<F>};

}  // namespace

extern const SolverTable kSolvers;
const SolverTable kSolvers = {kSolver<double>, kSolver<float>};

}  // namespace PHASIC_ISA
}  // namespace phasic
