#include "native/kernel/api/shapes.h"

#include <cstdarg>
#include <cstdio>

namespace phasic {
namespace {

const char* const kNames[kNumOperands] = {"initial_probs", "subgenerator",
                                          "exit_rates", "prob_zero", "times"};

constexpr int64_t kMaxPhases = INT32_MAX / 2;
constexpr int64_t kMaxElements = int64_t{1} << 58;

bool MultiplyWithin(int64_t* product, int64_t factor, int64_t limit) {
  int64_t result;
  if (__builtin_mul_overflow(*product, factor, &result) || result > limit) {
    return false;
  }
  *product = result;
  return true;
}

const char* MergeEdges(const Edges& edges, Layout* layout) {
  const Shape shapes[] = {edges.indices.shape, edges.constants.shape,
                          edges.coefficients.shape};
  constexpr int32_t kEventRanks[] = {2, 1, 2};
  for (int32_t i = 0; i < kNumEdgeArrays; ++i) {
    if (shapes[i].rank != layout->batch_rank + kEventRanks[i]) {
      return Message("edges: rank %d, must be %d", shapes[i].rank,
                     layout->batch_rank + kEventRanks[i]);
    }
    const char* error =
        MergeBatch(shapes[i], layout->batch_rank, "edges", layout->batch);
    if (error != nullptr) return error;
  }
  return nullptr;
}

const char* MergeKinds(const Shape& shape, Layout* layout) {
  if (shape.rank != layout->batch_rank + 1) {
    return Message("kinds: rank %d, must be %d", shape.rank,
                   layout->batch_rank + 1);
  }
  return MergeBatch(shape, layout->batch_rank, "kinds", layout->batch);
}

const char* CheckSubgenerator(const Shape& s, Layout* layout) {
  const int32_t r = layout->batch_rank;
  const int64_t p = layout->num_phases;
  if (s.dims[r] == p && s.dims[r + 1] == p) return nullptr;
  return Message(
      "subgenerator: shape [..., %lld, %lld] does not fit %lld "
      "phases of initial_probs",
      static_cast<long long>(s.dims[r]), static_cast<long long>(s.dims[r + 1]),
      static_cast<long long>(p));
}

const char* CheckEdges(const Edges& edges, const Shape& theta, Layout* layout) {
  const int32_t r = layout->batch_rank;
  const int64_t* indices = edges.indices.shape.dims + r;
  const int64_t m = indices[1];
  const int64_t constants = edges.constants.shape.dims[r];
  const int64_t* coefficients = edges.coefficients.shape.dims + r;
  if (indices[0] != 2 || m > INT32_MAX) {
    return Message("edges: indices must be [..., 2, m] with m < 2^31");
  }
  if (constants != 0 && constants != m) {
    return Message("edges: %lld constants do not fit %lld edges",
                   static_cast<long long>(constants),
                   static_cast<long long>(m));
  }
  if (coefficients[0] != m) {
    return Message("edges: coefficients of %lld edges do not fit %lld edges",
                   static_cast<long long>(coefficients[0]),
                   static_cast<long long>(m));
  }
  const int64_t d = coefficients[1] != 0 ? coefficients[1] : m;
  if (theta.dims[r] != d) {
    return Message("rates: %lld numbers where the edges want %lld",
                   static_cast<long long>(theta.dims[r]),
                   static_cast<long long>(d));
  }
  layout->num_edges = m;
  layout->num_parameters = d;
  layout->has_constants = constants != 0;
  layout->has_coefficients = coefficients[1] != 0;
  return nullptr;
}

const char* CheckEvents(const Call& call, const Shape* inputs, Layout* layout) {
  const int32_t r = layout->batch_rank;
  const int64_t p = inputs[kInitialProbs].dims[r];
  const int64_t n = inputs[kTimes].dims[r];
  if (p < 1 || p > kMaxPhases) {
    return Message(
        "initial_probs: the number of phases is %lld, must be 1 to "
        "%lld",
        static_cast<long long>(p), static_cast<long long>(kMaxPhases));
  }
  layout->num_phases = p;
  layout->num_times = n;
  if (layout->has_kinds && call.kinds->shape.dims[r] != n) {
    return Message("kinds: %lld entries do not fit %lld times",
                   static_cast<long long>(call.kinds->shape.dims[r]),
                   static_cast<long long>(n));
  }
  const char* error =
      layout->has_edges ? CheckEdges(*call.edges, inputs[kSubgenerator], layout)
                        : CheckSubgenerator(inputs[kSubgenerator], layout);
  if (error != nullptr) return error;
  const int64_t exits = inputs[kExitRates].dims[r];
  if (exits != 0 && exits != p) {
    return Message(
        "exit_rates: %lld entries do not fit %lld phases of "
        "initial_probs",
        static_cast<long long>(exits), static_cast<long long>(p));
  }
  const int64_t atom = inputs[kProbZero].dims[r];
  if (atom != 0 && atom != 1) {
    return Message("prob_zero: %lld entries, must be 0 or 1",
                   static_cast<long long>(atom));
  }
  layout->has_exit_rates = exits != 0;
  layout->has_prob_zero = atom != 0;
  const bool is_density = call.kind == static_cast<int32_t>(Kind::kDensity) ||
                          call.kind == static_cast<int32_t>(Kind::kLogDensity);
  if (layout->has_edges && layout->has_exit_rates &&
      (!is_density || layout->has_kinds)) {
    return "exit_rates: in a model with edges these are weights of phases, "
           "which only densities have; pass an empty array";
  }
  return nullptr;
}

const char* CheckTangent(const Call& call, const Layout& layout,
                         const Shape& shape, const Shape& operand,
                         int32_t index) {
  for (int32_t axis = 0; axis < shape.rank; ++axis) {
    const int64_t expected =
        axis < call.mapped_dims ? layout.batch[axis] : operand.dims[axis];
    if (shape.dims[axis] != expected) {
      return Message("tangent of %s: dimension %d has size %lld, must be %lld",
                     kNames[index], axis,
                     static_cast<long long>(shape.dims[axis]),
                     static_cast<long long>(expected));
    }
  }
  return nullptr;
}

const char* CheckCotangent(const Layout& layout, const Shape& shape) {
  const int32_t r = layout.batch_rank;
  bool fits = shape.rank == r + 1 && shape.dims[r] == layout.num_times;
  for (int32_t axis = 0; fits && axis < r; ++axis) {
    fits = shape.dims[axis] == layout.batch[axis];
  }
  return fits ? nullptr : "cotangent: must have the shape of the value";
}

}  // namespace

const char* MergeBatch(const Shape& shape, int32_t rank, const char* name,
                       int64_t* batch) {
  for (int32_t axis = 0; axis < rank; ++axis) {
    const int64_t size = shape.dims[axis];
    if (size < 0) {
      return Message("%s: dimension %d is negative", name, axis);
    }
    int64_t& full = batch[axis];
    if (size == 1 || size == full) continue;
    if (full != 1) {
      return Message(
          "%s: batch dimension %d has size %lld, which does not broadcast "
          "with %lld",
          name, axis, static_cast<long long>(size),
          static_cast<long long>(full));
    }
    full = size;
  }
  return nullptr;
}

const char* Message(const char* format, ...) {
  thread_local char buffer[256];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(buffer, sizeof(buffer), format, arguments);
  va_end(arguments);
  return buffer;
}

int64_t StatisticSize(const Layout& layout, int32_t statistic) {
  switch (statistic) {
    case kJumps:
      return layout.has_edges ? layout.num_edges
                              : layout.num_phases * layout.num_phases;
    case kAtom:
      return 1;
    default:
      return layout.num_phases;
  }
}

const char* CheckLayout(const Call& call, const Shape* inputs,
                        int32_t num_inputs, bool has_cotangent,
                        Layout* layout) {
  if (call.kind < 0 || call.kind >= kNumKinds) {
    return Message("kind: %d is not one of 0 to %d", call.kind, kNumKinds - 1);
  }
  const int32_t min_order = has_cotangent ? 1 : 0;
  if (call.order < min_order || call.order > kMaxOrder) {
    return Message("order: derivatives exist for orders %d to %d, not %d",
                   min_order, kMaxOrder, call.order);
  }
  if (call.wanted < 0 || call.wanted > kAllOperands) {
    return Message("wanted: %d is not a set of operands, 0 to %d", call.wanted,
                   kAllOperands);
  }
  const int32_t groups = has_cotangent ? call.order : call.order + 1;
  const int32_t expected = kNumOperands * groups + (has_cotangent ? 1 : 0);
  if (num_inputs != expected) {
    return Message("inputs: expected %d arrays, got %d", expected, num_inputs);
  }
  const int32_t rank = inputs[kInitialProbs].rank;
  if (rank < 1 || rank >= kMaxRank) {
    return Message("initial_probs: rank %d is not supported", rank);
  }
  const int32_t r = rank - 1;
  if (call.mapped_dims < 0 || call.mapped_dims > r) {
    return Message("mapped_dims: %d is not within the %d batch dimensions",
                   call.mapped_dims, r);
  }
  layout->batch_rank = r;
  for (int32_t axis = 0; axis < r; ++axis) layout->batch[axis] = 1;
  for (int32_t i = 0, operand = 0; i < kNumOperands * groups;
       ++i, operand = operand + 1 < kNumOperands ? operand + 1 : 0) {
    if (inputs[i].rank != r + EventRank(call, operand)) {
      return Message("%s: rank %d, must be %d", kNames[operand], inputs[i].rank,
                     r + EventRank(call, operand));
    }
    const char* error =
        MergeBatch(inputs[i], r, kNames[operand], layout->batch);
    if (error != nullptr) return error;
  }
  const char* error = nullptr;
  layout->has_edges = call.edges != nullptr;
  if (layout->has_edges) error = MergeEdges(*call.edges, layout);
  layout->has_kinds = call.kinds != nullptr;
  if (error == nullptr && layout->has_kinds) {
    error = MergeKinds(call.kinds->shape, layout);
  }
  if (error != nullptr) return error;
  if (has_cotangent && inputs[num_inputs - 1].rank == r + 1) {
    // A mapped dimension may have size one in all operands and a larger size in
    // the cotangent, as when JAX maps a vjp function over its cotangents.
    error = MergeBatch(inputs[num_inputs - 1], call.mapped_dims, "cotangent",
                       layout->batch);
    if (error != nullptr) return error;
  }
  error = CheckEvents(call, inputs, layout);
  for (int32_t i = kNumOperands; !error && i < kNumOperands * groups; ++i) {
    error = CheckTangent(call, *layout, inputs[i], inputs[i % kNumOperands],
                         i % kNumOperands);
  }
  if (error == nullptr && has_cotangent) {
    error = CheckCotangent(*layout, inputs[num_inputs - 1]);
  }
  if (error != nullptr) return error;
  layout->batch_size = 1;
  for (int32_t axis = 0; axis < r; ++axis) {
    if (!MultiplyWithin(&layout->batch_size, layout->batch[axis],
                        kMaxElements)) {
      return "batch: the number of elements is too large";
    }
  }
  int64_t total = layout->batch_size > 0 ? layout->batch_size : 1;
  if (!MultiplyWithin(&total, layout->num_times, kMaxElements)) {
    return "times: the number of elements is too large";
  }
  return nullptr;
}

void BatchStrides(int32_t rank, const Shape& shape, int64_t event_size,
                  int64_t* strides) {
  int64_t stride = event_size;
  for (int32_t axis = rank - 1; axis >= 0; --axis) {
    strides[axis] = shape.dims[axis] == 1 ? 0 : stride;
    stride *= shape.dims[axis];
  }
}

}  // namespace phasic
