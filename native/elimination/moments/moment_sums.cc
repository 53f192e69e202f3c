#include "native/elimination/moments/moment_sums.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "native/kernel/numbers/compensated_sum.h"

namespace phasic {
namespace {

using PHASIC_ISA::CompensatedSum;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kLeastExponent = -1022;  // of normal numbers

// Returns floor(log2(x)) for a positive normal number x, and kLeastExponent - 1
// for smaller ones.
int ExponentOf(double x) {
  uint64_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  return static_cast<int>(bits >> 52U & 0x7ffU) - 1023;
}

// Multiplies weights by a power of two, so that the largest is near one.
// Returns the binary exponent e of the factor 2^-e.
int MakeNearOne(int64_t count, double* w) {
  constexpr int kLowest = kLeastExponent + 24;
  double largest = 0.0;
  double least = kInfinity;
  for (int64_t e = 0; e < count; ++e) {
    largest = std::max(largest, w[e]);
    least = std::min(least, w[e] > 0.0 ? w[e] : kInfinity);
  }
  if (largest == 0.0) return 0;
  // The factor is limited so that no positive weight underflows.
  const int high = std::max(ExponentOf(largest), kLowest);
  const int low = std::max(ExponentOf(least), kLowest);
  const int exponent = std::min({high, low - kLowest, -kLeastExponent});
  if (exponent == 0) return 0;
  const double unit = std::ldexp(1.0, -exponent);
  for (int64_t e = 0; e < count; ++e) w[e] *= unit;
  return exponent;
}

// Returns 1 - sum(x), with the accuracy of a sum in twice the precision.
template <class T>
double Left(const T* x, int64_t count) {
  CompensatedSum<double> rest;
  rest.Add(1.0);
  for (int64_t i = 0; i < count; ++i) rest.Add(-ToDouble(x[i]));
  return rest.Result();
}

template <class T>
bool IsMass(const T& x) {
  const double value = ToDouble(x);
  return value >= 0.0 && value < kInfinity;
}

// Returns whether all numbers are masses. Looks at each, so that compilers can
// use vectors.
template <class T>
bool AreMasses(const T* x, int64_t count) {
  bool are_masses = true;
  for (int64_t i = 0; i < count; ++i) are_masses &= IsMass(x[i]);
  return are_masses;
}

// Accumulates a sum whose error does not grow with the number of terms: block
// sums are added with compensation, as if in twice the precision.
template <class T>
class BlockSum {
 public:
  void Add(const T& x) {
    parts_[count_ % kParts] += x;
    if (++count_ == kBlock) Flush();
  }
  T Total() {
    Flush();
    return total_ + low_;
  }

 private:
  static constexpr int kParts = 4;
  static constexpr int kBlock = 64;

  void Flush() {
    const T block = (parts_[0] + parts_[1]) + (parts_[2] + parts_[3]);
    std::fill_n(parts_, kParts, T(0.0));
    count_ = 0;
    const T sum = total_ + block;
    const T back = sum - total_;
    const T low = (total_ - (sum - back)) + (block - back);
    total_ = sum;
    if (IsFinite(low)) low_ += low;
  }

