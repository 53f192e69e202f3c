// Checks of parameters on the host.

#ifndef PHASIC_NATIVE_PYTHON_PARAMETERS_MODULE_H_
#define PHASIC_NATIVE_PYTHON_PARAMETERS_MODULE_H_

#include <pybind11/pybind11.h>

namespace phasic {

// Adds meets_constraint and model_meets_constraints to a module.
void DefineParameters(pybind11::module_* module);

}  // namespace phasic

#endif  // PHASIC_NATIVE_PYTHON_PARAMETERS_MODULE_H_
