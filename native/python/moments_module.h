// Adds functions that compute moments from NumPy arrays to a module.

#ifndef PHASIC_NATIVE_PYTHON_MOMENTS_MODULE_H_
#define PHASIC_NATIVE_PYTHON_MOMENTS_MODULE_H_

#include <pybind11/pybind11.h>

namespace phasic {

void DefineMoments(pybind11::module_* module);

}  // namespace phasic

#endif  // PHASIC_NATIVE_PYTHON_MOMENTS_MODULE_H_
