// Runs an op on buffers; errors become messages that name the op.

#ifndef PHASIC_OP_RUN_H_
#define PHASIC_OP_RUN_H_

#include <algorithm>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>

#include "phasic/op/buffer.h"
#include "phasic/op/call.h"
#include "phasic/op/declaration.h"

namespace phasic {

// Calls `function(call)`. Returns an error message, or "" on success.
template <class Function>
std::string Run(const Declaration& declaration, const Function& function,
                const Buffer* inputs, int num_inputs, const Buffer* outputs,
                int num_outputs, std::string_view options) noexcept {
  try {
    try {
      Call call(declaration, inputs, num_inputs, outputs, num_outputs, options);
      function(call);
      call.CheckWritten();
      return std::string();
    } catch (const std::exception& error) {
      return "op " + declaration.name + ": " + error.what();
    } catch (...) {
      return "op " + declaration.name +
             ": its function threw what is no std::exception";
    }
  } catch (...) {
    return "op: out of memory";
  }
}

// Like Run, for callers from C: writes the error message, truncated to fit, and
// returns 1, or returns 0 on success.
template <class Function>
int32_t RunPlain(const Declaration& declaration, const Function& function,
                 const Buffer* inputs, int32_t num_inputs,
                 const Buffer* outputs, int32_t num_outputs,
                 const char* options, char* message,
                 int64_t message_size) noexcept {
  const std::string problem = Run(declaration, function, inputs, num_inputs,
                                  outputs, num_outputs, options);
  if (problem.empty()) return 0;
  const auto size = static_cast<int64_t>(problem.size());
  const int64_t count = std::min(message_size - 1, size);
  std::copy_n(problem.begin(), count, message);
  message[count] = '\0';
  return 1;
}

}  // namespace phasic

#endif  // PHASIC_OP_RUN_H_
