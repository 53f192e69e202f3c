// The FFI handler by which programs that TensorFlow's XLA compiles call Python
// functions, for phasic.binding. It calls them through a function pointer that
// Python sets.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "native/tf/xla_handlers.h"
#include "native/xla/running_call.h"
#include "phasic/op/buffer.h"
#include "phasic/op/xla.h"

namespace phasic {
namespace {

namespace ffi = xla::ffi;

// Acquires the GIL and calls a Python function by its number. Returns 1 on
// success. After an exception returns 0, and writes the text of the exception
// to `message` if possible.
using Callback = int32_t (*)(int64_t number, const Buffer* inputs,
                             int32_t num_inputs, const Buffer* outputs,
                             int32_t num_outputs, char* message,
                             int64_t message_size);

constexpr size_t kMessageSize = 16384;

Callback host_callback = nullptr;
// Identifies this process. The number of a Python function is valid only in the
// process that added the function.
int64_t host_process = 0;

ffi::Error Failure(const std::string& message) {
  return ffi::Error(ffi::ErrorCode::kInternal, message);
}

ffi::Error CallPython(int64_t process, int64_t number, std::string_view name,
                      ffi::RemainingArgs args, ffi::RemainingRets rets) {
  const std::string called(name);
  if (host_callback == nullptr || process != host_process) {
    return Failure(
        called +
        ": a Python function cannot be called from another process "
        "than the one that bound it; bind a native kernel to export");
  }
  std::vector<Buffer> inputs(args.size());
  std::vector<Buffer> outputs(rets.size());
  if (!ReadXla(XlaInputs(args), inputs.data()) ||
      !ReadXla(XlaOutputs(rets), outputs.data())) {
    return Failure(called + ": an operand is not an array");
  }
  const RunningCall running;
  if (RunningCall::IsExiting()) {
    return Failure(called + ": the interpreter is exiting");
  }
  std::string message(kMessageSize, '\0');
  if (host_callback(number, inputs.data(), static_cast<int32_t>(inputs.size()),
                    outputs.data(), static_cast<int32_t>(outputs.size()),
                    message.data(), kMessageSize) == 1) {
    return ffi::Error::Success();
  }
  message.resize(message.find('\0'));
  return Failure(message.empty() ? called + " failed" : message);
}

}  // namespace

XLA_FFI_DEFINE_HANDLER(kCallPythonHandler, CallPython,
                       ffi::Ffi::Bind()
                           .Attr<int64_t>("process")
                           .Attr<int64_t>("number")
                           .Attr<std::string_view>("name")
                           .RemainingArgs()
                           .RemainingRets());

XLA_FFI_Handler* CallPythonHandler() { return kCallPythonHandler; }

}  // namespace phasic

// Sets the function pointer that calls Python functions, and the number of this
// process.
extern "C" __attribute__((visibility("default"))) void PhasicStartHostCalls(
    phasic::Callback callback, int64_t process) {
  phasic::RunningCall::CountInForks();
  phasic::host_process = process;
  phasic::host_callback = callback;
}

// Refuses new calls from now on. Returns the number of calls that are running
// in other threads.
extern "C" __attribute__((visibility("default"))) int64_t
PhasicStopHostCalls() {
  phasic::RunningCall::Stop();
  return phasic::RunningCall::NumElsewhere();
}
