#include "native/kernel/fuzz/checks.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "native/kernel/fuzz/call_case.h"
#include "native/kernel/fuzz/compare.h"
#include "native/kernel/fuzz/describe.h"
#include "native/kernel/fuzz/runs.h"
#include "native/kernel/fuzz/slices.h"
#include "native/kernel/fuzz/truths.h"

namespace phasic {
namespace fuzz {
namespace {

using Dims = std::vector<int64_t>;

constexpr double kSmallest = std::numeric_limits<double>::min();

bool IsLog(Kind kind) {
  return kind != Kind::kNothing && static_cast<int32_t>(kind) % 2 == 0;
}

std::string CheckRepeat(const CallCase& c, const Result& result) {
  const Result again = Run(c, Caller::kFlushing);
  if (!again.error.empty()) return "a second call: " + again.error;
  if (again.data != result.data) return "bits differ on a second call";
  return "";
}

std::string CheckValue(const CallCase& c, double value, size_t index) {
  const Kind kind = KindOf(c, index);
  if (kind == Kind::kNothing) return value == 0.0 ? "" : "nothing is not zero";
  if (!IsLog(kind) && value < 0.0) return "a value is negative";
  if (kind != Kind::kDensity && (kind != Kind::kLogDensity)) {
    const double largest = LargestProbability(c);
    if (value > (IsLog(kind) ? std::log(largest) : largest)) {
      return "a probability is above one";
    }
  }
  if (!IsLog(kind) || !KnowsZeros(c)) return "";
  const bool is_zero = value == -HUGE_VAL;
  if (is_zero == IsStructurallyZero(c, index).value_or(is_zero)) return "";
  return is_zero ? "-inf where the truth is not zero"
                 : "not -inf where the truth is zero";
}

// Checks the results of a call without batch dimensions. Results at times whose
// status is an error must be NaN. At order 0, all other results must be valid
// numbers.
std::string CheckAgainstStatus(const CallCase& c, const Result& result) {
  const Result status = RunStatus(c);
  if (!status.error.empty()) return "status refused: " + status.error;
  const std::vector<unsigned char>& values = result.data[c.adjoint ? 4 : 0];
  const size_t num_times = c.inputs[4].values.size();
  for (size_t i = 0; i < num_times; ++i) {
    const int32_t code = CodeOf(status.data[0], i);
    if (std::strcmp(StatusMessage(code), "unknown status code") == 0) {
      return "a status code without a message";
    }
    if (values.empty() || c.statistics) continue;
    // In an adjoint call, `value` is the cotangent of this time. It is not
    // computed if the given cotangent of the result is zero or denormal: sweeps
    // flush denormals to zero, and skip such times.
    const double value = ItemOf(c, values, i);
    if (c.adjoint && !(std::fabs(c.inputs.back().values[i]) >= kSmallest)) {
      continue;
    }
    const bool is_value = !c.adjoint && c.call.order == 0;
    if (code != 0 && !std::isnan(value)) {
      return std::string("not NaN, although: ") + StatusMessage(code);
    }
    if (!is_value || code != 0) continue;
    if (std::isnan(value)) return "NaN without a reason";
    std::string failure = CheckValue(c, value, i);
    if (!failure.empty()) return failure;
  }
  return "";
}

// Returns whether several elements of the batch have the same model: whether
// all arrays of the model are broadcast along some axis.
bool SharesModels(const CallCase& c, const Dims& batch) {
  for (size_t axis = 0; axis < batch.size(); ++axis) {
    bool is_shared = batch[axis] > 1;
    for (size_t i = 0; i < 4; ++i) {
      is_shared = is_shared && c.inputs[i].dims[axis] == 1;
    }
    for (const Array& array : c.edges) {
      is_shared = is_shared && array.dims[axis] == 1;
    }
    if (is_shared) return true;
  }
  return false;
}

// Returns whether models of the batch may be computed in lanes, which they
// share: continuous ones with the same edges.
bool MayShareLanes(const CallCase& c, const Dims& batch) {
  if (c.call.discrete || c.edges.empty()) return false;
  for (size_t axis = 0; axis < batch.size(); ++axis) {
    if (c.edges[0].dims[axis] != 1) return false;
  }
  return true;
}

// Checks that the results for one element of the batch have the same bits if
// the call has only that element, or are near where models share lanes.
std::string CheckElement(const CallCase& c, const Dims& index,
                         const Dims& batch, const Result& whole,
                         const Result& part) {
  if (!part.error.empty()) return "refused without the batch: " + part.error;
  for (size_t i = 0; i < part.data.size(); ++i) {
    // Sums over the batch are not compared. If several elements of the batch
    // share a model, derivatives and cotangents of times are not compared,
    // either: they may be computed by another method if the model has only one
    // time.
    const bool is_derivative = c.adjoint ? i == 4 : c.call.order == 1;
    bool has_sum = is_derivative && SharesModels(c, batch);
    for (size_t axis = 0; axis < batch.size(); ++axis) {
      has_sum |= whole.dims[i][axis] != batch[axis];
    }
    if (has_sum) continue;
    const size_t first =
        PlaceOf(whole.dims[i], index) * part.data[i].size() / ItemSize(c);
    Tolerance tolerance = CompanyTolerance(c, batch);
    if (MayShareLanes(c, batch)) {
      tolerance.size = SharedLanesTolerance(c, i, part.data[i]);
    }
    const std::string difference =
        Difference(c, whole.data[i], first, part.data[i], tolerance);
    if (!difference.empty()) {
      return "results depend on the rest of the batch: " + difference;
    }
  }
  return "";
}

std::string CheckTime(const CallCase& c, size_t time, const Result& whole) {
  size_t num_times = 0;
  const Result part = Run(TimeOf(c, &time, &num_times));
  if (!part.error.empty()) return "refused with one time: " + part.error;
  if (c.statistics) return "";
  const size_t output = c.adjoint ? 4 : 0;
  if (part.data[output].empty()) return "";
  std::vector<unsigned char> items = part.data[output];
  items.resize(num_times * ItemSize(c));
  const std::string difference =
      Difference(c, whole.data[output], time, items, CompanyTolerance(c, {}));
  return difference.empty() ? ""
                            : "bits depend on the other times: " + difference;
}

// Checks that the derivatives with respect to some operands do not depend on
// which other derivatives are requested.
std::string CheckWanted(CallCase c, const Result& result) {
  if (c.statistics || c.call.wanted == kAllOperands) return "";
  c.call.wanted = kAllOperands;
  const Result all = Run(c);
  if (!all.error.empty()) return "refused with all outputs: " + all.error;
  for (size_t i = 0; i < result.data.size(); ++i) {
    if (result.data[i].empty()) continue;
    const std::string difference =
        Difference(c, all.data[i], 0, result.data[i], CompanyTolerance(c, {}));
    if (!difference.empty()) {
      return "bits depend on which outputs are wanted: output " +
             std::to_string(i) + ", " + difference;
    }
  }
  return "";
}

// Returns whether the observed event has probability one by definition:
// survival beyond a negative time, or absorption before infinity.
bool IsCertain(const CallCase& c, size_t index) {
  const double time = c.inputs[4].values[index];
  return KindOf(c, index) == Kind::kLogSurvival
             ? time < 0.0
             : KindOf(c, index) == Kind::kLogCdf && time == HUGE_VAL;
}

// Checks the expected statistics of a call whose weights are not negative. No
// statistic may be negative. The expected numbers of starts, in all phases and
// in the atom, must add up to the sum of the weights, since every path has one
// start. If an observed event is certain, its expected numbers of starts are
// the prior probabilities, whose sum may differ from one.
std::string CheckStatistics(const CallCase& c, const Result& result) {
  double total = 0.0;
  for (size_t i = 0; i < c.inputs.back().values.size(); ++i) {
    const double weight = c.inputs.back().values[i];
    if (!(weight >= 0.0 && weight < 1e30)) return "";
    if (!IsLog(KindOf(c, i)) && KindOf(c, i) != Kind::kNothing) total = -1.0;
    if (IsLog(KindOf(c, i)) && total >= 0.0) {
      total += weight * (IsCertain(c, i) ? TotalProbability(c) : 1.0);
    }
  }
  double starts = 0.0;
  for (size_t i = 0; i < result.data.size(); ++i) {
    for (size_t j = 0; j < result.data[i].size() / ItemSize(c); ++j) {
      const double x = ItemOf(c, result.data[i], j);
      if (x < 0.0) return "a statistic is negative";
      if (i == 0 || i == 4) starts += x;
    }
  }
  const double epsilon = c.call.precision == Precision::kFloat32 ? 1e-4 : 1e-10;
  if (total < 1e-30 || !(std::fabs(starts - total) > epsilon * total)) {
    return "";
  }
  return "the paths' starts do not add up to the weights";
}

std::string CheckParts(const CallCase& c, const Result& result) {
  Dims batch = c.adjoint ? c.inputs.back().dims : result.dims[0];
  batch.pop_back();
  const int64_t count = NumItems(batch);
  if (count <= 0) return "";
  const Dims index = BatchIndexOf(batch, c.pick % static_cast<size_t>(count));
  const CallCase element = ElementOf(c, index);
  const Result part = Run(element);
  std::string failure = CheckElement(c, index, batch, result, part);
  if (!failure.empty()) return failure;
  failure = CheckAgainstStatus(element, part);
  if (failure.empty()) failure = CheckWanted(element, part);
  if (failure.empty() && c.statistics) {
    failure = CheckStatistics(element, part);
  }
  if (!failure.empty()) return failure;
  const size_t num_times = element.inputs[4].values.size();
  return CheckTime(element, (c.pick >> 8) % num_times, part);
}

std::string CheckCall(const CallCase& c) {
  const Result result = Run(c);
  // The outputs may be too large to allocate, even if all inputs are small.
  if (result.error == kTooLarge) return "";
  if (c.well_formed && !result.error.empty()) {
    return "a well-formed call was refused: " + result.error;
  }
  if (result.error.rfind("taken, ", 0) == 0) return result.error;
  if (!result.error.empty()) return "";
  std::string failure = CheckRepeat(c, result);
  if (!failure.empty()) return failure;
  if (c.pick % 16 == 0 && RunWithWrongOutputs(c).empty()) {
    return "outputs of a wrong shape were taken";
  }
  return CheckParts(c, result);
}

}  // namespace

std::string CheckBytes(const uint8_t* data, size_t size) {
  const CallCase c = DecodeCall(data, size);
  std::string failure = CheckCall(c);
  return failure.empty() ? failure : failure + "\n" + Describe(c);
}

}  // namespace fuzz
}  // namespace phasic
