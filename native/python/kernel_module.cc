// The Python module phasic._native._kernel: the kernel on NumPy arrays, and,
// where built with JAX, the capsules that JAX registers as FFI targets.

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "native/kernel/instruction_sets.h"
#include "native/kernel/phase_type.h"
#include "native/kernel/thread_pool.h"
#include "native/python/elimination_module.h"
#include "native/python/without_gil.h"
#if defined(PHASIC_HAVE_XLA)
#include "native/xla/targets.h"
#endif

namespace py = pybind11;

namespace phasic {
namespace {

// Arrays of one floating type, contiguous, and what the kernel sees of them.
class Inputs {
 public:
  explicit Inputs(const py::list& arrays) {
    for (const py::handle& item : arrays) {
      if (!py::isinstance<py::array>(item)) {
        throw py::type_error("inputs: every item must be a NumPy array");
      }
      const py::array array = py::reinterpret_borrow<py::array>(item);
      const bool is_float32 = py::isinstance<py::array_t<float>>(array);
      if (!is_float32 && !py::isinstance<py::array_t<double>>(array)) {
        throw py::type_error("inputs: the dtype must be float32 or float64");
      }
      if (!arrays_.empty() &&
          is_float32 != (precision_ == Precision::kFloat32)) {
        throw py::type_error("inputs: all dtypes must be the same");
      }
      precision_ = is_float32 ? Precision::kFloat32 : Precision::kFloat64;
      arrays_.push_back(
          is_float32
              ? py::array(py::array_t<float, py::array::c_style>::ensure(array))
              : py::array(
                    py::array_t<double, py::array::c_style>::ensure(array)));
      if (array.ndim() > kMaxRank) {
        throw py::value_error("inputs: too many dimensions");
      }
    }
    dims_.reserve(arrays_.size());
    for (const py::array& array : arrays_) {
      dims_.emplace_back(array.shape(), array.shape() + array.ndim());
      inputs_.push_back(
          {array.data(),
           {dims_.back().data(), static_cast<int32_t>(array.ndim())}});
      shapes_.push_back(inputs_.back().shape);
    }
  }

  Precision precision() const { return precision_; }
  const Input* data() const { return inputs_.data(); }
  const Shape* shapes() const { return shapes_.data(); }
  int32_t size() const { return static_cast<int32_t>(inputs_.size()); }

  py::array NewArray(const int64_t* dims, int32_t rank) const {
    const std::vector<py::ssize_t> shape(dims, dims + rank);
    if (precision_ == Precision::kFloat32) return py::array_t<float>(shape);
    return py::array_t<double>(shape);
  }

 private:
  Precision precision_ = Precision::kFloat64;
  std::vector<py::array> arrays_;
  std::vector<std::vector<int64_t>> dims_;
  std::vector<Input> inputs_;
  std::vector<Shape> shapes_;
};

// The arrays of a sparse model's edges, or none.
class EdgeArrays {
 public:
  explicit EdgeArrays(const py::object& arrays) {
    if (arrays.is_none()) return;
    const py::list list(arrays);
    if (list.size() != kNumEdgeArrays) {
      throw py::value_error("edges: there must be three arrays");
    }
    if (!py::isinstance<py::array_t<int32_t>>(list[0])) {
      throw py::type_error("edges: the indices must be int32");
    }
    indices_ = py::array_t<int32_t, py::array::c_style>::ensure(list[0]);
    if (indices_.ndim() > kMaxRank) {
      throw py::value_error("edges: too many dimensions");
    }
    dims_.assign(indices_.shape(), indices_.shape() + indices_.ndim());
    py::list values;
    values.append(list[1]);
    values.append(list[2]);
    values_ = std::make_unique<Inputs>(values);
    edges_.indices = {indices_.data(),
                      {dims_.data(), static_cast<int32_t>(indices_.ndim())}};
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
  py::array indices_;
  std::vector<int64_t> dims_;
  std::unique_ptr<Inputs> values_;
  Edges edges_ = {};
};

// An array of int32, contiguous, or none.
class KindArray {
 public:
  explicit KindArray(const py::object& array) {
    if (array.is_none()) return;
    if (!py::isinstance<py::array_t<int32_t>>(array)) {
      throw py::type_error("kinds: must be an array of int32");
    }
    array_ = py::array_t<int32_t, py::array::c_style>::ensure(array);
    if (array_.ndim() > kMaxRank) {
      throw py::value_error("kinds: too many dimensions");
    }
    dims_.assign(array_.shape(), array_.shape() + array_.ndim());
    input_ = {array_.data(),
              {dims_.data(), static_cast<int32_t>(array_.ndim())}};
    is_given_ = true;
  }

  const Input* Get() const { return is_given_ ? &input_ : nullptr; }

