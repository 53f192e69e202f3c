// Adds functions that solve linear systems given as NumPy arrays to a module.

#ifndef PHASIC_NATIVE_PYTHON_ELIMINATION_MODULE_H_
#define PHASIC_NATIVE_PYTHON_ELIMINATION_MODULE_H_

#include <pybind11/pybind11.h>

namespace phasic {

void DefineElimination(pybind11::module_* module);

}  // namespace phasic

#endif  // PHASIC_NATIVE_PYTHON_ELIMINATION_MODULE_H_
