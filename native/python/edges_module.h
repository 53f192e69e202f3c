// Checks and moments of one sparse model whose NumPy arrays need no conversion.

#ifndef PHASIC_NATIVE_PYTHON_EDGES_MODULE_H_
#define PHASIC_NATIVE_PYTHON_EDGES_MODULE_H_

#include <pybind11/pybind11.h>

namespace phasic {

// Adds the functions edges_meet_constraints and moments_of_edges to a module.
void DefineEdges(pybind11::module_* module);

}  // namespace phasic

#endif  // PHASIC_NATIVE_PYTHON_EDGES_MODULE_H_
