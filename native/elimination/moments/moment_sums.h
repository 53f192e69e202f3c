// What is summed up for the moments of one model, from the solutions of its
// systems.

#ifndef PHASIC_NATIVE_ELIMINATION_MOMENTS_MOMENT_SUMS_H_
#define PHASIC_NATIVE_ELIMINATION_MOMENTS_MOMENT_SUMS_H_

#include <cstdint>

#include "native/elimination/symbolic/topology.h"

namespace phasic {

// value 2^exponent.
struct ScaledNumber {
  double value;
  int exponent;
};

double ToDouble(const ScaledNumber& x);
ScaledNumber SquareRoot(const ScaledNumber& x);

// Arrays of one model in doubles; those that a call has no use for are null.
struct MomentArrays {
  double* weights;             // [m], 2^-exponent of those given
  double* initial;             // [p]
  double* stay;                // [p], of discrete time
  double* sojourns;            // y, [p]
  double* rewards;             // [p]: 1, or 0 in traps that are not reached
  double* expected;            // x, [p]
  double* differences;         // d, [m]
  double* spread;              // q, [p], with Var X = sum_i y_i q_i + ...
  double* spread_ahead;        // U q, [p]
  double* spread_differences;  // [m]
  double* slopes;              // of the variance in x, [p]
  double* edge_slopes;         // in d, [m]
  double* totals;              // of the slopes in each parameter
  double* weighted;            // U^T of both, [p]
};

// One model: values go in, systems are solved in between by who calls.
struct MomentSums {
  const Topology* topology = nullptr;
  double left = 0.0;  // 1 - sum_i alpha_i
  double mean = 0.0;  // from the starts' expected times
  MomentArrays arrays = {};
  int exponent = 0;
  bool is_discrete = false;

  // Makes the weights, as they were given, near one; in continuous time.
  void ScaleWeights();
  // Finds `left`; returns whether masses keep the rules. `atom` may be null.
  bool CheckMasses(const double* atom, double tolerance);
  // Checks probabilities and finds what they leave.
  bool FindStay(double tolerance);

  // Whether a trap is reached.
  bool IsInfinite() const;
  ScaledNumber Mean() const;

  // Of x and d: makes what is never used zero; finds `mean`.
  void TakeExpected();
  // In units of 2^(-2 exponent).
  ScaledNumber Variance() const;
  // What the variance's gradient is solved for.
  void FindSlopes();
  // Gradients in the system's units.
  double MeanSlope(int64_t edge) const;
  double VarianceSlope(int64_t edge) const;
  double VarianceSlopeOfMass(int64_t phase) const;

 private:
  template <class Visit>
  void ForEachTerm(const Visit& visit) const;
  bool IsOwn(int64_t e) const {
    return Source(e) == topology->indices[topology->num_edges + e];
  }
  int32_t Source(int64_t e) const { return topology->indices[e]; }
  // What a jump changes.
  double Change(int64_t e) const {
    const double d = arrays.differences[e];
    return is_discrete ? arrays.rewards[Source(e)] - d : d;
  }
};

}  // namespace phasic

#endif  // PHASIC_NATIVE_ELIMINATION_MOMENTS_MOMENT_SUMS_H_
