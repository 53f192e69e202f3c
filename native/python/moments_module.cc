// The function `moments` of the Python module. It computes the mean and
// variance of the time until absorption from NumPy arrays.

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

#include "native/elimination/api/moments.h"
#include "native/python/arrays.h"
#include "native/python/definitions.h"
#include "native/python/without_gil.h"

namespace py = pybind11;

namespace phasic {
namespace {

py::tuple MomentsOfArrays(const py::array& indices, const py::array& weights,
                          const py::array& exits, const py::array& initial,
                          const py::array& atom, const py::array& stay,
                          bool discrete, bool gives_variance, bool gives_root,
                          double epsilon) {
  MomentsCall call = {};
  call.precision = PrecisionOf(weights, "weights");
  const auto hold = [&](const py::array& array, const char* name) {
    return HeldArray::OfFloats(array, call.precision, name);
  };
  const HeldArray held[] = {hold(weights, "weights"), hold(exits, "exits"),
                            hold(initial, "initial"), hold(atom, "atom"),
                            hold(stay, "stay")};
  const HeldArray index = HeldArray::Of<int32_t>(indices, "indices");
  call.indices = index.input();
  Input* const places[] = {&call.weights, &call.exits, &call.initial,
                           &call.atom, &call.stay};
  for (size_t i = 0; i < std::size(places); ++i) *places[i] = held[i].input();
  call.is_discrete = discrete;
  call.wants_variance = gives_variance;
  call.wants_root = gives_root;
  call.epsilon = epsilon;
  // Computes the broadcast batch dimensions. The kernel checks whether the
  // shapes broadcast.
  const int32_t rank = call.initial.shape.rank;
  if (rank < 1) throw py::value_error("initial: too few dimensions");
  int64_t dims[kMaxRank] = {};
  std::fill_n(dims, rank - 1, 1);
  const auto merge = [&](const Shape& shape) {
    for (int32_t axis = 0; axis < std::min(rank - 1, shape.rank); ++axis) {
      if (shape.dims[axis] != 1) dims[axis] = shape.dims[axis];
    }
  };
  merge(index.shape());
  for (const HeldArray& array : held) merge(array.shape());
  const Shape shape = {dims, rank - 1};
  MomentResults results[2] = {};
  py::tuple arrays(gives_variance ? 2 : 1);
  for (size_t i = 0; i < arrays.size(); ++i) {
    py::array array = NewArray(shape, call.precision);
    results[i].value = {array.mutable_data(), shape};
    arrays[i] = std::move(array);
  }
  Check(
      WithoutGil([&] { return ComputeMoments(call, results[0], results[1]); }));
  return arrays;
}

void DefineMoments(py::module_* module) {
  module->def("moments", &MomentsOfArrays, py::arg("indices"),
              py::arg("weights"), py::arg("exits"), py::arg("initial"),
              py::arg("atom"), py::arg("stay"), py::arg("discrete"),
              py::arg("gives_variance"), py::arg("gives_root"),
              py::arg("epsilon"),
              "Computes the mean of the time until absorption and, if "
              "gives_variance is True, its variance, or its standard deviation "
              "if gives_root is True, too.");
}

const AtImport kDefined(&DefineMoments);

}  // namespace
}  // namespace phasic
