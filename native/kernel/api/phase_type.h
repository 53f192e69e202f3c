// The phase-type kernel: values and exact derivatives of the density, survival
// function and distribution function of phase-type distributions, in continuous
// or discrete time.
//
// The kernel does not depend on any framework. Every caller (XLA, TensorFlow,
// NumPy) passes the same five operands as dense, row-major arrays of one
// floating type:
//
//   initial_probs [batch..., p]     alpha
//   subgenerator  [batch..., p, p]  S
//   exit_rates    [batch..., p]  or [batch..., 0]: derived as -S 1
//   prob_zero     [batch..., 1]  or [batch..., 0]: derived as 1 - sum(alpha)
//   times         [batch..., n]
//
// Instead of a subgenerator, a call may specify the rates of edges as linear
// functions of parameters theta. Operand `subgenerator` is then theta
// [batch..., d], and the call's `edges` define the functions; see Edges.
//
// If such a call has exit_rates e, they are weights of the phases in which the
// time ends, and no part of the rates: the density is alpha exp(S t) e, where S
// has the rates of all edges, those to absorption too. In a discrete call it is
// alpha T^(k-1) e. So the cotangents of e are the distribution of phases. There
// are no other functions of these weights, and no atom unless it is given.
//
// In a discrete call `subgenerator` is the matrix T of one-step transition
// probabilities between phases, `exit_rates` is the vector t of one-step
// absorption probabilities, and `times` are numbers k of steps:
//   density   prob_zero if k = 0, otherwise alpha T^(k-1) t;
//   survival  alpha T^k 1;
//   cdf       prob_zero + sum_{j<k} alpha T^j t.
// All entries of T are data, including its diagonal. Absent exits are derived
// as 1 - T 1. If exits are given, each row of T and its exit must sum to one.
// If k is not an integer, the density is zero, and survival and cdf have the
// values of the next smaller integer. Derivatives with respect to k do not
// exist: they are NaN.
//
// Derivatives with respect to time are computed from differences of state
// vectors that hardly change from jump to jump, except for the first
// derivatives of survival and cdf. So errors of t^r d^r F / dt^r grow like x^r,
// where x = q t and q is about the largest rate. A derivative is NaN if its
// error may exceed 1e-3, relative to F or to the derivative itself. The first
// time derivative of the density is far more accurate than this, at all x for
// which the density is computed. The same holds for its second time derivative
// up to x = 1e12 or, for few phases, 1e13. Mixed derivatives, with respect to
// time and other operands, are NaN above x = 1e12 or, if they are of second
// order in time, above 7e5. A NaN derivative with respect to time does not
// affect results whose tangent or cotangent of the time is zero.
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
  // The following kinds may occur only in a call's array `kinds`, not as its
  // `kind`.
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
// In a discrete call the rates are one-step probabilities. The probability of
// staying in a phase is then one minus the probabilities of its edges to other
// phases and to absorption, and its derivatives are those of this difference.
constexpr int32_t kNumEdgeArrays = 3;
struct Edges {
  Input indices;       // [batch..., 2, m], int32
  Input constants;     // [batch..., m], or [batch..., 0]: zeros
  Input coefficients;  // [batch..., m, d], or [batch..., m, 0]: the identity
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
  // Whether the next calls have the same model and other times. The kernel then
  // keeps what it has computed of a single model, however cheap it was.
  bool repeats = false;
};

// Computes J_k, the k-th directional derivative D^k F(x)[v1, ..., vk] of the
// values F(x) with respect to all operands x; J_0 is F(x). Inputs are the
// operands and k groups of five tangents; the output is [full batch..., n].
// Tangents have the shape of their operand, with full mapped dimensions.
//
// The models of a batch are distributed over the calling thread and those of
// `executor`. Results have the same bits for any number of threads.
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
// `wanted` has event dimensions of size zero and is not computed. The other
// outputs have the same bits whether or not it is wanted; but where numbers
// leave the range of doubles, they may be NaN beside it.
const char* Adjoint(const Call& call, const Input* inputs, int32_t num_inputs,
                    const Output* outputs, int32_t num_outputs,
                    Executor* executor = OwnThreads());

// Computes the E-step of an EM algorithm: for each row of times t_i with
// weights w_i, the sum over i of w_i times the conditional expectation of a
// statistic of the path, given the observation at t_i. The kind of a time
// defines what is observed: for log density T = t_i, for log survival T > t_i,
// for log cdf T <= t_i. Inputs are those of V_1, with weights instead of the
// cotangent; the order must be 1, and time continuous. The outputs have the
// full batch dimensions:
//
//   starts   [full batch..., p]     number of starts in each phase
//   sojourns [full batch..., p]     time spent in each phase
//   jumps    [full batch..., p, p]  jumps from i to j, zero for i = j;
//            [full batch..., m]     in a call with edges: jumps along each edge
//   exits    [full batch..., p]     number of absorptions from each phase
//   atom     [full batch..., 1]     number of paths with T = 0
//
// For log density and log cdf the statistics cover the whole path until
// absorption; for log survival they cover the path up to the time. For kinds
// that are not logarithms, each expectation is multiplied by the probability
// (density) of the observation. For the cdf at infinity, sojourns, jumps and
// exits are NaN.
constexpr int32_t kNumStatistics = 5;
const char* Statistics(const Call& call, const Input* inputs,
                       int32_t num_inputs, const Output* outputs,
                       int32_t num_outputs, Executor* executor = OwnThreads());

// Reports why values are NaN: writes the status codes, int32 [full batch...,
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
