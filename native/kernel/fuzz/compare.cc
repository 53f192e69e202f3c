#include "native/kernel/fuzz/compare.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <limits>
#include <sstream>

#include "native/kernel/fuzz/runs.h"
#include "native/kernel/fuzz/work.h"

namespace phasic {
namespace fuzz {

static double LargestOf(const Array& array) {
  double largest = 0.0;
  for (const double x : array.values) {
    if (std::fabs(x) < HUGE_VAL) largest = std::max(largest, std::fabs(x));
  }
  return largest;
}

std::string Difference(const CallCase& c,
                       const std::vector<unsigned char>& whole, size_t first,
                       const std::vector<unsigned char>& part,
                       const Tolerance& tolerance) {
  for (size_t i = 0; i < part.size() / ItemSize(c); ++i) {
    const double x = ItemOf(c, whole, first + i);
    const double y = ItemOf(c, part, i);
    if (std::isnan(x) && std::isnan(y)) continue;
    if (tolerance.may_be_nan && (std::isnan(x) || std::isnan(y))) continue;
    const double largest = std::max(std::fabs(x), std::fabs(y));
    const double allowed = tolerance.size + tolerance.relative * largest;
    const bool same_sign = std::signbit(x) == std::signbit(y);
    if (x == y && (allowed > 0.0 || same_sign)) continue;
    if (std::fabs(x - y) <= allowed && allowed > 0.0) continue;
    std::ostringstream text;
    text << std::setprecision(std::numeric_limits<double>::max_digits10) << x
         << " and " << y << " (item " << i << ")";
    return text.str();
  }
  return "";
}

double SharedLanesTolerance(const CallCase& c, size_t output,
                            const std::vector<unsigned char>& part) {
  const double operand = LargestOf(c.inputs[output]);
  double largest = 0.0;
  if (c.adjoint && operand > 0.0) {
    largest = LargestOf(c.inputs.back()) / operand;
  }
  for (size_t i = 0; i < part.size() / ItemSize(c); ++i) {
    const double size = std::fabs(ItemOf(c, part, i));
    if (size < HUGE_VAL) largest = std::max(largest, size);
  }
  return largest * (c.call.precision == Precision::kFloat32 ? 1e-5 : 1e-10);
}

static bool IsExtreme(const CallCase& c, const std::vector<int64_t>& batch) {
  constexpr double kManySteps = 0x1p12;
  constexpr double kHuge = 0x1p300;
  for (const Array& array : c.inputs) {
    for (const double x : array.values) {
      const double size = std::fabs(x);
      if (size != 0.0 && !(size > 1.0 / kHuge && size < kHuge)) return true;
    }
  }
  const double rate = c.call.discrete ? 1.0 : LargestLeavingRate(batch, c);
  return rate * LargestOf(c.inputs[4]) > kManySteps;
}

Tolerance CompanyTolerance(const CallCase& c,
                           const std::vector<int64_t>& batch) {
  if (!IsExtreme(c, batch)) return {};
  const bool is_derivative = c.adjoint || c.call.order > 0;
  return {0.0, is_derivative ? 1e-6 : 0.0, true};
}

}  // namespace fuzz
}  // namespace phasic
