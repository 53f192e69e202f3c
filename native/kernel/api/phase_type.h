// The phase-type kernel: values and exact derivatives of the density, survival
// function and distribution function of phase-type distributions, in continuous
// or discrete time.
//
// The kernel does not depend on any framework. Every caller (XLA, TensorFlow,
// NumPy) passes the same five operands as dense, row-major arrays of one
// floating type:
//
//   initial_probs [batch..., p]
//   subgenerator  [batch..., p, p]
//   exit_rates    [batch..., p]  or [batch..., 0]: derived as -S 1
//   prob_zero     [batch..., 1]  or [batch..., 0]: derived as 1 - sum(alpha)
//   times         [batch..., n]
//
// A call may specify the rates of edges, linear in parameters, instead of a
// subgenerator: operand `subgenerator` is then theta [batch..., d], exit_rates
// must be empty, and the call's `edges` define the rates as functions of theta;
// see Edges.
//
// In a discrete call `subgenerator` is T, the one-step transition probabilities
// between phases, `exit_rates` are the one-step absorption probabilities and
// `times` are numbers k of steps:
//   density prob_zero at k = 0, else alpha T^(k-1) t; survival alpha T^k 1;
//   cdf prob_zero + sum_{j<k} alpha T^j t.
// All entries of T are data, including its diagonal. If exits are absent, they
// are derived as 1 - T 1; given exits must make the sum of every row one. The
// density is zero at non-integer times; survival and cdf are those of the
// integer below. The functions have no derivative in k: it is NaN.
//
// Derivatives in time are computed by the formula, too. Let x = q t, where q is
// near the largest rate. Derivatives of the density in time alone, and r - 1 of
// the r derivatives in time of the other functions, are differences of state
// vectors that hardly change from jump to jump: errors of t^r d^r/dt^r grow
// with x^r. Where the error may exceed 1e-3, relative to F or to the derivative
// itself, the derivative is NaN. First derivatives of the density have far
// smaller errors for all x that have values. Second ones in time alone do up to
// x = 1e12 or, for few phases, 1e13. Derivatives both in time and in other
// operands are NaN above 1e12, and those of second order in time above 7e5.
// This NaN does not affect results whose tangent or cotangent of the time is
// zero.
//
// All operands have the same number of batch dimensions, each of size 1
// (broadcast) or of the common size. The first `mapped_dims` batch dimensions
// are mapped: derivatives are never summed over them.

#ifndef PHASIC_NATIVE_KERNEL_API_PHASE_TYPE_H_
#define PHASIC_NATIVE_KERNEL_API_PHASE_TYPE_H_

#include <cstdint>

#include "native/kernel/runtime/thread_pool.h"

