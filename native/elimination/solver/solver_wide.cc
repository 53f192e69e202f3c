// Instantiates the solvers for numbers of type Wide, which run if doubles
// overflow or underflow.

#include "native/elimination/solver/wide.h"
// This header is included after the number types, whose functions it calls.
#include "native/elimination/solver/factorize.h"
#include "native/elimination/solver/solution.h"
#include "native/elimination/solver/solver.h"

namespace phasic {
namespace {

using PHASIC_ISA::Factorization;
using PHASIC_ISA::Solution;
using PHASIC_ISA::Wide;

template <class F>
Findings Factorize(const Topology& topology, const void* weights,
                   const FactorArrays& factors, const Scratch& scratch) {
  const F* array = static_cast<const F*>(weights);
  return Factorization<Wide, F>(topology, &array, factors, scratch)
      .Run()
      .findings();
}

template <class F>
void Solve(const Topology& topology, const FactorArrays& factors,
           bool has_traps, const Task& task, const Scratch& scratch) {
  Solution<Wide, F> solution(topology, factors, task, scratch);
  if (has_traps) {
    solution.template Run<true>();
  } else {
    solution.template Run<false>();
  }
}

template <class F>
constexpr Solver kSolver = {Factorize<F>, nullptr, Solve<F>, nullptr};

}  // namespace

const WideSolverTable kWideSolvers = {kSolver<double>, kSolver<float>,
                                      kSolver<Wide>};

}  // namespace phasic
