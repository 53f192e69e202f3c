#include "native/elimination/moments/moment_sums.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace phasic {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kLeastExponent = -1022;  // of normal numbers

// floor(log2(x)) of a normal number that is positive; smaller ones have one
// below the least.
int ExponentOf(double x) {
  uint64_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  return static_cast<int>(bits >> 52U & 0x7ffU) - 1023;
}

// 1 - sum, as if added in twice the precision.
double Left(const double* x, int64_t count) {
  double sum = 1.0;
  double low = 0.0;
  for (int64_t i = 0; i < count; ++i) {
    const double b = 0.0 - x[i];
    const double total = sum + b;
    const double back = total - sum;
    low += (sum - (total - back)) + (b - back);
    sum = total;
  }
  return sum + low;
}

bool IsFinite(double x) { return std::fabs(x) < kInfinity; }
bool IsMass(double x) { return x >= 0.0 && x < kInfinity; }

// A sum whose error does not grow with the number of terms: blocks of a few are
// added as if in twice the precision.
class BlockSum {
 public:
  void Add(double x) {
    parts_[count_ % kParts] += x;
    if (++count_ == kBlock) Flush();
  }
  double Total() {
    Flush();
    return total_ + low_;
  }

 private:
  static constexpr int kParts = 4;
  static constexpr int kBlock = 64;

  void Flush() {
    const double block = (parts_[0] + parts_[1]) + (parts_[2] + parts_[3]);
    std::fill_n(parts_, kParts, 0.0);
    count_ = 0;
    const double sum = total_ + block;
    const double back = sum - total_;
    const double low = (total_ - (sum - back)) + (block - back);
    total_ = sum;
    if (IsFinite(low)) low_ += low;
  }

  double parts_[kParts] = {};
  int count_ = 0;
  double total_ = 0.0;
  double low_ = 0.0;
};

// Sums of mass * count * change^2, in doubles as they are.
struct PlainSum {
  BlockSum terms;
  double most_mass = 0.0;
  double most_change = 0.0;
  int64_t count = 0;

  void Add(double mass, double times, double change) {
    const double a = mass * times;
    const double b = change * change;
    terms.Add(a * b);
    most_mass = std::max(most_mass, std::fabs(a));
    most_change = std::max(most_change, b);
    ++count;
  }
  // Whether nothing was out of range that the sum would show.
  bool IsRight(double sum) const {
    constexpr double kLost = 1e-300;  // 2^-1074, with digits to spare
    const double most = most_mass + most_change + 1.0;
    return IsFinite(sum) && IsFinite(most) &&
           sum >= kLost * most * static_cast<double>(count);
  }
};

// The exponents of nonzero terms, then the terms in units of the highest.
// Factors of zero make a term zero, infinite ones the sum infinite.
struct WideSum {
  int highest = std::numeric_limits<int>::min();
  BlockSum terms;

  static double Term(double mass, double times, double change, int* exponent) {
    *exponent = std::numeric_limits<int>::min();
    if (mass == 0.0 || times == 0.0 || change == 0.0) return 0.0;
    int of_mass = 0;
    int of_times = 0;
    int of_change = 0;
    mass = std::frexp(mass, &of_mass);
    times = std::frexp(times, &of_times);
    change = std::frexp(change, &of_change);
    *exponent = of_mass + of_times + 2 * of_change;
    return mass * times * change * change;
  }
  void Measure(double mass, double times, double change) {
    int exponent = 0;
    Term(mass, times, change, &exponent);
    highest = std::max(highest, exponent);
  }
  void Add(double mass, double times, double change) {
    int exponent = 0;
    const double term = Term(mass, times, change, &exponent);
    if (term != 0.0) terms.Add(std::ldexp(term, exponent - highest));
  }
};

}  // namespace

double ToDouble(const ScaledNumber& x) {
  return std::ldexp(x.value, x.exponent);
}

ScaledNumber SquareRoot(const ScaledNumber& x) {
  const int odd = x.exponent & 1;
  return {std::sqrt(std::ldexp(x.value, odd)), (x.exponent - odd) / 2};
}

void MomentSums::ScaleWeights() {
  constexpr int kLowest = kLeastExponent + 24;
  const int64_t m = topology->num_edges;
  double* w = arrays.weights;
  double largest = 0.0;
  double least = kInfinity;
  for (int64_t e = 0; e < m; ++e) {
    largest = std::max(largest, w[e]);
    least = std::min(least, w[e] > 0.0 ? w[e] : kInfinity);
  }
  if (largest == 0.0) return;
  // Smaller where a positive weight would be lost.
  const int high = std::max(ExponentOf(largest), kLowest);
  const int low = std::max(ExponentOf(least), kLowest);
  exponent = std::min({high, low - kLowest, -kLeastExponent});
  if (exponent == 0) return;
  const double unit = std::ldexp(1.0, -exponent);
  for (int64_t e = 0; e < m; ++e) w[e] *= unit;
}

bool MomentSums::CheckMasses(const double* atom, double tolerance) {
  const int64_t p = topology->num_phases;
  left = Left(arrays.initial, p);
  const double at_zero =
      atom != nullptr ? *atom : (std::fabs(left) <= tolerance ? 0.0 : left);
  return std::all_of(arrays.initial, arrays.initial + p, IsMass) &&
         std::all_of(arrays.weights, arrays.weights + topology->num_edges,
                     IsMass) &&
         at_zero >= 0.0 && at_zero <= 1.0;
}

