// Converts NumPy arrays to the kernel's inputs.

#ifndef PHASIC_NATIVE_PYTHON_ARRAYS_H_
#define PHASIC_NATIVE_PYTHON_ARRAYS_H_

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "native/kernel/api/phase_type.h"

namespace phasic {

// Holds a C-contiguous NumPy array and its dimensions.
class HeldArray {
 public:
  // Holds an array of type T. Raises TypeError if the object is not an array of
  // that type, and ValueError if it has too many dimensions.
  template <class T>
  static HeldArray Of(const pybind11::handle& object, const char* name) {
    if (!pybind11::isinstance<pybind11::array_t<T>>(object)) {
      throw pybind11::type_error(std::string(name) + ": must be an array of " +
                                 TypeName(T()));
    }
    auto array = pybind11::reinterpret_borrow<pybind11::array>(object);
    if ((array.flags() & pybind11::array::c_style) == 0) {
      // Raises NumPy's error if memory does not suffice.
      array = pybind11::array_t<T, pybind11::array::c_style>(array);
    }
    if (array.ndim() > kMaxRank) {
      throw pybind11::value_error(std::string(name) + ": too many dimensions");
    }
    return HeldArray(std::move(array));
  }
  // Holds an array of float32 or float64, depending on the precision; raises as
  // Of does.
  static HeldArray OfFloats(const pybind11::handle& object, Precision precision,
                            const char* name) {
    return precision == Precision::kFloat32 ? Of<float>(object, name)
                                            : Of<double>(object, name);
  }

  // The views below are valid while this object exists and is not moved.
  Input input() const { return {array_.data(), shape()}; }
  Shape shape() const { return {dims_, rank_}; }

 private:
  static const char* TypeName(int32_t) { return "int32"; }
  static const char* TypeName(float) { return "float32"; }
  static const char* TypeName(double) { return "float64"; }

  explicit HeldArray(pybind11::array array)
      : array_(std::move(array)), rank_(static_cast<int32_t>(array_.ndim())) {
    std::copy_n(array_.shape(), rank_, dims_);
  }

  pybind11::array array_;
  int64_t dims_[kMaxRank] = {};
  int32_t rank_;
};

// Returns the precision of an array of float32 or float64; raises TypeError for
// other objects.
inline Precision PrecisionOf(const pybind11::handle& object, const char* name) {
  if (!pybind11::isinstance<pybind11::array>(object)) {
    throw pybind11::type_error(std::string(name) + ": must be a NumPy array");
  }
  if (pybind11::isinstance<pybind11::array_t<double>>(object)) {
    return Precision::kFloat64;
  }
  if (pybind11::isinstance<pybind11::array_t<float>>(object)) {
    return Precision::kFloat32;
  }
  throw pybind11::type_error(std::string(name) +
                             ": the dtype must be float32 or float64");
}

inline std::vector<pybind11::ssize_t> DimsOf(const Shape& shape) {
  return {shape.dims, shape.dims + shape.rank};
}

inline pybind11::array NewArray(const Shape& shape, Precision precision) {
  const std::vector<pybind11::ssize_t> dims = DimsOf(shape);
  if (precision == Precision::kFloat32) return pybind11::array_t<float>(dims);
  return pybind11::array_t<double>(dims);
}

// Returns a new array of kinds or status codes.
inline pybind11::array NewCodes(const Shape& shape) {
  return pybind11::array_t<int32_t>(DimsOf(shape));
}

}  // namespace phasic

#endif  // PHASIC_NATIVE_PYTHON_ARRAYS_H_
