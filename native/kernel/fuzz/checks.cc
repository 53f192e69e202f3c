#include "native/kernel/fuzz/checks.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "native/kernel/fuzz/call_case.h"
#include "native/kernel/fuzz/describe.h"
#include "native/kernel/fuzz/runs.h"
#include "native/kernel/fuzz/slices.h"
#include "native/kernel/fuzz/truths.h"

namespace phasic {
namespace fuzz {
namespace {

using Dims = std::vector<int64_t>;

constexpr double kSmallest = std::numeric_limits<double>::min();

bool IsLogKind(const CallCase& c) { return c.call.kind % 2 == 0; }
bool IsDensity(const CallCase& c) { return c.call.kind < 2; }

std::string CheckRepeat(const CallCase& c, const Result& result) {
  const Result again = Run(c, Caller::kFlushing);
  if (!again.error.empty()) return "a second call: " + again.error;
  if (again.data != result.data) return "bits differ on a second call";
  return "";
}

std::string CheckValue(const CallCase& c, double value, double time) {
  if (!IsLogKind(c) && value < 0.0) return "a value is negative";
  if (!IsDensity(c)) {
    const double largest = LargestProbability(c);
    if (value > (IsLogKind(c) ? std::log(largest) : largest)) {
      return "a probability is above one";
    }
  }
  if (IsLogKind(c) && KnowsZeros(c) &&
      (value == -HUGE_VAL) != IsStructurallyZero(c, time)) {
    return value == -HUGE_VAL ? "-inf where the truth is not zero"
                              : "not -inf where the truth is zero";
  }
  return "";
}

// Values and status of order 0, derivatives against status, of a call without
// batch dimensions.
std::string CheckAgainstStatus(const CallCase& c, const Result& result) {
  const Result status = RunStatus(c);
  if (!status.error.empty()) return "status refused: " + status.error;
  const std::vector<double>& times = c.inputs[4].values;
  for (size_t i = 0; i < times.size(); ++i) {
    const int32_t code = CodeOf(status.data[0], i);
    if (std::strcmp(StatusMessage(code), "unknown status code") == 0) {
      return "a status code without a message";
    }
    // The adjoint's entry for this time; cotangents of zero ask for nothing,
    // and sweeps flush denormals to zero.
    const double value = ItemOf(c, result.data[c.adjoint ? 4 : 0], i);
    if (c.adjoint && !(std::fabs(c.inputs.back().values[i]) >= kSmallest)) {
      continue;
    }
    const bool is_value = !c.adjoint && c.call.order == 0;
    if (code != 0 && !std::isnan(value)) {
      return std::string("not NaN, although: ") + StatusMessage(code);
    }
    if (!is_value || code != 0) continue;
    if (std::isnan(value)) return "NaN without a reason";
    std::string failure = CheckValue(c, value, times[i]);
    if (!failure.empty()) return failure;
  }
  return "";
}

// Whether `part` is what `whole` has at this place.
bool IsPart(const std::vector<unsigned char>& whole, size_t place,
            const std::vector<unsigned char>& part) {
  return part.empty() || std::memcmp(whole.data() + place * part.size(),
                                     part.data(), part.size()) == 0;
}

// One element of the batch alone has the bits that it has in company.
std::string CheckElement(const Dims& index, const Dims& batch,
                         const Result& whole, const Result& part) {
  if (!part.error.empty()) return "refused without the batch: " + part.error;
  for (size_t i = 0; i < part.data.size(); ++i) {
    // Not where sums over the batch were asked for.
    bool has_sum = false;
    for (size_t axis = 0; axis < batch.size(); ++axis) {
      has_sum |= whole.dims[i][axis] != batch[axis];
    }
    if (has_sum) continue;
    if (!IsPart(whole.data[i], PlaceOf(whole.dims[i], index), part.data[i])) {
      return "bits depend on the rest of the batch";
    }
  }
  return "";
}

std::string CheckTime(const CallCase& c, size_t time, const Result& whole) {
  const Result part = Run(TimeOf(c, time));
  if (!part.error.empty()) return "refused with one time: " + part.error;
  const size_t output = c.adjoint ? 4 : 0;
  return IsPart(whole.data[output], time, part.data[output])
             ? ""
             : "bits depend on the other times";
}

std::string CheckParts(const CallCase& c, const Result& result) {
  Dims batch = c.adjoint ? c.inputs.back().dims : result.dims[0];
  batch.pop_back();
  const int64_t count = NumItems(batch);
  if (count <= 0) return "";
  const Dims index = BatchIndexOf(batch, c.pick % static_cast<size_t>(count));
  const CallCase element = ElementOf(c, index);
  const Result part = Run(element);
  std::string failure = CheckElement(index, batch, result, part);
  if (!failure.empty()) return failure;
  failure = CheckAgainstStatus(element, part);
  if (!failure.empty()) return failure;
  const size_t num_times = element.inputs[4].values.size();
  return CheckTime(element, (c.pick >> 8) % num_times, part);
}

std::string CheckCall(const CallCase& c) {
  const Result result = Run(c);
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