bool MomentSums::FindStay(double tolerance) {
  const int64_t p = topology->num_phases;
  double* stay = arrays.stay;
  double* totals = arrays.sojourns;  // not yet in use
  std::fill_n(stay, p, 0.0);
  std::fill_n(totals, p, 0.0);
  for (int64_t e = 0; e < topology->num_edges; ++e) {
    totals[Source(e)] += arrays.weights[e];
    if (!IsOwn(e)) stay[Source(e)] += arrays.weights[e];
  }
  bool is_good = true;
  for (int64_t i = 0; i < p; ++i) {
    is_good &= totals[i] <= 1.0 + tolerance;
    stay[i] = 1.0 - stay[i];
    if (std::fabs(stay[i]) <= tolerance) stay[i] = 0.0;
  }
  return is_good;
}

bool MomentSums::IsInfinite() const {
  const double* y = arrays.sojourns;
  return std::any_of(y, y + topology->num_phases,
                     [](double x) { return x == kInfinity; });
}

ScaledNumber MomentSums::Mean() const {
  const auto sum = [&](double unit) {
    BlockSum terms;
    for (int64_t i = 0; i < topology->num_phases; ++i) {
      terms.Add(arrays.sojourns[i] * unit);
    }
    return terms.Total();
  };
  const double plain = sum(1.0);
  if (plain != kInfinity) return {plain, -exponent};
  constexpr int kDown = 64;
  return {sum(std::ldexp(1.0, -kDown)), kDown - exponent};
}

void MomentSums::TakeExpected() {
  double* d = arrays.differences;
  for (int64_t e = 0; e < topology->num_edges; ++e) {
    if (!IsFinite(d[e]) && arrays.sojourns[Source(e)] == 0.0) d[e] = 0.0;
  }
  BlockSum terms;
  for (int64_t i = 0; i < topology->num_phases; ++i) {
    if (arrays.initial[i] == 0.0) continue;
    terms.Add(arrays.initial[i] * arrays.expected[i]);
  }
  mean = terms.Total();
}

// Calls visit(mass, count, change).
template <class Visit>
void MomentSums::ForEachTerm(const Visit& visit) const {
  const double* y = arrays.sojourns;
  for (int64_t i = 0; i < topology->num_phases; ++i) {
    if (arrays.initial[i] != 0.0) {
      visit(arrays.initial[i], 1.0, arrays.expected[i] - mean);
    }
    if (is_discrete) visit(arrays.stay[i], y[i], arrays.rewards[i]);
  }
  visit(left, 1.0, mean);
  for (int64_t e = 0; e < topology->num_edges; ++e) {
    if (!IsOwn(e)) visit(arrays.weights[e], y[Source(e)], Change(e));
  }
}

ScaledNumber MomentSums::Variance() const {
  PlainSum plain;
  ForEachTerm([&](double mass, double count, double change) {
    plain.Add(mass, count, change);
  });
  const double sum = plain.terms.Total();
  if (plain.IsRight(sum)) return {sum, -2 * exponent};
  WideSum wide;
  ForEachTerm([&](double mass, double count, double change) {
    wide.Measure(mass, count, change);
  });
  ForEachTerm([&](double mass, double count, double change) {
    wide.Add(mass, count, change);
  });
  const double total = wide.terms.Total();
  if (total == 0.0) return {0.0, 0};
  return {total, wide.highest - 2 * exponent};
}

void MomentSums::FindSlopes() {
  for (int64_t i = 0; i < topology->num_phases; ++i) {
    const double r = arrays.rewards[i];
    arrays.spread[i] = is_discrete ? arrays.stay[i] * r * r : 0.0;
    arrays.slopes[i] =
        arrays.initial[i] == 0.0
            ? 0.0
            : 2.0 * arrays.initial[i] * (arrays.expected[i] - mean);
  }
  for (int64_t e = 0; e < topology->num_edges; ++e) {
    const double change = IsOwn(e) ? 0.0 : Change(e);
    const double once = arrays.weights[e] * change;
    arrays.spread[Source(e)] += once * change;
    const double slope = 2.0 * arrays.sojourns[Source(e)] * once;
    arrays.edge_slopes[e] = is_discrete ? 0.0 - slope : slope;
  }
}

double MomentSums::MeanSlope(int64_t edge) const {
  return 0.0 - arrays.sojourns[Source(edge)] * arrays.differences[edge];
}

double MomentSums::VarianceSlope(int64_t edge) const {
  if (IsOwn(edge)) return 0.0;
  const int32_t i = Source(edge);
  const double d = arrays.differences[edge];
  // Of the edge itself; where it takes the place of staying, of that too.
  const double own = is_discrete ? d * (d - 2.0 * arrays.rewards[i]) : d * d;
  double ahead = arrays.spread_differences[edge];
  if (arrays.sojourns[i] == 0.0 && !IsFinite(ahead)) ahead = 0.0;
  return arrays.sojourns[i] * (own - ahead) - arrays.weighted[i] * d;
}

double MomentSums::VarianceSlopeOfMass(int64_t phase) const {
  const double x = arrays.expected[phase];
  return arrays.spread_ahead[phase] + x * (x - 2.0 * mean);
}

}  // namespace phasic
