// The Python module phasic._native._kernel: the kernel on NumPy arrays and, if
// built with JAX, the capsules that JAX registers as FFI targets.

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "native/kernel/api/phase_type.h"
#include "native/kernel/builds/instruction_sets.h"
#include "native/kernel/runtime/thread_pool.h"
#include "native/kernel/runtime/work_limit.h"
#include "native/python/arrays.h"
#include "native/python/callback_module.h"
#include "native/python/definitions.h"
#include "native/python/without_gil.h"
#include "native/quantiles/quantiles.h"
#if defined(PHASIC_HAVE_XLA)
#include "native/xla/targets.h"
#endif

namespace py = pybind11;

namespace phasic {
namespace {

// Holds the input arrays of a call, all of one floating type, and the kernel's
// views of them.
class Inputs {
 public:
  explicit Inputs(const py::list& arrays) {
    arrays_.reserve(arrays.size());
    for (const py::handle& item : arrays) {
      const Precision precision = PrecisionOf(item, "inputs");
      if (!arrays_.empty() && precision != precision_) {
        throw py::type_error("inputs: all dtypes must be the same");
      }
      precision_ = precision;
      arrays_.push_back(HeldArray::OfFloats(item, precision, "inputs"));
    }
    for (const HeldArray& array : arrays_) {
      inputs_.push_back(array.input());
      shapes_.push_back(array.shape());
    }
  }

  Precision precision() const { return precision_; }
  const Input* data() const { return inputs_.data(); }
  const Shape* shapes() const { return shapes_.data(); }
  int32_t size() const { return static_cast<int32_t>(inputs_.size()); }

 private:
  Precision precision_ = Precision::kFloat64;
  std::vector<HeldArray> arrays_;
  std::vector<Input> inputs_;
  std::vector<Shape> shapes_;
};

// Holds the arrays of a sparse model's edges, if there are any.
class EdgeArrays {
 public:
  explicit EdgeArrays(const py::object& arrays) {
    if (arrays.is_none()) return;
    const py::list list(arrays);
    if (list.size() != kNumEdgeArrays) {
      throw py::value_error("edges: there must be three arrays");
    }
    indices_.emplace(HeldArray::Of<int32_t>(list[0], "edges' indices"));
    py::list values;
    values.append(list[1]);
    values.append(list[2]);
    values_ = std::make_unique<Inputs>(values);
    edges_.indices = indices_->input();
    edges_.constants = values_->data()[0];
    edges_.coefficients = values_->data()[1];
  }

  const Edges* Get(Precision precision) const {
    if (values_ == nullptr) return nullptr;
    if (values_->precision() != precision) {
      throw py::type_error("edges: the dtype must be that of the inputs");
    }
    return &edges_;
  }

 private:
  std::optional<HeldArray> indices_;
  std::unique_ptr<Inputs> values_;
  Edges edges_ = {};
};

// Holds the int32 array with the kind of each time, if the call has one.
class KindArray {
 public:
  explicit KindArray(const py::object& array) {
    if (array.is_none()) return;
    array_.emplace(HeldArray::Of<int32_t>(array, "kinds"));
    input_ = array_->input();
  }

  const Input* Get() const { return array_ ? &input_ : nullptr; }

 private:
  std::optional<HeldArray> array_;
  Input input_ = {};
};

// A kernel call with the arrays that it reads, which it holds until the kernel
// has run.
class BoundCall {
 public:
  BoundCall(int32_t kind, int32_t order, const py::list& arrays,
            const py::object& edge_arrays, const py::object& kind_array,
            bool discrete, int32_t wanted = kAllOperands)
      : inputs_(arrays),
        edges_(edge_arrays),
        kinds_(kind_array),
        call_({kind, order, /*mapped_dims=*/0, inputs_.precision(),
               edges_.Get(inputs_.precision()), kinds_.Get(), discrete,
               wanted}) {}
  BoundCall(const BoundCall&) = delete;  // It has pointers to itself.
  BoundCall& operator=(const BoundCall&) = delete;

