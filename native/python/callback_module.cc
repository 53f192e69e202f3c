#include "native/python/callback_module.h"

#if defined(PHASIC_HAVE_XLA)

#include <pybind11/numpy.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "native/xla/running_call.h"
#include "xla/ffi/api/ffi.h"

namespace py = pybind11;
namespace ffi = xla::ffi;

namespace phasic {
namespace {

// A Python function that compiled programs call by its number. Callbacks are
// never deleted, as programs may run until the interpreter exits. The GIL
// guards the registry.
struct Callback {
  py::object function;
  std::string returns;  // "array", or a "tuple" or "list" of arrays
};
struct Registry {
  py::object finish;
  py::object describe;
  py::object array_type;   // of NumPy
  py::object number_type;  // of NumPy, for scalars
  std::vector<Callback> callbacks;
};
Registry* registry = nullptr;
// Identifies this process. The number of a callback is valid only in the
// process that added the callback.
int64_t process_token = 0;

const char* DtypeName(ffi::DataType type) {
  switch (type) {
    case ffi::DataType::PRED:
      return "bool";
    case ffi::DataType::S8:
      return "int8";
    case ffi::DataType::S16:
      return "int16";
    case ffi::DataType::S32:
      return "int32";
    case ffi::DataType::S64:
      return "int64";
    case ffi::DataType::U8:
      return "uint8";
    case ffi::DataType::U16:
      return "uint16";
    case ffi::DataType::U32:
      return "uint32";
    case ffi::DataType::U64:
      return "uint64";
    case ffi::DataType::F16:
      return "float16";
    case ffi::DataType::BF16:
      return "bfloat16";
    case ffi::DataType::F32:
      return "float32";
    case ffi::DataType::F64:
      return "float64";
    case ffi::DataType::C64:
      return "complex64";
    case ffi::DataType::C128:
      return "complex128";
    default:
      return nullptr;
  }
}

// Returns NumPy's dtype for an XLA type, or nullptr if there is none. Dtypes
// are cached, as a lookup takes longer than a call.
const py::dtype* DtypeOf(ffi::DataType type) {
  constexpr size_t kNumTypes = 64;
  static auto* const known = new std::array<py::dtype*, kNumTypes>();
  const auto index = static_cast<size_t>(type);
  const char* name = DtypeName(type);
  if (name == nullptr || index >= kNumTypes) return nullptr;
  if ((*known)[index] == nullptr) {
    (*known)[index] = new py::dtype(py::dtype::from_args(py::str(name)));
  }
  return (*known)[index];
}

ffi::Error Failure(const std::string& message) {
  return ffi::Error(ffi::ErrorCode::kInternal, message);
}

// Converts an array or a NumPy scalar to an array; returns None for other
// objects. Subclasses of arrays count as other objects, because a masked array,
// for example, would lose its mask. The Python function `finish` converts them.
py::object AsArray(const py::handle& object) {
  if (py::type::handle_of(object).is(registry->array_type)) {
    return py::reinterpret_borrow<py::object>(object);
  }
  if (py::isinstance(object, registry->number_type)) {
    py::array array = py::array::ensure(object);  // null if that fails
    if (array) return std::move(array);
  }
  return py::none();
}

// Returns whether an object is a contiguous array with the buffer's shape and
// dtype.
bool Fits(const py::object& object, const ffi::AnyBuffer& buffer) {
  if (object.is_none()) return false;
  const auto array = py::reinterpret_borrow<py::array>(object);
  const auto dims = buffer.dimensions();
  const py::dtype* dtype = DtypeOf(buffer.element_type());
  // Tests identity first, because equal dtypes are usually the same object. The
  // dtypes of unpickled arrays are not.
  return (array.flags() & py::array::c_style) != 0 && dtype != nullptr &&
         (array.dtype().is(*dtype) || array.dtype().equal(*dtype)) &&
         std::equal(dims.begin(), dims.end(), array.shape(),
                    array.shape() + array.ndim());
}

// Copies arrays to the buffers. Returns false if the number of arrays, a shape
// or a dtype differs from that of the buffers.
bool Copy(const std::vector<py::handle>& objects,
          const std::vector<ffi::AnyBuffer>& buffers) {
  if (objects.size() != buffers.size()) return false;
  std::vector<py::object> arrays;
  for (size_t i = 0; i < buffers.size(); ++i) {
    arrays.push_back(AsArray(objects[i]));
    if (!Fits(arrays[i], buffers[i])) return false;
  }
  for (size_t i = 0; i < buffers.size(); ++i) {
    const auto array = py::reinterpret_borrow<py::array>(arrays[i]);
    const size_t size = buffers[i].size_bytes();
    if (size > 0) std::memcpy(buffers[i].untyped_data(), array.data(), size);
  }
  return true;
}

// Returns the arrays in a callback's result, or an empty list if the type of
// the result is wrong.
std::vector<py::handle> Items(const py::object& result,
                              const std::string& returns) {
  if (returns == "array") return {result};
  if (returns == "tuple" && PyTuple_CheckExact(result.ptr())) {
    const auto items = py::reinterpret_borrow<py::tuple>(result);
    return {items.begin(), items.end()};
  }
  if (returns == "list" && PyList_CheckExact(result.ptr())) {
    const auto items = py::reinterpret_borrow<py::list>(result);
    return {items.begin(), items.end()};
  }
  return {};
}

// Converts the XLA buffers to NumPy arrays. The arrays are copies, as a
// function may keep them and XLA reuses the memory of its buffers.
ffi::Error Arguments(const std::string& name, ffi::RemainingArgs args,
                     py::tuple* arrays) {
  for (size_t i = 0; i < args.size(); ++i) {
    const auto buffer = args.get<ffi::AnyBuffer>(i);
    if (buffer.has_error()) return buffer.error();
    const py::dtype* dtype = DtypeOf(buffer->element_type());
    if (dtype == nullptr) {
      return Failure(name + ": NumPy does not have the dtype of an argument");
    }
    const auto dims = buffer->dimensions();
    (*arrays)[i] =
        py::array(*dtype, std::vector<py::ssize_t>(dims.begin(), dims.end()),
                  buffer->untyped_data());
  }
  return ffi::Error::Success();
}

ffi::Error CallWithLock(int64_t number, const std::string& name,
                        ffi::RemainingArgs args, ffi::RemainingRets rets) {
  // Copies the callback, because another thread may add a callback meanwhile,
  // which moves the elements of the list.
  const Callback callback = registry->callbacks.at(number);
  py::tuple arrays(args.size());
  ffi::Error error = Arguments(name, args, &arrays);
  if (error.failure()) return error;
  std::vector<ffi::AnyBuffer> buffers;
  for (size_t i = 0; i < rets.size(); ++i) {
    auto buffer = rets.get<ffi::AnyBuffer>(i);
    if (buffer.has_error()) return buffer.error();
    buffers.push_back(**buffer);
  }
  try {
    const auto result = py::reinterpret_steal<py::object>(
        PyObject_CallObject(callback.function.ptr(), arrays.ptr()));
    if (!result) throw py::error_already_set();
    if (!Copy(Items(result, callback.returns), buffers)) {
      const py::list results = registry->finish(number, result);
      if (!Copy(Items(results, "list"), buffers)) {
        return Failure(name + ": results have the wrong dtypes or shapes");
      }
    }
  } catch (py::error_already_set& raised) {
    if (raised.trace()) {
      PyException_SetTraceback(raised.value().ptr(), raised.trace().ptr());
    }
    return Failure(
        registry->describe(number, raised.value()).cast<std::string>());
  }
  return ffi::Error::Success();
}

ffi::Error CallPython(int64_t process, int64_t number, std::string_view name,
                      ffi::RemainingArgs args, ffi::RemainingRets rets) {
  const std::string called(name);
  if (registry == nullptr || process != process_token) {
    return ffi::Error(
        ffi::ErrorCode::kFailedPrecondition,
        called +
            ": a Python function cannot be called from another process "
            "than the one that bound it; bind a native kernel to export");
  }
  const RunningCall running;
  if (RunningCall::IsExiting()) {
    return Failure(called + ": the interpreter is exiting");
  }
  const py::gil_scoped_acquire lock;
  try {
    return CallWithLock(number, called, args, rets);
  } catch (const std::exception& error) {
    return Failure(called + ": " + error.what());
  }
}

XLA_FFI_DEFINE_HANDLER(kCallPython, CallPython,
                       ffi::Ffi::Bind()
                           .Attr<int64_t>("process")
                           .Attr<int64_t>("number")
                           .Attr<std::string_view>("name")
                           .RemainingArgs()
                           .RemainingRets());

void StartCallbacks(const py::object& finish, const py::object& describe,
                    int64_t process) {
  if (registry != nullptr) throw py::value_error("callbacks have been started");
  const py::module_ numpy = py::module_::import("numpy");
  registry = new Registry{
      finish, describe, numpy.attr("ndarray"), numpy.attr("generic"), {}};
  process_token = process;
  RunningCall::CountInForks();
}

void StopCallbacks() {
  RunningCall::Stop();
  if (RunningCall::NumElsewhere() == 0) return;
  while (RunningCall::NumElsewhere() > 0) {
    {
      const py::gil_scoped_release release;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  }
  // All calls have ended. Their programs now end with an error or go on without
  // Python. A thread that returns from such a program to Python needs the GIL,
  // so that this thread releases the GIL for a moment.
  const py::gil_scoped_release release;
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
}

int64_t AddCallback(const py::object& function, const std::string& returns) {
  registry->callbacks.push_back({function, returns});
  return static_cast<int64_t>(registry->callbacks.size()) - 1;
}

}  // namespace

void DefineCallbacks(py::module_* module) {
  module->def("start_callbacks", &StartCallbacks, py::arg("finish"),
              py::arg("describe"), py::arg("process"),
              "Sets the functions finish(number, result), which converts a "
              "result to arrays, and describe(number, exception), which "
              "returns the message of an exception.");
  module->def("stop_callbacks", &StopCallbacks,
              "Waits for the running calls to end; later calls fail.");
  module->def(
      "add_callback", &AddCallback, py::arg("function"), py::arg("returns"),
      "Adds a function of arrays, which returns an \"array\", or a \"tuple\" "
      "or \"list\" of arrays. Returns the number by which programs call the "
      "function.");
}

void AddCallbackTarget(py::dict* targets) {
  (*targets)["phasic_call_python"] =
      py::capsule(reinterpret_cast<void*>(kCallPython));
}

}  // namespace phasic

#else

namespace phasic {

void DefineCallbacks(pybind11::module_*) {}
void AddCallbackTarget(pybind11::dict*) {}

}  // namespace phasic

#endif
