// What is summed up for the moments of one model, from the solutions of its
// systems.

#ifndef PHASIC_NATIVE_ELIMINATION_MOMENTS_MOMENT_SUMS_H_
#define PHASIC_NATIVE_ELIMINATION_MOMENTS_MOMENT_SUMS_H_

#include <cstdint>

#include "native/elimination/moments/moment_numbers.h"
#include "native/elimination/symbolic/topology.h"

namespace phasic {

// Arrays of one model; those that a call has no use for are null.
template <class T>
struct MomentArrays {
  T* weights;             // [m], 2^-exponent of those given
  T* initial;             // [p]
  T* stay;                // [p], of discrete time
  T* sojourns;            // y, [p]
  T* rewards;             // [p]: 1, or 0 in traps that are not reached
  T* expected;            // x, [p]
  T* differences;         // d, [m]
  T* spread;              // q, [p], with Var X = sum_i y_i q_i + ...
  T* spread_ahead;        // U q, [p]
  T* spread_differences;  // [m]
  T* slopes;              // of the variance in x, [p]
  T* edge_slopes;         // in d, [m]
  T* weighted;            // U^T of both, [p]
};

// One model: values go in, systems are solved in between by who calls. `T` is
// double, or Wide for a model whose numbers leave the range of doubles; that is
// told by the flags of `FloatEnvironment`.
template <class T>
struct MomentSums {
  const Topology* topology = nullptr;
  T left = 0.0;  // 1 - sum_i alpha_i
  T mean = 0.0;  // from the starts' expected times
  MomentArrays<T> arrays = {};
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
  ScaledNumber<T> Mean() const;

  // Of x and d: makes what is never used zero; finds `mean`.
  void TakeExpected();
  // In units of 2^(-2 exponent).
  ScaledNumber<T> Variance() const;
  // What the variance's gradient is solved for.
  void FindSlopes();
  // Gradients in the system's units.
  T MeanSlope(int64_t edge) const;
  T VarianceSlope(int64_t edge) const;
  T VarianceSlopeOfMass(int64_t phase) const;

 private:
  bool IsOwn(int64_t e) const {
    return Source(e) == topology->indices[topology->num_edges + e];
  }
  int32_t Source(int64_t e) const { return topology->indices[e]; }
  // What a jump changes.
  T Change(int64_t e) const {
    const T d = arrays.differences[e];
    return is_discrete ? arrays.rewards[Source(e)] - d : d;
  }
};

extern template struct MomentSums<double>;
extern template struct MomentSums<Wide>;

}  // namespace phasic

#endif  // PHASIC_NATIVE_ELIMINATION_MOMENTS_MOMENT_SUMS_H_