  const Call& call() const { return call_; }
  const Inputs& inputs() const { return inputs_; }

 private:
  Inputs inputs_;
  EdgeArrays edges_;
  KindArray kinds_;
  Call call_;
};

// Calls Forward or Status, and returns the result in a new array from
// make_array(dims, rank).
template <class Function, class MakeArray>
auto OneResult(const BoundCall& bound, const Function& function,
               const MakeArray& make_array) {
  const Inputs& inputs = bound.inputs();
  int64_t dims[kMaxRank];
  int32_t rank = 0;
  Check(
      ForwardShape(bound.call(), inputs.shapes(), inputs.size(), dims, &rank));
  auto result = make_array(dims, rank);
  const Output output = {result.mutable_data(), {dims, rank}};
  Check(WithoutGil([&] {
    return function(bound.call(), inputs.data(), inputs.size(), output,
                    OwnThreads());
  }));
  return result;
}

// Calls Adjoint, Statistics or Quantiles, and returns a list of `count` new
// arrays; the function `shape` computes the shape of each. One may have kinds
// of times instead of numbers.
template <class Function, class ShapeFunction>
py::list Results(const BoundCall& bound, const Function& function,
                 const ShapeFunction& shape, int32_t count,
                 int32_t index_of_kinds = -1) {
  const Inputs& inputs = bound.inputs();
  py::list results;
  std::vector<std::array<int64_t, kMaxRank>> dims(count);
  std::vector<Output> outputs;
  for (int32_t i = 0; i < count; ++i) {
    int32_t rank = 0;
    Check(shape(bound.call(), inputs.shapes(), inputs.size(), i, dims[i].data(),
                &rank));
    const Shape dims_of_result = {dims[i].data(), rank};
    py::array result = i == index_of_kinds
                           ? NewCodes(dims_of_result)
                           : NewArray(dims_of_result, inputs.precision());
    outputs.push_back({result.mutable_data(), {dims[i].data(), rank}});
    results.append(std::move(result));
  }
  Check(WithoutGil([&] {
    return function(bound.call(), inputs.data(), inputs.size(), outputs.data(),
                    count, OwnThreads());
  }));
  return results;
}

py::array ForwardArrays(int32_t kind, int32_t order, const py::list& arrays,
                        const py::object& edges, const py::object& kinds,
                        bool discrete) {
  const BoundCall bound(kind, order, arrays, edges, kinds, discrete);
  return OneResult(bound, Forward, [&](const int64_t* dims, int32_t rank) {
    return NewArray({dims, rank}, bound.inputs().precision());
  });
}

py::list AdjointArrays(int32_t kind, int32_t order, const py::list& arrays,
                       const py::object& edges, int32_t wanted,
                       const py::object& kinds, bool discrete) {
  const BoundCall bound(kind, order, arrays, edges, kinds, discrete, wanted);
  return Results(bound, Adjoint, AdjointShape, kNumOperands);
}

py::list StatisticsArrays(int32_t kind, const py::list& arrays,
                          const py::object& edges, const py::object& kinds) {
  const BoundCall bound(kind, 1, arrays, edges, kinds, false);
  return Results(bound, Statistics, StatisticsShape, kNumStatistics);
}

py::list QuantileArrays(int32_t form, const py::list& arrays,
                        const py::object& edges, bool discrete) {
  const BoundCall bound(form, 0, arrays, edges, py::none(), discrete);
  return Results(bound, Quantiles, QuantilesShape, kNumQuantileOutputs,
                 kQuantileKinds);
}

py::array StatusArray(int32_t kind, const py::list& arrays,
                      const py::object& edges, const py::object& kinds,
                      bool discrete) {
  const BoundCall bound(kind, 0, arrays, edges, kinds, discrete);
  return OneResult(bound, Status, [](const int64_t* dims, int32_t rank) {
    return NewCodes({dims, rank});
  });
}

void SetNumThreads(int64_t count) {
  if (count < 1 || count > kMaxThreadsLimit) {
    throw py::value_error("count is " + std::to_string(count) +
                          ": it must be from 1 to " +
                          std::to_string(kMaxThreadsLimit));
  }
  SetMaxThreads(static_cast<int>(count));
}

void SetWorkLimit(double multiply_adds) {
  if (!SetMaxWork(multiply_adds)) {
    throw py::value_error("multiply_adds is " + std::to_string(multiply_adds) +
                          ": it must be > 0");
  }
}

py::dict InstructionSetSupport() {
  py::dict supported;
  for (const InstructionSet& set : AllInstructionSets()) {
    supported[set.name] = set.is_supported;
  }
  return supported;
}

py::dict TargetCapsules() {
  py::dict targets;
#if defined(PHASIC_HAVE_XLA)
  for (const FfiTarget& target : FfiTargets()) {
    targets[target.name] = py::capsule(reinterpret_cast<void*>(target.handler));
  }
  AddCallbackTarget(&targets);
#endif
  return targets;
}

PYBIND11_MODULE(_kernel, module) {
  module.doc() = "The phase-type kernel on NumPy arrays.";
  module.def("forward", &ForwardArrays, py::arg("kind"), py::arg("order"),
             py::arg("inputs"), py::arg("edges") = py::none(),
             py::arg("kinds") = py::none(), py::arg("discrete") = false,
             "Computes the directional derivative D^k F(x)[v1, ..., vk] from "
             "five operands and k groups of five tangents.");
  module.def("adjoint", &AdjointArrays, py::arg("kind"), py::arg("order"),
             py::arg("inputs"), py::arg("edges") = py::none(),
             py::arg("wanted") = kAllOperands, py::arg("kinds") = py::none(),
             py::arg("discrete") = false,
             "Computes the cotangents (D^k F(x)[v1, ..., v_{k-1}, .])^T c of "
             "the operands whose bits are set in wanted, from five operands, "
             "k - 1 groups of tangents and a cotangent c.");
  module.def("statistics", &StatisticsArrays, py::arg("kind"),
             py::arg("inputs"), py::arg("edges") = py::none(),
             py::arg("kinds") = py::none(),
             "Computes the expected starts, sojourns, jumps, exits and zeros "
             "from five operands and a weight for each time.");
  module.def("quantiles", &QuantileArrays, py::arg("form"), py::arg("inputs"),
             py::arg("edges") = py::none(), py::arg("discrete") = false,
             "Computes quantiles of probabilities in the given form, which are "
             "the last of five operands; and the times and kinds with which "
             "derivatives of the quantiles are evaluated.");
  module.def("status", &StatusArray, py::arg("kind"), py::arg("inputs"),
             py::arg("edges") = py::none(), py::arg("kinds") = py::none(),
             py::arg("discrete") = false,
             "Returns the codes of the reasons for which values are NaN; the "
             "code is 0 if a value is not NaN.");
  module.def("status_message",
             [](int32_t code) { return std::string(StatusMessage(code)); });
  module.def("num_threads", &MaxThreads,
             "Returns the maximum number of threads of a call, including the "
             "calling thread.");
  module.def("set_num_threads", &SetNumThreads, py::arg("count"),
             "Sets the maximum number of threads of later calls.");
  module.def("max_work", &MaxWork,
             "Returns the most multiply-adds that one model may take.");
  module.def("set_max_work", &SetWorkLimit, py::arg("multiply_adds"),
             "Sets it for later calls; infinity is no limit.");
  module.def("instruction_sets", &InstructionSetSupport,
             "Returns a dict of the instruction sets that were built, from "
             "\"generic\" to the widest: True if the processor has the set.");
  module.def(
      "instruction_set", [] { return ChosenInstructionSet().name; },
      "Returns the name of the instruction set in use: the widest that the "
      "processor has, or the one that PHASIC_ISA specifies.");
  module.def("ffi_targets", &TargetCapsules,
             "Returns a dict of the XLA FFI targets by name.");
  DefineCallbacks(&module);
  for (const auto& define : Definitions()) define(&module);
}

}  // namespace

std::vector<Definition>& Definitions() {
  static std::vector<Definition> definitions;
  return definitions;
}

}  // namespace phasic
