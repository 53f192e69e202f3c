// The sums over a model's solutions that give its moments.

#ifndef PHASIC_NATIVE_ELIMINATION_MOMENTS_MOMENT_SUMS_H_
#define PHASIC_NATIVE_ELIMINATION_MOMENTS_MOMENT_SUMS_H_

#include <cstdint>

#include "native/elimination/moments/moment_numbers.h"
#include "native/elimination/symbolic/topology.h"

namespace phasic {

// Arrays of one model; those that a call does not need are null.
template <class T>
struct MomentArrays {
  T* weights;             // [m], given weights times 2^-exponent
  T* initial;             // [p]
  T* stay;                // [p], in discrete time
  T* sojourns;            // y, [p]
  T* rewards;             // [p]: 1, or 0 in traps that are not reached
  T* expected;            // x, [p]
  T* differences;         // d, [m]
  T* spread;              // q, [p], with Var X = sum_i y_i q_i + ...
  T* spread_ahead;        // U q, [p]
  T* spread_differences;  // [m]
  T* slopes;              // derivatives of the variance in x, [p]
  T* edge_slopes;         // derivatives in d, [m]
  T* weighted;            // U^T applied to both, [p]
};

// The sums for one model; the caller solves the systems between the steps. `T`
// is double, or Wide for a model whose numbers leave the range of doubles,
// which the flags of `FloatEnvironment` show.
template <class T>
struct MomentSums {
  const Topology* topology = nullptr;
  T left = 0.0;  // 1 - sum_i alpha_i
  T mean = 0.0;  // from expected times of the initial phases
  MomentArrays<T> arrays = {};
  int exponent = 0;
  bool is_discrete = false;

  // Scales the given weights to be near one; in continuous time.
  void ScaleWeights();
  // Sets `left`; returns whether masses are valid. `atom` may be null.
  bool CheckMasses(const double* atom, double tolerance);
  // Checks probabilities and computes those of staying.
  bool FindStay(double tolerance);

  // Whether a trap is reached.
  bool IsInfinite() const;
  ScaledNumber<T> Mean() const;

  // Sets x and d in unused entries to zero; sets `mean`.
  void TakeExpected();
  // Returns the variance in units of 2^(-2 exponent).
  ScaledNumber<T> Variance() const;
  // Computes the right-hand sides of the variance's gradient.
  void FindSlopes();
  // Return gradients in the system's units.
  T MeanSlope(int64_t edge) const;
  T VarianceSlope(int64_t edge) const;
  T VarianceSlopeOfMass(int64_t phase) const;

 private:
  bool IsOwn(int64_t e) const {
    return Source(e) == topology->indices[topology->num_edges + e];
  }
  int32_t Source(int64_t e) const { return topology->indices[e]; }
  // Returns the change by a jump along e.
  T Change(int64_t e) const {
    const T d = arrays.differences[e];
    return is_discrete ? arrays.rewards[Source(e)] - d : d;
  }
};

extern template struct MomentSums<double>;
extern template struct MomentSums<Wide>;

}  // namespace phasic

#endif  // PHASIC_NATIVE_ELIMINATION_MOMENTS_MOMENT_SUMS_H_
