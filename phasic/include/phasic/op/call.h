// One call of an op: its arrays, checked against the declaration.

#ifndef PHASIC_OP_CALL_H_
#define PHASIC_OP_CALL_H_

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "phasic/op/buffer.h"
#include "phasic/op/declaration.h"

namespace phasic {

// One element of a batch, which indexes the arrays of a call.
struct Example {
  int64_t index;
  int64_t offsets[kMaxOperands];  // of the inputs
};

template <class T>
class InputArray {
 public:
  InputArray(const T* data, int position) : data_(data), position_(position) {}
  // Returns the example's values, which are contiguous.
  const T* operator()(const Example& at) const {
    return data_ + at.offsets[position_];
  }
  const T* data() const { return data_; }

 private:
  const T* data_;
  int position_;
};

template <class T>
class OutputArray {
 public:
  OutputArray(T* data, int64_t size) : data_(data), size_(size) {}
  // Returns where to write the example's values.
  T* operator()(const Example& at) const { return data_ + at.index * size_; }
  T* data() const { return data_; }

 private:
  T* data_;
  int64_t size_;  // of one example
};

// The argument of an op's function. It throws to report errors.
class Call {
 public:
  Call(const Declaration& declaration, const Buffer* inputs, int num_inputs,
       const Buffer* outputs, int num_outputs, std::string_view options)
      : declaration_(declaration),
        inputs_(inputs),
        outputs_(outputs),
        num_inputs_(num_inputs),
        num_outputs_(num_outputs),
        options_(options) {
    if (!declaration.problem.empty()) {
      throw std::invalid_argument("the declaration '" + declaration.text +
                                  "' cannot be read: " + declaration.problem);
    }
    CheckCount("inputs", num_inputs, declaration.inputs.size());
    CheckCount("outputs", num_outputs, declaration.outputs.size());
    ReadInputs();
    CheckOutputs();
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // The floating type of the operands that are declared without a type.
  Type type() const { return type_; }

  // Calls `f` with a zero of the type T: f(float()) or f(double()).
  template <class F>
  void ForType(const F& f) const {
    if (type_ == Type::kFloat32) {  // NOLINT(bugprone-branch-clone)
      f(float());
    } else {
      f(double());
    }
  }

  // The size of a dimension by its name in the declaration.
  int64_t Dim(std::string_view name) const {
    for (size_t i = 0; i < declaration_.dim_names.size(); ++i) {
      if (declaration_.dim_names[i] == name) return dims_[i];
    }
    throw std::invalid_argument("there is no dimension " + std::string(name) +
                                Rule());
  }

  // Returns an input. Throws if the input's type is not T. Half precision is
  // accessed as uint16_t.
  template <class T>
  InputArray<T> Input(int position) const {
    if (!IsOf<T>(position, inputs_, num_inputs_)) {
      CheckAccess("input", position, inputs_, declaration_.inputs, kTypeOf<T>);
    }
    return {static_cast<const T*>(inputs_[position].data), position};
  }

  // Returns an output, which must be written. Throws if the output's type is
  // not T.
  template <class T>
  OutputArray<T> Output(int position) {
    if (!IsOf<T>(position, outputs_, num_outputs_)) {
      CheckAccess("output", position, outputs_, declaration_.outputs,
                  kTypeOf<T>);
    }
    written_ |= 1U << static_cast<unsigned>(position);
    int64_t size = 1;
    for (const int dim : declaration_.outputs[position].dims) {
      size *= dims_[dim];
    }
    return {static_cast<T*>(outputs_[position].data), size};
  }

  // Calls `f(example)` for each example of the batch, unless all outputs are
  // empty.
  template <class F>
  void ForEach(const F& f) const {
    Example at;
    if (layout_.num_examples == 0) return;
    if (layout_.rank == 0) {
      at.index = 0;
      std::fill_n(at.offsets, layout_.num_inputs, int64_t{0});
      f(at);
      return;
    }
    const int last = layout_.rank - 1;
    const int64_t row = layout_.sizes[last];
    for (int64_t first = 0; first < layout_.num_examples; first += row) {
      for (int i = 0; i < layout_.num_inputs; ++i) {
        at.offsets[i] = layout_.InputOffset(i, first);
      }
      for (int64_t k = 0; k < row; ++k) {
        at.index = first + k;
        f(at);
        for (int i = 0; i < layout_.num_inputs; ++i) {
          at.offsets[i] += layout_.strides[i][last];
        }
      }
    }
  }

  const Layout& layout() const { return layout_; }

  // Returns the value of an option, or `otherwise` if the call does not give
  // it. Throws if the option is not declared, or its value is not a number of
  // this type.
  double Option(std::string_view name, double otherwise) const {
    return NumericOption(name, otherwise, "a number");
  }
  int64_t Option(std::string_view name, int64_t otherwise) const {
    return NumericOption(name, otherwise, "an integer of 64 bits");
  }
  std::string Option(std::string_view name, std::string otherwise) const {
    const std::optional<std::string_view> text = FindOption(name);
    return text.has_value() ? std::string(*text) : otherwise;
  }

  // Checks a condition that the declaration cannot express; throws if it is
  // false.
  void Require(bool condition, const char* rule) const {
    if (!condition) throw std::invalid_argument(std::string(rule) + Rule());
  }

  // Throws if Output was not called for every output. An output without a call
  // was not written.
  void CheckWritten() const {
    if (written_ == (1U << static_cast<unsigned>(num_outputs_)) - 1U) return;
    unsigned missing = 0;
    while ((written_ >> missing & 1U) != 0) ++missing;
    throw std::logic_error("output " + std::to_string(missing) + " (" +
                           declaration_.outputs[missing].name +
                           ") was not written" + Rule());
  }

 private:
  // Options are "name=value;name=value".
  std::optional<std::string_view> FindOption(std::string_view name) const {
    const std::vector<std::string>& declared = declaration_.options;
    if (std::find(declared.begin(), declared.end(), name) == declared.end()) {
      throw std::invalid_argument("there is no option " + std::string(name) +
                                  Rule());
    }
    for (std::string_view rest = options_; !rest.empty();) {
      const size_t end = std::min(rest.find(';'), rest.size());
      const std::string_view item = rest.substr(0, end);
      const size_t equals = std::min(item.find('='), item.size());
      if (item.substr(0, equals) == name && equals < item.size()) {
        return item.substr(equals + 1);
      }
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return std::nullopt;
  }

  // Uses std::from_chars, which does not depend on the locale and reports how
  // far it read.
  template <class T>
  T NumericOption(std::string_view name, T otherwise, const char* kind) const {
    const std::optional<std::string_view> text = FindOption(name);
    if (!text.has_value()) return otherwise;
    const char* const end = text->data() + text->size();
    T value{};
    const auto [stop, error] = std::from_chars(text->data(), end, value);
    if (error != std::errc() || stop != end) {
      throw std::invalid_argument("option " + std::string(name) + " is '" +
                                  std::string(*text) + "': it must be " + kind +
                                  Rule());
    }
    return value;
  }

  std::string Rule() const {
    return "; the op is declared as '" + declaration_.text + "'";
  }

  void CheckCount(const char* what, int found, size_t declared) const {
    if (static_cast<size_t>(found) != declared) RefuseCount(what, found);
  }

  static std::string ShapeText(const Buffer& buffer) {
    std::string text = "[";
    for (int32_t i = 0; i < buffer.rank; ++i) {
      text += (i > 0 ? ", " : "") + std::to_string(buffer.dims[i]);
    }
    return text + "]";
  }

  // Error messages are made in separate functions, so that the checks in every
  // call stay short.
  [[noreturn, gnu::noinline]] void RefuseCount(const char* what,
                                               int found) const {
    throw std::invalid_argument("there are " + std::to_string(found) + " " +
                                what + Rule());
  }

  [[noreturn, gnu::noinline]] void Refuse(const char* what, int position,
                                          const Operand& operand,
                                          const std::string& problem) const {
    throw std::invalid_argument(std::string(what) + " " +
                                std::to_string(position) + " (" + operand.name +
                                ") " + problem + Rule());
  }

  [[noreturn, gnu::noinline]] void RefuseType(const char* what, int position,
                                              const Operand& operand, Type type,
                                              const char* wanted) const {
    Refuse(what, position, operand,
           std::string("is ") + TypeName(type) + ": it must be " + wanted);
  }

  [[noreturn, gnu::noinline]] void RefuseShape(const char* what, int position,
                                               const Operand& operand,
                                               const Buffer& buffer,
                                               const char* rule, int64_t number,
                                               const char* unit) const {
    Refuse(what, position, operand,
           "has shape " + ShapeText(buffer) + ": " + rule + " " +
               std::to_string(number) + unit);
  }

  // Returns whether there is an array at `position` that has exactly type T.
  template <class T>
  static bool IsOf(int position, const Buffer* buffers, int count) {
    return position >= 0 && position < count &&
           buffers[position].type == kTypeOf<T>;
  }

  [[gnu::noinline]] void CheckAccess(const char* what, int position,
                                     const Buffer* buffers,
                                     const std::vector<Operand>& operands,
                                     Type type) const {
    if (position < 0 || static_cast<size_t>(position) >= operands.size()) {
      throw std::out_of_range(std::string("there is no ") + what + " " +
                              std::to_string(position) + Rule());
    }
    const Type own = buffers[position].type;
    const bool is_half = own == Type::kFloat16 || own == Type::kBfloat16;
    if (own != type && !(is_half && type == Type::kUint16)) {
      Refuse(what, position, operands[position],
             std::string("is ") + TypeName(own) + " and was taken as " +
                 TypeName(type));
    }
  }

  // Checks the type, and reads or checks the dimensions of one example.
  // Inlined: a function call would cost as much as the checks.
  [[gnu::always_inline]] inline void CheckOperand(const char* what,
                                                  int position,
                                                  const Operand& operand,
                                                  const Buffer& buffer,
                                                  int batch_rank) {
    if (operand.type == Type::kNone) {
      if (type_ == Type::kNone) type_ = buffer.type;
      if (type_ != Type::kFloat32 && type_ != Type::kFloat64) {
        RefuseType(what, position, operand, type_, "float32 or float64");
      }
    }
    const Type wanted = operand.type == Type::kNone ? type_ : operand.type;
    if (buffer.type != wanted) {
      RefuseType(what, position, operand, buffer.type, TypeName(wanted));
    }
    if (buffer.rank != batch_rank + operand.rank()) {
      RefuseShape(what, position, operand, buffer, "it must have",
                  batch_rank + operand.rank(), " dimensions");
    }
    for (int i = 0; i < operand.rank(); ++i) {
      const int dim = operand.dims[i];
      const int64_t size = buffer.dims[batch_rank + i];
      const uint32_t bit = 1U << static_cast<unsigned>(dim);
      if ((known_ & bit) == 0) {
        known_ |= bit;
        dims_[dim] = size;
      }
      if (dims_[dim] != size) {
        const std::string& name = declaration_.dim_names[dim];
        RefuseShape(what, position, operand, buffer,
                    ("dimension " + name + " must be").c_str(), dims_[dim], "");
      }
    }
  }

  [[gnu::always_inline]] inline void ReadInputs() {
    layout_.num_inputs = num_inputs_;
    layout_.rank = inputs_[0].rank - declaration_.inputs[0].rank();
    if (layout_.rank < 0 || layout_.rank > kMaxBatchRank) {
      Refuse("input", 0, declaration_.inputs[0],
             "has shape " + ShapeText(inputs_[0]) + ": it must have " +
                 std::to_string(declaration_.inputs[0].rank()) +
                 " dimensions, and up to " + std::to_string(kMaxBatchRank) +
                 " of a batch");
    }
    for (int i = 0; i < num_inputs_; ++i) {
      CheckOperand("input", i, declaration_.inputs[i], inputs_[i],
                   layout_.rank);
    }
    layout_.num_examples = 1;
    if (layout_.rank > 0) ReadBatch();
  }

  void ReadBatch() {
    std::fill_n(layout_.sizes, layout_.rank, int64_t{1});
    for (int i = 0; i < num_inputs_; ++i) {
      const Operand& operand = declaration_.inputs[i];
      int64_t stride = 1;
      for (const int dim : operand.dims) stride *= dims_[dim];
      for (int32_t axis = layout_.rank - 1; axis >= 0; --axis) {
        const int64_t size = inputs_[i].dims[axis];
        layout_.strides[i][axis] = size == 1 ? 0 : stride;
        stride *= size;
        if (size == 1) continue;
        if (layout_.sizes[axis] != 1 && layout_.sizes[axis] != size) {
          Refuse("input", i, operand,
                 "has shape " + ShapeText(inputs_[i]) +
                     ": its batch does not broadcast with the others'");
        }
        layout_.sizes[axis] = size;
      }
    }
    for (int32_t axis = 0; axis < layout_.rank; ++axis) {
      layout_.num_examples *= layout_.sizes[axis];
    }
  }

  [[gnu::always_inline]] inline void CheckOutputs() {
    bool has_entries = false;
    for (int i = 0; i < num_outputs_; ++i) {
      const Operand& operand = declaration_.outputs[i];
      CheckOperand("output", i, operand, outputs_[i], layout_.rank);
      has_entries = has_entries || !IsEmpty(outputs_[i]);
      for (int32_t axis = 0; axis < layout_.rank; ++axis) {
        if (outputs_[i].dims[axis] != layout_.sizes[axis]) {
          Refuse("output", i, operand,
                 "has shape " + ShapeText(outputs_[i]) +
                     ": its batch must be that of the inputs");
        }
      }
    }
    if (!has_entries) layout_.num_examples = 0;
  }

  static bool IsEmpty(const Buffer& buffer) {
    for (int32_t i = 0; i < buffer.rank; ++i) {
      if (buffer.dims[i] == 0) return true;
    }
    return false;
  }

  const Declaration& declaration_;
  const Buffer* inputs_;
  const Buffer* outputs_;
  int num_inputs_;
  int num_outputs_;
  std::string_view options_;
  Type type_ = Type::kNone;
  Layout layout_;  // its parts are set as they are read
  int64_t dims_[kMaxDims];
  uint32_t known_ = 0;    // bits of known dimensions
  uint32_t written_ = 0;  // bits of written outputs
};

}  // namespace phasic

#endif  // PHASIC_OP_CALL_H_
