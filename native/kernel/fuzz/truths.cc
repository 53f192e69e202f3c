#include "native/kernel/fuzz/truths.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "native/kernel/fuzz/rates.h"

namespace phasic {
namespace fuzz {
namespace {

struct Reach {
  bool starts = false;   // some phase has initial mass
  bool absorbs = false;  // absorption is possible
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

// The set of phases in which a discrete chain may be after a number of steps.
class Walk {
 public:
  explicit Walk(const CallCase& c)
      : rates_(RatesOf(c)), present_(c.inputs[0].values.size()) {
    for (size_t i = 0; i < present_.size(); ++i) {
      present_[i] = c.inputs[0].values[i] != 0.0;
    }
  }

  // IsAnywhere returns whether the set has any phase. MayEnd returns whether
  // absorption is possible in the next step.
  bool IsAnywhere() const {
    return std::find(present_.begin(), present_.end(), true) != present_.end();
  }
  bool MayEnd() const {
    for (size_t i = 0; i < present_.size(); ++i) {
      if (present_[i] && rates_.exits[i] != 0.0) return true;
    }
    return false;
  }

  // Advances by one step; returns whether the set changed.
  bool Step() {
    const size_t p = present_.size();
    std::vector<bool> next(p);
    for (size_t i = 0; i < p; ++i) {
      for (size_t j = 0; present_[i] && j < p; ++j) {
        const double x = i == j ? rates_.stays[i] : rates_.jumps[i * p + j];
        if (x != 0.0) next[j] = true;
      }
    }
    const bool changed = next != present_;
    present_ = std::move(next);
    return changed;
  }

 private:
  const Rates rates_;
  std::vector<bool> present_;
};

// Returns the sum of the initial probabilities and, if it is given, the atom at
// zero.
double SumOfProbabilities(const CallCase& c) {
  double total = 0.0;
  for (const double x : c.inputs[0].values) total += x;
  for (const double x : c.inputs[3].values) total += x;
  return total;
}

constexpr double kLongWalk = 2000.0;

std::optional<bool> IsZeroInSteps(const CallCase& c, size_t index) {
  const Kind kind = KindOf(c, index);
  const double time = c.inputs[4].values[index];
  const bool has_atom = c.inputs[3].values[0] != 0.0;
  const bool is_density = kind == Kind::kLogDensity || kind == Kind::kDensity;
  const bool is_survival =
      kind == Kind::kLogSurvival || kind == Kind::kSurvival;
  const bool is_interval = kind == Kind::kLogInterval;
  if (kind == Kind::kNothing) return true;
  if (time < 0.0) return !is_survival;
  if (std::isinf(time)) return is_density || is_survival;
  if (is_density && time == 0.0) return !has_atom;
  if (is_density && time != std::floor(time)) return true;
  if (!is_density && !is_survival && !is_interval && has_atom) return false;
  // Steps are counted from zero. A survival value is positive if some phase is
  // reachable after `last` steps. Any other value is positive if absorption is
  // possible in one of the steps from `first` to last - 1.
  double last = std::floor(time);
  double first = is_density ? last - 1.0 : 0.0;
  if (is_interval) {
    first = last;
    last = std::floor(c.inputs[4].values[index + 1]);
  }
  Walk walk(c);
  for (int64_t step = 0; static_cast<double>(step) < last; ++step) {
    const auto k = static_cast<double>(step);
    if (!is_survival && k >= first && walk.MayEnd()) return false;
    if (!walk.Step()) {
      return is_survival ? !walk.IsAnywhere()
                         : !(walk.MayEnd() && first < last);
    }
    if (k > kLongWalk) return std::nullopt;
  }
  return !is_survival || !walk.IsAnywhere();
}

}  // namespace

bool KnowsZeros(const CallCase& c) {
  return !c.inputs[3].values.empty() && RatesOf(c).knows_zeros;
}

std::optional<bool> IsStructurallyZero(const CallCase& c, size_t index) {
  if (c.call.discrete) return IsZeroInSteps(c, index);
  const double time = c.inputs[4].values[index];
  const Reach reach = FindReach(c.inputs[0].values, RatesOf(c));
  const bool has_atom = c.inputs[3].values[0] != 0.0;
  switch (KindOf(c, index)) {
    case Kind::kLogInterval:
      return !reach.absorbs || !(time < c.inputs[4].values[index + 1]);
    case Kind::kNothing:
      return true;
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

double TotalProbability(const CallCase& c) {
  const double total = SumOfProbabilities(c);
  return c.inputs[3].values.empty() ? std::max(total, 1.0) : total;
}

double LargestProbability(const CallCase& c) {
  const double total = SumOfProbabilities(c);
  // A total that exceeds one by less than 0.9e-6 is taken as one with rounding
  // errors.
  return total <= 1.0 + 0.9e-6 ? 1.0 : total * (1.0 + 1e-6);
}

}  // namespace fuzz
}  // namespace phasic
