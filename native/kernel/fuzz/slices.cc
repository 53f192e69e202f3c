#include "native/kernel/fuzz/slices.h"

namespace phasic {
namespace fuzz {

std::vector<int64_t> BatchIndexOf(const std::vector<int64_t>& batch,
                                  size_t place) {
  std::vector<int64_t> index(batch.size());
  for (size_t axis = batch.size(); axis-- > 0;) {
    const auto size = static_cast<size_t>(batch[axis]);
    index[axis] = static_cast<int64_t>(place % size);
    place /= size;
  }
  return index;
}

size_t PlaceOf(const std::vector<int64_t>& dims,
               const std::vector<int64_t>& index) {
  int64_t place = 0;
  for (size_t axis = 0; axis < index.size(); ++axis) {
    place = place * dims[axis] + (dims[axis] == 1 ? 0 : index[axis]);
  }
  return static_cast<size_t>(place);
}

CallCase ElementOf(const CallCase& c, const std::vector<int64_t>& index) {
  CallCase element = c;
  element.call.mapped_dims = 0;
  const auto rank = static_cast<int64_t>(index.size());
  for (Array* array : Arrays(&element)) {
    const size_t place = PlaceOf(array->dims, index);
    array->dims.erase(array->dims.begin(), array->dims.begin() + rank);
    array->rank = static_cast<int32_t>(array->dims.size());
    const auto count = static_cast<size_t>(NumItems(array->dims));
    const auto first = static_cast<int64_t>(place * count);
    array->values = std::vector<double>(
        array->values.begin() + first,
        array->values.begin() + first + static_cast<int64_t>(count));
  }
  return element;
}

// Returns whether the call evaluates only one time. A second time of kind
// kNothing does not count.
static bool HasOneTime(const CallCase& c) {
  const size_t size = c.inputs[4].values.size();
  return size == 1 || (size == 2 && (KindOf(c, 0) == Kind::kNothing ||
                                     KindOf(c, 1) == Kind::kNothing));
}

CallCase TimeOf(const CallCase& c, size_t* time, size_t* num_times) {
  CallCase result = c;
  const auto is_interval = [&](size_t i) {
    return i + 1 < c.inputs[4].values.size() &&
           KindOf(c, i) == Kind::kLogInterval &&
           KindOf(c, i + 1) == Kind::kNothing;
  };
  if (*time > 0 && is_interval(*time - 1)) --*time;
  const int64_t count = is_interval(*time) ? 2 : 1;
  *num_times = static_cast<size_t>(count);
  // With only one time, the kernel may compute derivatives of small models by
  // another method. Three copies of the time avoid that method.
  const int64_t copies = c.call.order > 0 && !HasOneTime(c) ? 3 : 1;
  const auto shorten = [&](Array* array) {
    const auto first = array->values.begin() + static_cast<int64_t>(*time);
    const std::vector<double> part(first, first + count);
    array->values.clear();
    for (int64_t copy = 0; copy < copies; ++copy) {
      array->values.insert(array->values.end(), part.begin(), part.end());
    }
    array->dims = {copies * count};
  };
  if (!result.kinds.empty()) shorten(result.kinds.data());
  for (size_t i = 0; i < result.inputs.size(); ++i) {
    const bool by_time = i % kNumOperands == 4 || i == NumArrays(c);
    if (by_time) shorten(&result.inputs[i]);
  }
  return result;
}

}  // namespace fuzz
}  // namespace phasic
