#include "native/kernel/fuzz/truths.h"

#include <cmath>
#include <vector>

#include "native/kernel/fuzz/rates.h"

namespace phasic {
namespace fuzz {
namespace {

struct Reach {
  bool starts = false;   // some phase is entered at time zero
  bool absorbs = false;  // absorption can follow
  bool exits_at_once = false;
};

Reach FindReach(const std::vector<double>& start, const Rates& rates) {
  const std::vector<double>& exits = rates.exits;
  const size_t p = start.size();
  Reach reach;
  std::vector<bool> reached(p);
  std::vector<size_t> stack;
  for (size_t i = 0; i < p; ++i) {
    if (start[i] == 0.0) continue;
    reached[i] = true;
    stack.push_back(i);
    reach.exits_at_once |= exits[i] != 0.0;
  }
  reach.starts = !stack.empty();
  while (!stack.empty()) {
    const size_t i = stack.back();
    stack.pop_back();
    reach.absorbs |= exits[i] != 0.0;
    for (size_t j = 0; j < p; ++j) {
      if (rates.jumps[i * p + j] == 0.0 || reached[j]) continue;
      reached[j] = true;
      stack.push_back(j);
    }
  }
  return reach;
}

}  // namespace

bool KnowsZeros(const CallCase& c) {
  return !c.inputs[3].values.empty() && RatesOf(c).knows_zeros;
}

bool IsStructurallyZero(const CallCase& c, double time) {
  const Reach reach = FindReach(c.inputs[0].values, RatesOf(c));
  const bool has_atom = c.inputs[3].values[0] != 0.0;
  switch (static_cast<Kind>(c.call.kind)) {
    case Kind::kLogDensity:
    case Kind::kDensity:
      if (time < 0.0 || std::isinf(time)) return true;
      if (time == 0.0) return !has_atom && !reach.exits_at_once;
      return !reach.absorbs;
    case Kind::kLogSurvival:
    case Kind::kSurvival:
      if (time < 0.0) return false;
      return std::isinf(time) || !reach.starts;
    default:
      if (time < 0.0) return true;
      if (std::isinf(time)) return false;
      return !has_atom && (time == 0.0 || !reach.absorbs);
  }
}

double LargestProbability(const CallCase& c) {
  double total = 0.0;
  for (const double x : c.inputs[0].values) total += x;
  for (const double x : c.inputs[3].values) total += x;
  // Up to here an excess is taken for rounding.
  return total <= 1.0 + 0.9e-6 ? 1.0 : total * (1.0 + 1e-6);
}

}  // namespace fuzz
}  // namespace phasic
