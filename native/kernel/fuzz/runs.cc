#include "native/kernel/fuzz/runs.h"

#include <algorithm>
#include <cstring>

#if defined(__SSE2__) || defined(__aarch64__)
#include "native/kernel/simd/float_registers.h"
#endif

namespace phasic {
namespace fuzz {
namespace {

using Bytes = std::vector<unsigned char>;

Bytes Pack(const std::vector<double>& values, Precision precision) {
  if (precision == Precision::kFloat64) {
    Bytes data(values.size() * sizeof(double));
    if (!data.empty()) std::memcpy(data.data(), values.data(), data.size());
    return data;
  }
  Bytes data(values.size() * sizeof(float));
  for (size_t i = 0; i < values.size(); ++i) {
    const float item = static_cast<float>(values[i]);
    std::memcpy(data.data() + i * sizeof(float), &item, sizeof(float));
  }
  return data;
}

Bytes PackIndices(const std::vector<double>& values) {
  Bytes data(values.size() * sizeof(int32_t));
  for (size_t i = 0; i < values.size(); ++i) {
    const auto item = static_cast<int32_t>(values[i]);
    std::memcpy(data.data() + i * sizeof(item), &item, sizeof(item));
  }
  return data;
}

// The arrays of a call in the form that the kernel receives. Empty arrays have
// null pointers.
class Inputs {
 public:
  explicit Inputs(const CallCase& c) : call_(c.call) {
    for (const Array& array : c.inputs) {
      data_.push_back(Pack(array.values, c.call.precision));
      shapes_.push_back({array.dims.data(), array.rank});
      inputs_.push_back({data_.back().data(), shapes_.back()});
    }
    if (!c.kinds.empty()) {
      const Array& array = c.kinds[0];
      data_.push_back(PackIndices(array.values));
      kinds_ = {data_.back().data(), {array.dims.data(), array.rank}};
      call_.kinds = &kinds_;
    }
    if (c.edges.empty()) return;
    Input* const arrays[] = {&edges_.indices, &edges_.constants,
                             &edges_.coefficients};
    for (size_t i = 0; i < c.edges.size(); ++i) {
      const Array& array = c.edges[i];
      data_.push_back(i == 0 ? PackIndices(array.values)
                             : Pack(array.values, c.call.precision));
      *arrays[i] = {data_.back().data(), {array.dims.data(), array.rank}};
    }
    call_.edges = &edges_;
  }
  Inputs(const Inputs&) = delete;
  Inputs& operator=(const Inputs&) = delete;

  const phasic::Call& call() const { return call_; }
  const Input* inputs() const { return inputs_.data(); }
  const Shape* shapes() const { return shapes_.data(); }
  int32_t count() const { return static_cast<int32_t>(inputs_.size()); }

