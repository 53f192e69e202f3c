// Adds the function `moments` to a Python module. It computes the mean and
// variance of the time until absorption from NumPy arrays.

#ifndef PHASIC_NATIVE_PYTHON_MOMENTS_MODULE_H_
#define PHASIC_NATIVE_PYTHON_MOMENTS_MODULE_H_

#include <pybind11/pybind11.h>

namespace phasic {

void DefineMoments(pybind11::module_* module);

}  // namespace phasic

#endif  // PHASIC_NATIVE_PYTHON_MOMENTS_MODULE_H_
