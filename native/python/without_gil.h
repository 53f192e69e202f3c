// Runs native code without holding Python's global interpreter lock (GIL), and
// raises the errors that it returns.

#ifndef PHASIC_NATIVE_PYTHON_WITHOUT_GIL_H_
#define PHASIC_NATIVE_PYTHON_WITHOUT_GIL_H_

#include <pybind11/pybind11.h>
#include <unistd.h>

#include <exception>

#include "native/kernel/api/phase_type.h"
#include "native/kernel/runtime/work_limit.h"

namespace phasic {

// Raises an exception with the given message of the kernel, unless it is
// nullptr: MemoryError for kOutOfMemory, otherwise ValueError.
inline void Check(const char* error) {
  if (error == kOutOfMemory) {
    PyErr_SetString(PyExc_MemoryError, error);
    throw pybind11::error_already_set();
  }
  if (error != nullptr) throw pybind11::value_error(error);
}

// Runs the handlers of signals that have come, such as that of Ctrl-C, as
// Python does between its own instructions; only the main thread has any.
// Returns whether a handler has raised an exception, which stays set.
inline bool HasPendingSignal() {
  const PyGILState_STATE state = PyGILState_Ensure();
  const bool has_raised = PyErr_CheckSignals() != 0;
  PyGILState_Release(state);
  return has_raised;
}

// Takes the GIL again. A daemon thread that does so while the interpreter exits
// is terminated by unwinding its stack, which C++ code does not survive here,
// as destructors need the GIL. So the thread waits for the end of the process
// instead. It does so in a destructor, since not all C++ runtimes let a handler
// catch such an unwinding.
inline void RestoreThread(PyThreadState* state) {
  struct WaitIfUnwound {
    bool has_returned = false;
    ~WaitIfUnwound() {
      while (!has_returned) pause();
    }
  } wait;
  PyEval_RestoreThread(state);
  wait.has_returned = true;
}

// Runs a kernel call without the GIL and returns its error message or nullptr.
// Raises the exception of a signal's handler, for which long calls end early.
template <class Function>
const char* WithoutGil(const Function& function) {
  PyThreadState* const state = PyEval_SaveThread();
  const char* error = nullptr;
  std::exception_ptr exception;
  try {
    const StoppableCall call(HasPendingSignal);
    error = function();
  } catch (const std::exception&) {
    exception = std::current_exception();
  }
  RestoreThread(state);
  if (exception != nullptr) std::rethrow_exception(exception);
  if (PyErr_Occurred() != nullptr) throw pybind11::error_already_set();
  return error;
}

}  // namespace phasic

#endif  // PHASIC_NATIVE_PYTHON_WITHOUT_GIL_H_
