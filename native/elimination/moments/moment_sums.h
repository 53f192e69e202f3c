// Computes the mean, the variance and their gradients of one model from the
// solutions of its linear systems.

#ifndef PHASIC_NATIVE_ELIMINATION_MOMENTS_MOMENT_SUMS_H_
#define PHASIC_NATIVE_ELIMINATION_MOMENTS_MOMENT_SUMS_H_

#include <cstdint>

#include "native/elimination/moments/moment_numbers.h"
#include "native/elimination/symbolic/topology.h"

namespace phasic {

// The working arrays of one model. Arrays that a call does not need are null.
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
  T* slopes;              // derivatives of the variance w.r.t. x, [p]
  T* edge_slopes;         // derivatives of the variance w.r.t. d, [m]
  T* weighted;            // U^T applied to slopes and edge_slopes, [p]
};

// Computes the moments of one model step by step. The caller solves the linear
// systems between the steps. `T` is double, or Wide for a model whose numbers
// leave the range of doubles. The flags of `FloatEnvironment` show whether they
// do.
template <class T>
struct MomentSums {
  const Topology* topology = nullptr;
  T left = 0.0;  // 1 - sum_i alpha_i
  T mean = 0.0;  // sum_i alpha_i x_i
  MomentArrays<T> arrays = {};
  int exponent = 0;
  bool is_discrete = false;

  // Scales the weights of a model in continuous time by 2^-exponent, so that
  // they are near one.
  void ScaleWeights();
  // Computes `left`. Returns whether the weights, the initial masses and the
  // probability `atom` of absorption at time zero are valid. If `atom` is null,
  // the probability is 1 - sum(alpha).
  bool CheckMasses(const double* atom, double tolerance);
  // In discrete time: computes the probabilities of staying. Returns whether
  // the weights of every phase sum to at most one.
  bool FindStay(double tolerance);

  // Returns whether a trap is reached from the initial masses, which makes the
  // moments infinite.
  bool IsInfinite() const;
  ScaledNumber<T> Mean() const;

  // Sets differences that are not finite to zero along edges from phases that
  // are never visited, and computes `mean`.
  void TakeExpected();
  // Returns the variance in the original unit of time. The weights were
  // multiplied by 2^-exponent, so that the exponent of the result includes -2
  // times `exponent`.
  ScaledNumber<T> Variance() const;
  // Computes the right-hand sides of the systems for the variance's gradient.
  void FindSlopes();
  // The derivatives of the mean or variance with respect to the weight of an
  // edge or to the initial mass of a phase, for scaled weights.
  T MeanSlope(int64_t edge) const;
  T VarianceSlope(int64_t edge) const;
  // The same with respect to entry (i, j) of a matrix with derived exits, which
  // also changes the exit of i.
  T MeanSlopeOfEntry(int64_t i, int64_t j) const;
  T VarianceSlopeOfEntry(int64_t i, int64_t j) const;
  T VarianceSlopeOfMass(int64_t phase) const;

 private:
  bool IsOwn(int64_t e) const {
    return Source(e) == topology->indices[topology->num_edges + e];
  }
  int32_t Source(int64_t e) const { return topology->indices[e]; }
  // Returns the number whose square occurs in the variance's term of edge e:
  // d_e in continuous time, or 1 - d_e in discrete time.
  T Change(int64_t e) const {
    const T d = arrays.differences[e];
    return is_discrete ? arrays.rewards[Source(e)] - d : d;
  }
};

extern template struct MomentSums<double>;
extern template struct MomentSums<Wide>;

}  // namespace phasic

#endif  // PHASIC_NATIVE_ELIMINATION_MOMENTS_MOMENT_SUMS_H_