namespace phasic {

enum class Kind : int32_t {
  kLogDensity = 0,
  kDensity = 1,
  kLogSurvival = 2,
  kSurvival = 3,
  kLogCdf = 4,
  kCdf = 5,
  // The kinds from here on may occur only in a call's array `kinds`.
  kLogInterval = 6,
  kNothing = 7,
  kLogObservation = 8,
};
constexpr int32_t kNumKinds = 6;  // kinds below this may be a call's `kind`

enum class Precision : int32_t { kFloat32, kFloat64 };

constexpr int32_t kNumOperands = 5;
constexpr int32_t kMaxOrder = 3;
constexpr int32_t kMaxRank = 24;

// The error message of calls that run out of memory. Callers compare this
// pointer to distinguish it from messages about arguments.
inline constexpr char kOutOfMemory[] =
    "memory does not suffice: call with fewer or smaller arrays";

struct Shape {
  const int64_t* dims;
  int32_t rank;
};

struct Input {
  const void* data;
  Shape shape;
};

struct Output {
  void* data;
  Shape shape;
};

// The structure of a sparse model. Edge e leads from phase indices[0, e] to
// phase indices[1, e], where p stands for absorption, at rate
//   constants[e] + sum_c coefficients[e, c] theta[c].
// Rates of parallel edges add up; an edge from a phase to itself has no effect.
// In a discrete call rates are probabilities, and the probability of staying in
// a phase is one minus those of its edges to other phases and to absorption: a
// row that sums to less than one is completed by its diagonal. Derivatives are
// those of 1 - (sum of the probabilities of leaving).
constexpr int32_t kNumEdgeArrays = 3;
struct Edges {
  Input indices;       // [batch..., 2, m], int32
  Input constants;     // [batch..., m], or [batch..., 0]: zeros
  Input coefficients;  // [batch..., m, d], or [batch..., m, 0]: theta is rates
};

// The bit mask of all operands; bit i stands for operand i.
constexpr int32_t kAllOperands = (1 << kNumOperands) - 1;

struct Call {
  int32_t kind;         // a Kind; ignored if `kinds` is given
  int32_t order;        // the order k of J_k or V_k
  int32_t mapped_dims;  // number of leading dimensions that are mapped
  Precision precision;
  const Edges* edges = nullptr;  // nullptr if there is a subgenerator
  // An int32 array [batch..., n] with a kind for each time, or nullptr if
  // `kind` holds for all times. The kinds are
  //   0, 2, 4  log density, log survival function, log distribution function;
  //   6        log P(t_i < T <= t_{i+1}), 0 <= t_i <= t_{i+1} < inf, where the
  //            next time in the row is t_{i+1} and its kind is 7;
  //   7        no observation: the value is 0 and has no derivatives;
  //   8        the log likelihood of l < T <= u with l = t_i and u = t_{i+1},
  //            where the next time in the row is u and its kind is 7. The first
  //            case that holds decides: l = u, the log density at l;
  //            l < u = inf, log P(T > l); l < 0, l < u, log P(T <= u);
  //            otherwise as for 6.
  // Other values give NaN. In a discrete call T is the number of steps N.
  const Input* kinds = nullptr;
  bool discrete = false;          // a chain with steps instead of rates
  int32_t wanted = kAllOperands;  // operands whose cotangents Adjoint computes
};

// Computes J_k, the k-th directional derivative D^k F(x)[v1, ..., vk] of the
// values; J_0 is the values themselves. Inputs are the operands and k groups of
// five tangents; the output is [full batch..., n]. Tangents have the shape of
// their operand, with full mapped dimensions.
//
// The models of a batch are distributed over the calling thread and those of
// `executor`. Results are bitwise independent of that.
//
// Returns nullptr, a message that describes the error in the call's structure,
// or kOutOfMemory. The message is valid until the thread's next call. Invalid
// values give NaN; see Status.
const char* Forward(const Call& call, const Input* inputs, int32_t num_inputs,
                    const Output& output, Executor* executor = OwnThreads());

// Computes V_k, the cotangents (D^k F(x)[v1, ..., v_{k-1}, .])^T c of the five
// operands. Inputs are the operands, k - 1 groups of five tangents and a
// cotangent c [full batch..., n]; each of the five outputs has the shape of its
// operand and full mapped dimensions. An output that is not in the call's
// `wanted` has event dimensions of size zero. It is not computed, and the bits
// of the other outputs do not depend on it.
const char* Adjoint(const Call& call, const Input* inputs, int32_t num_inputs,
                    const Output* outputs, int32_t num_outputs,
                    Executor* executor = OwnThreads());

// Computes the E-step of an EM algorithm: expected sufficient statistics of the
// path, given the observations that the kinds define, summed over the times of
// each row with weights. Inputs are those of V_1, with weights instead of the
// cotangent; the order must be 1, and time continuous. The outputs have the
// full batch dimensions:
//
//   starts   [full batch..., p]     expected number of starts in a phase
//   sojourns [full batch..., p]     expected time spent in a phase
//   jumps    [full batch..., p, p]  jumps from i to j, zero on the diagonal;
//            [full batch..., m]     for a model of edges: jumps along each
//   exits    [full batch..., p]     absorptions from a phase
//   atom     [full batch..., 1]     values that are zero
//
// For log density and log cdf the statistics cover the whole path until
// absorption; for log survival they cover the path up to the time. The kinds
// that are not logarithms give the statistics times the probability (density)
// of the observation. The cdf at infinity does not determine sojourns, jumps
// and exits: they are NaN.
constexpr int32_t kNumStatistics = 5;
const char* Statistics(const Call& call, const Input* inputs,
                       int32_t num_inputs, const Output* outputs,
                       int32_t num_outputs, Executor* executor = OwnThreads());

// Computes why values are NaN: writes the status codes, int32 [full batch...,
// n], of the values that Forward computes at order 0.
const char* Status(const Call& call, const Input* inputs, int32_t num_inputs,
                   const Output& output, Executor* executor = OwnThreads());

// Returns the meaning of a status code, "ok" for 0.
const char* StatusMessage(int32_t code);

// Computes the shape of Forward's output. `dims` must hold kMaxRank entries.
// Returns nullptr or an error message.
const char* ForwardShape(const Call& call, const Shape* inputs,
                         int32_t num_inputs, int64_t* dims, int32_t* rank);

// Computes the shape of Adjoint's output for operand `index`. Returns nullptr
// or an error message.
const char* AdjointShape(const Call& call, const Shape* inputs,
                         int32_t num_inputs, int32_t index, int64_t* dims,
                         int32_t* rank);

// Computes the shape of output number `index` of Statistics. Returns nullptr or
// an error message.
const char* StatisticsShape(const Call& call, const Shape* inputs,
                            int32_t num_inputs, int32_t index, int64_t* dims,
                            int32_t* rank);

}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_API_PHASE_TYPE_H_