 private:
  py::array array_;
  std::vector<int64_t> dims_;
  Input input_ = {};
  bool is_given_ = false;
};

void Check(const char* error) {
  if (error != nullptr) throw py::value_error(error);
}

// A call and the arrays that it reads, held until the kernel has run.
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
  BoundCall(const BoundCall&) = delete;  // The call points into the others.
  BoundCall& operator=(const BoundCall&) = delete;

  const Call& call() const { return call_; }
  const Inputs& inputs() const { return inputs_; }

 private:
  Inputs inputs_;
  EdgeArrays edges_;
  KindArray kinds_;
  Call call_;
};

// Calls Forward or Status, with a result that `make_array` makes.
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

// Calls Adjoint or Statistics, with `count` results of the shapes of `shape`.
template <class Function, class ShapeFunction>
py::list Results(const BoundCall& bound, const Function& function,
                 const ShapeFunction& shape, int32_t count) {
  const Inputs& inputs = bound.inputs();
  py::list results;
  std::vector<std::array<int64_t, kMaxRank>> dims(count);
  std::vector<Output> outputs;
  for (int32_t i = 0; i < count; ++i) {
    int32_t rank = 0;
    Check(shape(bound.call(), inputs.shapes(), inputs.size(), i, dims[i].data(),
                &rank));
    py::array result = inputs.NewArray(dims[i].data(), rank);
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
    return bound.inputs().NewArray(dims, rank);
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

py::array StatusArray(int32_t kind, const py::list& arrays,
                      const py::object& edges, const py::object& kinds,
                      bool discrete) {
  const BoundCall bound(kind, 0, arrays, edges, kinds, discrete);
  return OneResult(bound, Status, [](const int64_t* dims, int32_t rank) {
    return py::array_t<int32_t>(std::vector<py::ssize_t>(dims, dims + rank));
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

py::dict InstructionSetSupport() {
  py::dict supported;
  for (const InstructionSet& set : AllInstructionSets()) {
    supported[set.name] = set.is_supported;
  }
  return supported;
}

py::dict FfiTargets() {
  py::dict targets;
#if defined(PHASIC_HAVE_XLA)
  for (const FfiTarget& target : kFfiTargets) {
    targets[target.name] = py::capsule(reinterpret_cast<void*>(target.handler));
  }
#endif
  return targets;
}

py::dict BuildInfo() {
  py::dict info;
#if defined(PHASIC_JAXLIB_VERSION)
  info["jaxlib"] = PHASIC_JAXLIB_VERSION;
#else
  info["jaxlib"] = "";
#endif
  return info;
}

PYBIND11_MODULE(_kernel, module) {
  module.doc() = "The phase-type kernel on NumPy arrays.";
  module.def("forward", &ForwardArrays, py::arg("kind"), py::arg("order"),
             py::arg("inputs"), py::arg("edges") = py::none(),
             py::arg("kinds") = py::none(), py::arg("discrete") = false,
             "D^k F(x)[v1, ..., vk] from five operands and k groups of five "
             "tangents.");
  module.def("adjoint", &AdjointArrays, py::arg("kind"), py::arg("order"),
             py::arg("inputs"), py::arg("edges") = py::none(),
             py::arg("wanted") = kAllOperands, py::arg("kinds") = py::none(),
             py::arg("discrete") = false,
             "(D^k F(x)[v1, ..., v_{k-1}, .])^T c from five operands, k - 1 "
             "groups of tangents and a cotangent, for the operands whose bits "
             "are set in wanted.");
  module.def("statistics", &StatisticsArrays, py::arg("kind"),
             py::arg("inputs"), py::arg("edges") = py::none(),
             py::arg("kinds") = py::none(),
             "Expected starts, sojourns, jumps, exits and zeros from five "
             "operands and a weight for each time.");
  module.def("status", &StatusArray, py::arg("kind"), py::arg("inputs"),
             py::arg("edges") = py::none(), py::arg("kinds") = py::none(),
             py::arg("discrete") = false,
             "Codes that say why values are NaN; 0 where they are not.");
  module.def("status_message",
             [](int32_t code) { return std::string(StatusMessage(code)); });
  module.def("num_threads", &MaxThreads,
             "How many threads one call may use, the calling one included.");
  module.def("set_num_threads", &SetNumThreads, py::arg("count"),
             "Sets num_threads for calls that begin later.");
  module.def("instruction_sets", &InstructionSetSupport,
             "Those built, from \"generic\" to the widest: whether this "
             "processor runs them.");
  module.def(
      "instruction_set", [] { return ChosenInstructionSet().name; },
      "The one that runs: the widest supported, or PHASIC_ISA.");
  module.def("ffi_targets", &FfiTargets, "XLA FFI targets by name.");
  DefineElimination(&module);
  module.def("build_info", &BuildInfo, "What the module was built with.");
}

}  // namespace
}  // namespace phasic
