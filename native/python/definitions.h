// The parts of the Python module _kernel, each in a file of its own.

#ifndef PHASIC_NATIVE_PYTHON_DEFINITIONS_H_
#define PHASIC_NATIVE_PYTHON_DEFINITIONS_H_

#include <pybind11/pybind11.h>

#include <vector>

namespace phasic {

using Definition = void (*)(pybind11::module_*);

// Returns the functions that add a part each when the module is imported.
std::vector<Definition>& Definitions();

// Adds such a function when the library is loaded.
struct AtImport {
  explicit AtImport(Definition define) { Definitions().push_back(define); }
};

}  // namespace phasic

#endif  // PHASIC_NATIVE_PYTHON_DEFINITIONS_H_