 private:
  phasic::Call call_;
  Edges edges_ = {};
  Input kinds_ = {};
  std::vector<Bytes> data_;
  std::vector<Shape> shapes_;
  std::vector<Input> inputs_;
};

// Computes the outputs' shapes with the kernel's functions; returns an error
// message, or "".
std::string InferShapes(const CallCase& c, const Inputs& inputs,
                        std::vector<std::vector<int64_t>>* dims) {
  const int32_t count = c.adjoint ? kNumOperands : 1;
  for (int32_t i = 0; i < count; ++i) {
    std::vector<int64_t> inferred(kMaxRank);
    int32_t rank = 0;
    const char* error =
        c.adjoint ? (c.statistics ? StatisticsShape : AdjointShape)(
                        inputs.call(), inputs.shapes(), inputs.count(), i,
                        inferred.data(), &rank)
                  : ForwardShape(inputs.call(), inputs.shapes(), inputs.count(),
                                 inferred.data(), &rank);
    if (error != nullptr) return error;
    inferred.resize(static_cast<size_t>(rank));
    dims->push_back(std::vector<int64_t>(inferred));
  }
  return "";
}

// FloatMode returns the processor's modes of rounding and of flushing, without
// its flags; SetFloatMode sets them.
#if defined(__SSE2__) || defined(__aarch64__)
using FloatBits = generic::FloatRegisters::Bits;
FloatBits FloatMode() { return generic::FloatRegisters::Modes(); }
void SetFloatMode(FloatBits mode) { generic::FloatRegisters::SetModes(mode); }
constexpr FloatBits kFlush = generic::FloatRegisters::kFlush;
#else
using FloatBits = unsigned;
FloatBits FloatMode() { return 0; }
void SetFloatMode(FloatBits) {}
constexpr FloatBits kFlush = 0;
#endif

const char* Call(const CallCase& c, const Inputs& inputs,
                 const std::vector<Output>& outputs,
                 Caller caller = Caller::kPlain) {
  const FloatBits plain = FloatMode();
  const FloatBits mode = caller == Caller::kFlushing ? plain | kFlush : plain;
  SetFloatMode(mode);
  const char* error =
      c.adjoint
          ? (c.statistics ? Statistics : Adjoint)(
                inputs.call(), inputs.inputs(), inputs.count(), outputs.data(),
                c.num_outputs, OwnThreads())
          : Forward(inputs.call(), inputs.inputs(), inputs.count(), outputs[0]);
  const bool restored = FloatMode() == mode;
  SetFloatMode(plain);
  return restored ? error : "the caller's float mode was changed";
}

std::vector<Output> Allocate(Result* result, size_t item_size,
                             Caller caller = Caller::kPlain) {
  std::vector<Output> outputs;
  outputs.reserve(result->dims.size());
  for (const std::vector<int64_t>& dims : result->dims) {
    const auto count =
        static_cast<size_t>(std::max<int64_t>(NumItems(dims), 0));
    result->data.emplace_back(count * item_size,
                              static_cast<unsigned char>(caller));
  }
  for (size_t i = 0; i < result->dims.size(); ++i) {
    outputs.push_back({result->data[i].data(),
                       {result->dims[i].data(),
                        static_cast<int32_t>(result->dims[i].size())}});
  }
  return outputs;
}

// Replaces the outputs by arrays of one item each. There are enough of them for
// any number of outputs that a call may claim to have.
void UseSingleItems(Result* result) {
  result->dims.assign(2 * kNumOperands, {1});
  result->data.clear();
}

}  // namespace

Result Run(const CallCase& c, Caller caller) {
  const Inputs inputs(c);
  Result result;
  const std::string refused = InferShapes(c, inputs, &result.dims);
  bool fits = c.fits_memory;
  for (const auto& dims : result.dims) fits &= NumItems(dims) >= 0;
  if (!refused.empty()) UseSingleItems(&result);
  if (!fits) {
    result.error = refused.empty() ? kTooLarge : refused;
    return result;
  }
  if (c.adjoint && c.num_outputs != kNumOperands) {
    result.dims.resize(2 * kNumOperands, {1});
  }
  const std::vector<Output> outputs = Allocate(&result, ItemSize(c), caller);
  const char* error = Call(c, inputs, outputs, caller);
  if (error != nullptr) result.error = error;
  if (!refused.empty() && error == nullptr) {
    result.error = "taken, although shape inference said: " + refused;
    result.data.clear();
  }
  return result;
}

Result RunStatus(const CallCase& c) {
  CallCase operands = c;
  operands.adjoint = operands.statistics = false;
  operands.call.order = 0;
  operands.inputs.resize(kNumOperands);
  const Inputs inputs(operands);
  Result result;
  result.error = InferShapes(operands, inputs, &result.dims);
  if (!result.error.empty()) return result;
  const std::vector<Output> outputs = Allocate(&result, sizeof(int32_t));
  const char* error =
      Status(inputs.call(), inputs.inputs(), inputs.count(), outputs[0]);
  if (error != nullptr) result.error = error;
  return result;
}

std::string RunWithWrongOutputs(const CallCase& c) {
  const Inputs inputs(c);
  Result result;
  std::string refused = InferShapes(c, inputs, &result.dims);
  if (!refused.empty()) return refused;
  ++result.dims.back().back();
  const std::vector<Output> outputs = Allocate(&result, ItemSize(c));
  const char* error = Call(c, inputs, outputs);
  return error == nullptr ? "" : error;
}

double ItemOf(const CallCase& c, const Bytes& data, size_t index) {
  if (c.call.precision == Precision::kFloat32) {
    float item;
    std::memcpy(&item, data.data() + index * sizeof(item), sizeof(item));
    return item;
  }
  double item;
  std::memcpy(&item, data.data() + index * sizeof(item), sizeof(item));
  return item;
}

int32_t CodeOf(const Bytes& data, size_t index) {
  int32_t code;
  std::memcpy(&code, data.data() + index * sizeof(code), sizeof(code));
  return code;
}

}  // namespace fuzz
}  // namespace phasic
