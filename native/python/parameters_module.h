// Checks the values of parameters that are NumPy arrays.

#ifndef PHASIC_NATIVE_PYTHON_PARAMETERS_MODULE_H_
#define PHASIC_NATIVE_PYTHON_PARAMETERS_MODULE_H_

#include <pybind11/pybind11.h>

namespace phasic {

// Adds the functions meets_constraint and model_meets_constraints to a module.
void DefineParameters(pybind11::module_* module);

}  // namespace phasic

#endif  // PHASIC_NATIVE_PYTHON_PARAMETERS_MODULE_H_
