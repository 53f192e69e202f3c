// Adds two functions to a Python module. `eliminate` solves the linear systems
// of Markov chains, given as NumPy arrays. `measure_elimination` computes the
// memory and the number of operations that this needs.

#ifndef PHASIC_NATIVE_PYTHON_ELIMINATION_MODULE_H_
#define PHASIC_NATIVE_PYTHON_ELIMINATION_MODULE_H_

#include <pybind11/pybind11.h>

namespace phasic {

void DefineElimination(pybind11::module_* module);

}  // namespace phasic

#endif  // PHASIC_NATIVE_PYTHON_ELIMINATION_MODULE_H_
