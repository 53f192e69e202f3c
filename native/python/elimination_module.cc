#include "native/python/elimination_module.h"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "native/elimination/elimination.h"
#include "native/python/without_gil.h"

namespace py = pybind11;

namespace phasic {
namespace {

// A contiguous array and what the kernel sees of it.
class Operand {
 public:
  Operand(const py::array& array, bool is_integer, bool is_float32,
          const char* name) {
    if (is_integer   ? !py::isinstance<py::array_t<int32_t>>(array)
        : is_float32 ? !py::isinstance<py::array_t<float>>(array)
                     : !py::isinstance<py::array_t<double>>(array)) {
      throw py::type_error(std::string(name) + ": the dtype does not fit");
    }
    if (array.ndim() > kMaxRank) {
      throw py::value_error(std::string(name) + ": too many dimensions");
    }
    array_ = py::array::ensure(array, py::array::c_style);
    dims_.assign(array_.shape(), array_.shape() + array_.ndim());
  }

  Input input() const {
    return {array_.data(), {dims_.data(), static_cast<int32_t>(dims_.size())}};
  }
  const std::vector<int64_t>& dims() const { return dims_; }

 private:
  py::array array_;
  std::vector<int64_t> dims_;
};

// The common batch dimensions with [rows, columns]; what does not broadcast is
// found by the call.
std::vector<int64_t> ResultDims(const std::vector<const Operand*>& operands,
                                int64_t rows, int64_t columns) {
  std::vector<int64_t> dims = operands[0]->dims();
  dims.pop_back();
  constexpr size_t kEventRanks[] = {1, 2, 2, 2};
  for (size_t i = 1; i < operands.size(); ++i) {
    const std::vector<int64_t>& other = operands[i]->dims();
    if (other.size() != dims.size() + kEventRanks[i]) continue;
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      if (other[axis] != 1) dims[axis] = other[axis];
    }
  }
  dims.push_back(rows);
  dims.push_back(columns);
  return dims;
}

py::array NewArray(const std::vector<int64_t>& dims, bool is_float32) {
  const std::vector<py::ssize_t> shape(dims.begin(), dims.end());
  if (is_float32) return py::array_t<float>(shape);
  return py::array_t<double>(shape);
}

py::tuple EliminateArrays(bool transposed, const py::array& indices,
                          const py::array& weights, const py::array& per_phase,
                          const py::array& per_edge, bool wants_edges) {
  const bool is_float32 = py::isinstance<py::array_t<float>>(weights);
  const Operand index(indices, true, is_float32, "indices");
  const Operand weight(weights, false, is_float32, "weights");
  const Operand phases(per_phase, false, is_float32, "per_phase");
  const Operand edges(per_edge, false, is_float32, "per_edge");
  const LinearSystem system = {
      index.input(), weight.input(), phases.input(), edges.input(),
      is_float32 ? Precision::kFloat32 : Precision::kFloat64};
  if (weights.ndim() < 1 || per_phase.ndim() < 2) {
    throw py::value_error("weights and per_phase: too few dimensions");
  }
  const size_t rank = phases.dims().size();
  const int64_t columns = phases.dims()[rank - 1];
  const std::vector<const Operand*> operands = {&weight, &index, &phases,
                                                &edges};
  const auto phase_dims =
      ResultDims(operands, phases.dims()[rank - 2], columns);
  const auto edge_dims =
      ResultDims(operands, wants_edges ? weight.dims().back() : 0,
                 wants_edges ? columns : 0);
  py::array phase_result = NewArray(phase_dims, is_float32);
  py::array edge_result = NewArray(edge_dims, is_float32);
  const auto as_output = [](py::array* array,
                            const std::vector<int64_t>& dims) {
    return Output{array->mutable_data(),
                  {dims.data(), static_cast<int32_t>(dims.size())}};
  };
  const Output phase_output = as_output(&phase_result, phase_dims);
  const Output edge_output = as_output(&edge_result, edge_dims);
  const char* error = WithoutGil([&] {
    return Eliminate(
        transposed ? Direction::kSolveTransposed : Direction::kSolve, system,
        phase_output, edge_output);
  });
  if (error != nullptr) throw py::value_error(error);
  return py::make_tuple(phase_result, edge_result);
}

py::dict Measure(int64_t num_phases, const py::array& indices) {
  const Operand index(indices, true, false, "indices");
  EliminationSize size = {};
  const char* error = WithoutGil(
      [&] { return MeasureElimination(num_phases, index.input(), &size); });
  if (error != nullptr) throw py::value_error(error);
  py::dict result;
  result["num_components"] = size.num_components;
  result["largest_component"] = size.largest_component;
  result["fill"] = size.fill;
  result["working"] = size.working;
  result["operations"] = size.operations;
  return result;
}

}  // namespace

void DefineElimination(py::module_* module) {
  module->def("eliminate", &EliminateArrays, py::arg("transposed"),
              py::arg("indices"), py::arg("weights"), py::arg("per_phase"),
              py::arg("per_edge"), py::arg("wants_edges"),
              "Solves the linear system of a chain, or its transpose.");
  module->def("measure_elimination", &Measure, py::arg("num_phases"),
              py::arg("indices"), "What an elimination takes.");
}

}  // namespace phasic
