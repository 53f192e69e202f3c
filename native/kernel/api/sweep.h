// The interface between the batch loop (batch_run.h) and the sweeps. A sweep
// evaluates one model at all its times; it is compiled once per instruction
// set.

#ifndef PHASIC_NATIVE_KERNEL_API_SWEEP_H_
#define PHASIC_NATIVE_KERNEL_API_SWEEP_H_

#include <cstdint>

#include "native/kernel/api/phase_type.h"
#include "native/kernel/runtime/workspace.h"

namespace phasic {

enum StatusCode : int32_t {
  kOk = 0,
  kInitialProbsInvalid,
  kInitialProbsSum,
  kSubgeneratorNotFinite,
  kOffDiagonalNegative,
  kRowSumPositive,
  kExitRatesInvalid,
  kProbZeroInvalid,
  kTimeNaN,
  kWorkLimit,
  kMemoryLimit,
  kUnderflow,
  kNeverAbsorbed,
  kLogOfZero,
  kEdgeOutOfRange,
  kEdgeRateInvalid,
  kNotFinite,
  kKindInvalid,
  kIntervalOpen,
  kIntervalInvalid,
  kTransitionInvalid,
  kRowAboveOne,
  kRowBelowOne,
  kNumStatusCodes,
  // The status of times that are not evaluated yet. It does not occur in the
  // results of a sweep.
  kNotEvaluated,
};

// One operand of one model: its value and its tangents v1, v2 and v3.
struct OperandView {
  const double* value;
  const double* tangents[kMaxOrder];
};

// The edges of a sparse model, whose rates are linear in the parameters theta:
// edge e has the rate constants[e] + sum_c coefficients[e, c] theta[c]. Without
// coefficients the sum is theta[e]. Target num_phases stands for absorption.
struct EdgeView {
  int64_t count;
  const int32_t* sources;      // [count]; nullptr for a dense model
  const int32_t* targets;      // [count]
  const double* constants;     // [count], or nullptr for zeros
  const double* coefficients;  // [count, num_parameters] or nullptr
  int64_t num_parameters;
};

struct SweepInput {
  int64_t num_phases;
  int64_t num_times;
  const int32_t* kinds;  // [n]: the Kind of each time, or nullptr: `kind`
  int64_t row_length;    // number of times in a row; intervals lie in a row
  double epsilon;        // unit in the last place of the caller's floating type
  Kind kind;
  bool discrete;  // transition probabilities and numbers of steps
  bool repeats;   // the next sweeps have the same model
  bool has_exit_rates;
  bool has_prob_zero;
  OperandView initial_probs;  // [p]
  OperandView subgenerator;   // [p, p]: S or T; theta of a sparse model
  EdgeView edges;
  OperandView exit_rates;   // [p] or unused
  OperandView prob_zero;    // [1] or unused
  OperandView times;        // [n]
  const double* cotangent;  // [n], adjoint only
  // The sweep multiplies derivatives by 2^exponent at the end, since the given
  // tangents and cotangents were divided by it; see direction_scales.h.
  int64_t exponent;
  // A sweep that scales rates divides them by 2^rates_exponent and multiplies
  // the times by it; see rate_scales.h. Callers of a sweep set it to zero.
  int64_t rates_exponent;

  // A sweep multiplies its results by powers of two with these exponents:
  // ResultExponent for results of forward sweeps and for cotangents of
  // probabilities, RateBarExponent for cotangents of rates, and TimeBarExponent
  // for cotangents of times.
  int64_t ResultExponent() const { return exponent + DensityExponent(); }
  int64_t RateBarExponent() const { return ResultExponent() - rates_exponent; }
  int64_t TimeBarExponent() const { return ResultExponent() + rates_exponent; }
  // Returns the part of these exponents that is due to scaled rates: rates
  // divided by 2^n lead to densities divided by 2^n.
  int64_t DensityExponent() const {
    return kinds == nullptr && kind == Kind::kDensity ? rates_exponent : 0;
  }

  bool has_edges() const { return edges.sources != nullptr; }
  // Returns whether the exit rates are weights of phases, and not part of the
  // rates; see phase_type.h.
  bool has_weights() const { return has_edges() && has_exit_rates; }
  Kind KindOf(int64_t time) const {
    return kinds != nullptr ? static_cast<Kind>(kinds[time]) : kind;
  }
};

// The arrays that a sweep over one model writes. Forward sweeps write `values`
// and, if it is not nullptr, `status`. Adjoint sweeps write those cotangents
// that are not nullptr. Statistics sweeps write the expected statistics.
struct SweepOutput {
  double* values;         // [n]
  int32_t* status;        // [n] or nullptr
  double* initial_probs;  // [p]
  double* subgenerator;   // [p, p]
  double* exit_rates;     // [p]
  double* prob_zero;      // [1]
  double* times;          // [n]
  double* starts;         // [p]
  double* sojourns;       // [p]
  double* jumps;          // [p, p], or [count] for edges
  double* exits;          // [p]
  double* atom;           // [1]
};

using Sweep = void (*)(const SweepInput& input, const SweepOutput& output,
                       Workspace* workspace);

// A sweep over `count` <= kMaxGroup models, with the results of separate sweeps
// up to rounding. It is faster for models that have the same edges or are
// small. The workspace must be empty.
constexpr int kMaxGroup = 8;
using GroupSweep = void (*)(const SweepInput* inputs,
                            const SweepOutput* outputs, int count,
                            Workspace* workspace);

// Models with at least this number of times are evaluated with shared expansion
// points; see node_groups.h.
constexpr int64_t kManyTimes = 512;

// The largest numbers of phases, edges and parameters of small models; see
// small_models.h.
constexpr int64_t kSmallPhases = 8;
constexpr int64_t kSmallEdges = kSmallPhases * kSmallPhases;
constexpr int64_t kSmallParameters = 64;

struct SweepTable {
  Sweep forward[kMaxOrder + 1];  // J_0 .. J_3
  Sweep adjoint[kMaxOrder + 1];  // V_1 .. V_3; entry 0 is unused
  Sweep statistics;
  // J_0 and V_1 of models with the same edges; nullptr if registers are short.
  GroupSweep forward_group;
  GroupSweep adjoint_group;
  GroupSweep forward_small;  // J_0 of small models, also of one alone
  GroupSweep tangent_small;  // J_1 of small models at one time
  GroupSweep adjoint_small;  // V_1 of small models at one time
};

// Returns the sweeps that compute in extended doubles, which have unbounded
// range but are far slower. They recompute results that underflowed in other
// sweeps: forward sweeps evaluate only the times whose status is kUnderflow
// when they are called, and adjoint sweeps overwrite only those outputs that
// they can improve.
const SweepTable& ExtendedSweeps();

// Returns the table of sweeps that were compiled for the instruction set in
// use; see instruction_sets.h.
const SweepTable& Sweeps();

}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_API_SWEEP_H_
