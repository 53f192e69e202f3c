#include "native/kernel/fuzz/call_case.h"

#include <algorithm>
#include <cmath>

#include "native/kernel/fuzz/byte_source.h"
#include "native/kernel/fuzz/values.h"
#include "native/kernel/fuzz/work.h"

namespace phasic {
namespace fuzz {
namespace {

using Dims = std::vector<int64_t>;

// The sizes of a call before dimensions are broadcast or made invalid.
struct Sizes {
  Dims batch;  // full
  int64_t num_phases = 1;
  int64_t num_times = 1;
  bool has_exit_rates = false;
  bool has_prob_zero = false;
  bool has_edges = false;
  int64_t num_edges = 0;
  bool has_constants = false;
  int64_t num_coefficients = 0;  // of each edge
};

void DecodeEdgeSizes(ByteSource* bytes, Sizes* sizes) {
  const auto most = static_cast<int32_t>(3 * sizes->num_phases + 3);
  sizes->num_edges = bytes->Below(std::min<int32_t>(most, 256));
  sizes->has_constants = bytes->Flag();
  sizes->num_coefficients = bytes->Below(5);
  sizes->has_exit_rates = false;
}

Sizes DecodeSizes(bool has_edges, ByteSource* bytes) {
  Sizes sizes;
  sizes.has_edges = has_edges;
  constexpr int32_t kRanks[] = {0, 0, 1, 1, 2, 3};
  int32_t rank = kRanks[bytes->Below(6)];
  if (bytes->OneIn(64)) rank = bytes->Below(kMaxRank - 1);
  for (int32_t axis = 0; axis < rank; ++axis) {
    sizes.batch.push_back(axis < 3 ? 1 + bytes->Below(3) : 1);
  }
  if (rank > 0 && bytes->OneIn(64)) sizes.batch[bytes->Below(rank)] = 0;
  sizes.num_phases = 1 + bytes->Below(bytes->OneIn(16) ? 96 : 10);
  sizes.num_times = 1 + bytes->Below(bytes->OneIn(16) ? 48 : 4);
  sizes.has_exit_rates = bytes->Flag();
  sizes.has_prob_zero = bytes->Flag();
  if (has_edges) DecodeEdgeSizes(bytes, &sizes);
  return sizes;
}

Dims EventDims(const Sizes& sizes, size_t operand) {
  const int64_t p = sizes.num_phases;
  switch (operand) {
    case 1:
      if (!sizes.has_edges) return {p, p};
      if (sizes.num_coefficients == 0) return {sizes.num_edges};
      return {sizes.num_coefficients};
    case 2:
      return {sizes.has_exit_rates ? p : 0};
    case 3:
      return {sizes.has_prob_zero ? 1 : 0};
    case 4:
      return {sizes.num_times};
    default:
      return {p};
  }
}

Dims EdgeDims(const Sizes& sizes, size_t array) {
  const int64_t m = sizes.num_edges;
  switch (array) {
    case 0:
      return {2, m};
    case 1:
      return {sizes.has_constants ? m : 0};
    default:
      return {m, sizes.num_coefficients};
  }
}

void AddArray(Dims batch, const Dims& event, std::vector<Array>* arrays) {
  batch.insert(batch.end(), event.begin(), event.end());
  Array array;
  array.rank = static_cast<int32_t>(batch.size());
  array.dims = std::move(batch);
  arrays->push_back(std::move(array));
}

// Returns the batch dimensions of one array: those of `full`, some of which are
// set to one (broadcast). Updates `merged`, the batch dimensions to which all
// arrays so far broadcast.
Dims DecodeBroadcast(const Dims& full, ByteSource* bytes, Dims* merged) {
  Dims batch = full;
  const uint8_t broadcast = full.empty() ? 0 : bytes->Byte();
  for (size_t axis = 0; axis < full.size(); ++axis) {
    if (axis < 8 && (broadcast >> axis) % 2 == 1) batch[axis] = 1;
    if (batch[axis] != 1) (*merged)[axis] = batch[axis];
  }
  return batch;
}

// Adds the arrays of the call: the operands, the edges and the kinds of times,
// then the tangents and the cotangent that the call's order needs. Returns the
// batch dimensions to which these arrays broadcast.
Dims AddInputs(const Sizes& sizes, bool has_kinds, ByteSource* bytes,
               CallCase* c) {
  const size_t rank = sizes.batch.size();
  const int32_t groups = c->call.order - (c->adjoint ? 1 : 0);
  Dims merged(rank, 1);
  for (size_t operand = 0; operand < kNumOperands; ++operand) {
    AddArray(DecodeBroadcast(sizes.batch, bytes, &merged),
             EventDims(sizes, operand), &c->inputs);
  }
  for (size_t i = 0; sizes.has_edges && i < kNumEdgeArrays; ++i) {
    AddArray(DecodeBroadcast(sizes.batch, bytes, &merged), EdgeDims(sizes, i),
             &c->edges);
  }
  if (has_kinds) {
    AddArray(DecodeBroadcast(sizes.batch, bytes, &merged), {sizes.num_times},
             &c->kinds);
  }
  const size_t mapped = static_cast<size_t>(c->call.mapped_dims);
  const bool maps_others = groups > 0 || c->adjoint;
  for (size_t axis = 0; maps_others && axis < mapped; ++axis) {
    merged[axis] = sizes.batch[axis];
  }
  for (int32_t group = 0; group < groups; ++group) {
    for (size_t operand = 0; operand < kNumOperands; ++operand) {
      Dims batch(c->inputs[operand].dims.begin(),
                 c->inputs[operand].dims.begin() + static_cast<int64_t>(rank));
      std::copy_n(merged.begin(), mapped, batch.begin());
      AddArray(batch, EventDims(sizes, operand), &c->inputs);
    }
  }
  if (c->adjoint) AddArray(merged, {sizes.num_times}, &c->inputs);
  return merged;
}

// Returns an integer that a caller might pass by mistake or in an attack, as a
// dimension or another argument.
int64_t WrongSize(ByteSource* bytes) {
  constexpr int64_t kSizes[] = {
      0,         1,         2,         3,         7,        -1,
      INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, 1 << 16,  int64_t{1} << 31,
      1LL << 32, 1LL << 58, 1LL << 61, 1LL << 62, 10000000, 65};
  return kSizes[bytes->Below(18)];
}

// Makes one argument of the call invalid: its kind, order or mapped_dims, a
// number of arrays, or a rank or dimension.
void Malform(ByteSource* bytes, CallCase* c) {
  c->well_formed = false;
  const std::vector<Array*> arrays = Arrays(c);
  Array& array = *arrays[static_cast<size_t>(bytes->Byte()) % arrays.size()];
  const auto wrong = static_cast<int32_t>(WrongSize(bytes));
  switch (bytes->Below(8)) {
    case 0:
      if (c->call.wanted != kAllOperands) {
        c->call.wanted = wrong;
      } else {
        c->call.kind = wrong;
      }
      break;
    case 1:
      c->call.order = wrong;
      break;
    case 2:
      c->call.mapped_dims = wrong;
      break;
    case 3:
      c->inputs.resize(static_cast<size_t>(bytes->Below(24)));
      break;
    case 4:
      array.rank = wrong;
      array.dims.assign(static_cast<size_t>(std::clamp(wrong, 0, 32)), 1);
      break;
    case 5:
      c->num_outputs = bytes->Below(2 * kNumOperands);
      break;
    default:
      if (array.dims.empty()) break;
      array.dims[static_cast<size_t>(bytes->Byte()) % array.dims.size()] =
          WrongSize(bytes);
  }
}

// Rounds the values to the numbers that the kernel receives: indices and kinds
// to integers, other numbers to the precision of the call. The checks then use
// the same numbers as the kernel.
void Round(CallCase* c) {
  const Array* indices = c->edges.empty() ? nullptr : c->edges.data();
  const Array* kinds = c->kinds.empty() ? nullptr : c->kinds.data();
  for (Array* array : Arrays(c)) {
    for (double& value : array->values) {
      if (array == indices || array == kinds) {
        value =
            std::isnan(value)
                ? 0.0
                : std::trunc(std::clamp<double>(value, INT32_MIN, INT32_MAX));
      } else if (c->call.precision == Precision::kFloat32) {
        value = static_cast<float>(value);
      }
    }
  }
}

}  // namespace

int64_t NumItems(const Dims& dims) {
  int64_t count = 1;
  bool empty = false;
  for (const int64_t dim : dims) {
    if (dim < 0) return -1;
    empty |= dim == 0;
  }
  if (empty) return 0;
  for (const int64_t dim : dims) {
    if (dim > kMaxItems / count) return -1;
    count *= dim;
  }
  return count;
}

CallCase DecodeCall(const uint8_t* data, size_t size) {
  const size_t header_size = std::min(size, kHeaderBytes);
  ByteSource header(data, header_size);
  ByteSource bytes(data + header_size, size - header_size);
  CallCase c;
  c.adjoint = header.Flag();
  c.call.kind = header.Below(kNumKinds);
  c.call.order = header.Below(c.adjoint ? kMaxOrder : kMaxOrder + 1);
  if (c.adjoint) ++c.call.order;
  c.call.precision = header.Flag() ? Precision::kFloat32 : Precision::kFloat64;
  const bool has_edges = header.Flag();
  c.call.discrete = header.Flag();
  const bool has_kinds = header.Flag();
  c.statistics = header.Flag() && c.adjoint;
  c.call.wanted = kAllOperands - header.Below(kAllOperands + 1);
  const bool is_long = header.Flag();
  if (c.statistics) {
    c.call.order = 1;
    c.well_formed = !c.call.discrete;
  }
  const Sizes sizes = DecodeSizes(has_edges, &bytes);
  c.call.mapped_dims =
      bytes.Below(static_cast<int32_t>(sizes.batch.size()) + 1);
  const Dims batch = AddInputs(sizes, has_kinds, &bytes, &c);
  c.pick = static_cast<uint32_t>(bytes.Word());
  if (bytes.OneIn(8)) Malform(&bytes, &c);
  for (Array* array : Arrays(&c)) {
    const int64_t count = NumItems(array->dims);
    if (count < 0) c.fits_memory = c.well_formed = false;
    array->values.assign(static_cast<size_t>(std::max<int64_t>(count, 0)), 0.0);
  }
  if (!c.well_formed) return c;
  FillValues(&bytes, batch, is_long, &c);
  EditValues(&bytes, &c);
  Round(&c);
  LimitWork(batch, &c);
  return c;
}

}  // namespace fuzz
}  // namespace phasic
