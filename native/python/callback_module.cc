#include "native/python/callback_module.h"

#if defined(PHASIC_HAVE_XLA)

#include <pybind11/numpy.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "xla/ffi/api/ffi.h"

namespace py = pybind11;
namespace ffi = xla::ffi;

namespace phasic {
namespace {

// Calls functions by their numbers: dispatcher(number, list of arrays) returns
// a message or None, and a list of contiguous arrays. Never deleted: programs
// may run until the interpreter is gone.
py::object* dispatcher = nullptr;
// Numbers mean something in this process only.
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

// The dtype of a name: looked up once, as it takes longer than a call.
py::dtype DtypeOf(const char* name) {
  static auto* const known = new py::dict();
  if (!known->contains(name)) {
    (*known)[name] = py::dtype::from_args(py::str(name));
  }
  return (*known)[name].cast<py::dtype>();
}

ffi::Error Failure(const std::string& message) {
  return ffi::Error(ffi::ErrorCode::kInternal, message);
}

// A copy: a function may keep its arguments, XLA reuses their memory.
py::array CopyOf(const ffi::AnyBuffer& buffer, const char* dtype) {
  const auto dims = buffer.dimensions();
  return py::array(DtypeOf(dtype),
                   std::vector<py::ssize_t>(dims.begin(), dims.end()),
                   buffer.untyped_data());
}

ffi::Error CallWithLock(int64_t number, const std::string& name,
                        ffi::RemainingArgs args, ffi::RemainingRets rets) {
  py::list inputs;
  for (size_t i = 0; i < args.size(); ++i) {
    const auto buffer = args.get<ffi::AnyBuffer>(i);
    if (buffer.has_error()) return buffer.error();
    const char* dtype = DtypeName(buffer->element_type());
    if (dtype == nullptr) return Failure(name + ": NumPy lacks the dtype");
    inputs.append(CopyOf(*buffer, dtype));
  }
  const py::tuple answer = (*dispatcher)(number, inputs);
  if (!answer[0].is_none()) return Failure(answer[0].cast<std::string>());
  const py::list results(answer[1]);
  if (results.size() != rets.size()) {
    return Failure(name + ": wrong number of results");
  }
  for (size_t i = 0; i < rets.size(); ++i) {
    auto buffer = rets.get<ffi::AnyBuffer>(i);
    if (buffer.has_error()) return buffer.error();
    const py::array result(results[i]);
    const auto size = static_cast<py::ssize_t>((*buffer)->size_bytes());
    if (result.nbytes() != size ||
        (result.flags() & py::array::c_style) == 0) {
      return Failure(name + ": a result does not fit");
    }
    if (size > 0) {
      std::memcpy((*buffer)->untyped_data(), result.data(), size);
    }
  }
  return ffi::Error::Success();
}

ffi::Error CallPython(int64_t process, int64_t number, std::string_view name,
                      ffi::RemainingArgs args, ffi::RemainingRets rets) {
  const std::string called(name);
  if (dispatcher == nullptr || process != process_token) {
    return ffi::Error(
        ffi::ErrorCode::kFailedPrecondition,
        called + ": a Python function cannot be called from another process "
                 "than the one that bound it; bind a native kernel to export");
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

void SetDispatcher(const py::object& function, int64_t process) {
  if (dispatcher != nullptr) {
    throw py::value_error("there is a dispatcher already");
  }
  dispatcher = new py::object(function);
  process_token = process;
}

}  // namespace

void DefineCallbacks(py::module_* module) {
  module->def("set_dispatcher", &SetDispatcher, py::arg("function"),
              py::arg("process"),
              "Sets what calls Python functions by their numbers.");
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