  T parts_[kParts] = {};
  int count_ = 0;
  T total_ = 0.0;
  T low_ = 0.0;
};

}  // namespace

template <class T>
void MomentSums<T>::ScaleWeights() {
  if constexpr (std::is_same_v<T, double>) {
    exponent = MakeNearOne(topology->num_edges, arrays.weights);
  }
}

template <class T>
bool MomentSums<T>::CheckMasses(const double* atom, double tolerance) {
  const int64_t p = topology->num_phases;
  const double rest = Left(arrays.initial, p);
  left = rest;
  const double at_zero =
      atom != nullptr ? *atom : (std::fabs(rest) <= tolerance ? 0.0 : rest);
  return AreMasses(arrays.initial, p) &&
         AreMasses(arrays.weights, topology->num_edges) && at_zero >= 0.0 &&
         at_zero <= 1.0;
}

template <class T>
bool MomentSums<T>::FindStay(double tolerance) {
  const int64_t p = topology->num_phases;
  T* stay = arrays.stay;
  T* totals = arrays.sojourns;  // sojourns are computed later
  std::fill_n(stay, p, T(0.0));
  std::fill_n(totals, p, T(0.0));
  for (int64_t e = 0; e < topology->num_edges; ++e) {
    totals[Source(e)] += arrays.weights[e];
    if (!IsOwn(e)) stay[Source(e)] += arrays.weights[e];
  }
  bool is_good = true;
  for (int64_t i = 0; i < p; ++i) {
    is_good &= ToDouble(totals[i]) <= 1.0 + tolerance;
    stay[i] = 1.0 - stay[i];
    if (std::fabs(ToDouble(stay[i])) <= tolerance) stay[i] = 0.0;
  }
  return is_good;
}

template <class T>
bool MomentSums<T>::IsInfinite() const {
  const T* y = arrays.sojourns;
  return std::any_of(y, y + topology->num_phases,
                     [](const T& x) { return x == T(kInfinity); });
}

template <class T>
ScaledNumber<T> MomentSums<T>::Mean() const {
  BlockSum<T> terms;
  for (int64_t i = 0; i < topology->num_phases; ++i) {
    terms.Add(arrays.sojourns[i]);
  }
  return {terms.Total(), -exponent};
}

template <class T>
void MomentSums<T>::TakeExpected() {
  T* d = arrays.differences;
  for (int64_t e = 0; e < topology->num_edges; ++e) {
    if (!IsFinite(d[e]) && IsZero(arrays.sojourns[Source(e)])) d[e] = 0.0;
  }
  BlockSum<T> terms;
  for (int64_t i = 0; i < topology->num_phases; ++i) {
    if (IsZero(arrays.initial[i])) continue;
    terms.Add(arrays.initial[i] * arrays.expected[i]);
  }
  mean = terms.Total();
}

template <class T>
ScaledNumber<T> MomentSums<T>::Variance() const {
  BlockSum<T> terms;
  const auto add = [&](const T& mass, const T& count, const T& change) {
    if (IsZero(mass) || IsZero(count) || IsZero(change)) return;
    terms.Add((mass * count) * (change * change));
  };
  const T* y = arrays.sojourns;
  for (int64_t i = 0; i < topology->num_phases; ++i) {
    if (!IsZero(arrays.initial[i])) {
      add(arrays.initial[i], 1.0, arrays.expected[i] - mean);
    }
    if (is_discrete) add(arrays.stay[i], y[i], arrays.rewards[i]);
  }
  add(left, 1.0, mean);
  for (int64_t e = 0; e < topology->num_edges; ++e) {
    if (!IsOwn(e)) add(arrays.weights[e], y[Source(e)], Change(e));
  }
  return {terms.Total(), -2 * exponent};
}

template <class T>
void MomentSums<T>::FindSlopes() {
  for (int64_t i = 0; i < topology->num_phases; ++i) {
    const T r = arrays.rewards[i];
    arrays.spread[i] = is_discrete ? arrays.stay[i] * r * r : T(0.0);
    arrays.slopes[i] =
        IsZero(arrays.initial[i])
            ? T(0.0)
            : 2.0 * arrays.initial[i] * (arrays.expected[i] - mean);
  }
  for (int64_t e = 0; e < topology->num_edges; ++e) {
    const T change = IsOwn(e) ? T(0.0) : Change(e);
    const T once = arrays.weights[e] * change;
    arrays.spread[Source(e)] += once * change;
    const T slope = 2.0 * arrays.sojourns[Source(e)] * once;
    arrays.edge_slopes[e] = is_discrete ? 0.0 - slope : slope;
  }
}

template <class T>
T MomentSums<T>::MeanSlope(int64_t edge) const {
  return 0.0 - arrays.sojourns[Source(edge)] * arrays.differences[edge];
}

template <class T>
T MomentSums<T>::VarianceSlope(int64_t edge) const {
  if (IsOwn(edge)) return 0.0;
  const int32_t i = Source(edge);
  const T d = arrays.differences[edge];
  // The derivative of the edge's own term in the variance. In discrete time a
  // larger weight also reduces the probability of staying.
  const T own = is_discrete ? d * (d - 2.0 * arrays.rewards[i]) : d * d;
  T ahead = arrays.spread_differences[edge];
  if (IsZero(arrays.sojourns[i]) && !IsFinite(ahead)) ahead = 0.0;
  return arrays.sojourns[i] * (own - ahead) - arrays.weighted[i] * d;
}

// With exits e_i derived from the rows, an entry (i, j) adds to the edge from i
// to j what it takes from e_i. The differences of x in both slopes cancel.
template <class T>
T MomentSums<T>::MeanSlopeOfEntry(int64_t i, int64_t j) const {
  if (IsZero(arrays.sojourns[i])) return 0.0;
  return arrays.sojourns[i] * arrays.expected[j];
}

template <class T>
T MomentSums<T>::VarianceSlopeOfEntry(int64_t i, int64_t j) const {
  const T x = arrays.expected[j];
  const T twice =
      is_discrete ? arrays.expected[i] - arrays.rewards[i] : arrays.expected[i];
  T ahead = arrays.spread_ahead[j];
  if (IsZero(arrays.sojourns[i]) && !IsFinite(ahead)) ahead = 0.0;
  return arrays.sojourns[i] * (x * (x - 2.0 * twice) + ahead) +
         arrays.weighted[i] * x;
}

template <class T>
T MomentSums<T>::VarianceSlopeOfMass(int64_t phase) const {
  const T x = arrays.expected[phase];
  return arrays.spread_ahead[phase] + x * (x - 2.0 * mean);
}

template struct MomentSums<double>;
template struct MomentSums<Wide>;

}  // namespace phasic
