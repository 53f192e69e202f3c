// The declaration of an op: names, types and dimensions of its operands, and
// names of its options, if any.
//
//   "indices: int32(n), weights(n), x(m) -> y(m), total(); tolerance, method"
//
// Dimensions with the same name are equal. An operand without a type has type
// T: float32 or float64, the same for all such operands of a call. All inputs
// may have leading batch dimensions, which broadcast; all outputs have the
// broadcast batch dimensions.

#ifndef PHASIC_OP_DECLARATION_H_
#define PHASIC_OP_DECLARATION_H_

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "phasic/op/buffer.h"

namespace phasic {

struct Operand {
  std::string name;
  Type type = Type::kNone;  // kNone: T
  std::vector<int> dims;    // indices into Declaration::dim_names

  int rank() const { return static_cast<int>(dims.size()); }
};

struct Declaration {
  std::string name;
  std::string text;
  std::vector<Operand> inputs;
  std::vector<Operand> outputs;
  std::vector<std::string> dim_names;
  std::vector<std::string> options;
  std::string problem;  // an error in the text, or ""
};

namespace internal {

class Parser {
 public:
  explicit Parser(Declaration* result) : text_(result->text), result_(result) {}

  void Run() {
    Operands(&result_->inputs);
    if (!Take("->")) Refuse("`->` is missing");
    Operands(&result_->outputs);
    if (Take(";")) {
      do {
        result_->options.push_back(Word());
      } while (Take(","));
    }
    if (Peek() != '\0') Refuse("there is text after the end");
    if (result_->inputs.empty() || result_->outputs.empty()) {
      Refuse("there must be an input and an output");
    }
    if (result_->inputs.size() > kMaxOperands ||
        result_->outputs.size() > kMaxOperands) {
      Refuse("there are too many operands");
    }
    if (result_->dim_names.size() > kMaxDims) {
      Refuse("there are too many dimensions");
    }
    CheckNames("operands", NamesOf(result_->inputs));
    CheckNames("operands", NamesOf(result_->outputs));
    CheckNames("options", result_->options);
    if (HasCommonType(result_->outputs) && !HasCommonType(result_->inputs)) {
      Refuse("an output has no type, but all inputs have one: give it a type");
    }
  }

 private:
  static std::vector<std::string> NamesOf(
      const std::vector<Operand>& operands) {
    std::vector<std::string> names;
    for (const Operand& operand : operands) names.push_back(operand.name);
    return names;
  }

  void CheckNames(const std::string& what,
                  const std::vector<std::string>& names) {
    for (auto name = names.begin(); name != names.end(); ++name) {
      if (std::find(names.begin(), name, *name) != name) {
        Refuse("there are two " + what + " " + *name);
      }
    }
  }

  static bool HasCommonType(const std::vector<Operand>& operands) {
    return std::any_of(
        operands.begin(), operands.end(),
        [](const Operand& operand) { return operand.type == Type::kNone; });
  }

  [[noreturn]] void Refuse(const std::string& what) {
    throw std::invalid_argument(what + " at column " + std::to_string(at_));
  }

  char Peek() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool Take(const char* token) {
    const std::string expected(token);
    Peek();
    if (text_.compare(at_, expected.size(), expected) != 0) return false;
    at_ += expected.size();
    return true;
  }

  std::string Word() {
    std::string word;
    Peek();
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 ||
            text_[at_] == '_')) {
      word += text_[at_++];
    }
    if (word.empty()) Refuse("a name is missing");
    return word;
  }

  int Dim() {
    const std::string name = Word();
    auto& names = result_->dim_names;
    const auto found = std::find(names.begin(), names.end(), name);
    const auto index = static_cast<int>(found - names.begin());
    if (found == names.end()) names.push_back(name);
    return index;
  }

  void Operands(std::vector<Operand>* operands) {
    do {
      Operand operand;
      operand.name = Word();
      if (Take(":")) {
        const std::string type = Word();
        for (int i = 1; i < kNumTypes; ++i) {
          if (type == kTypeNames[i]) operand.type = static_cast<Type>(i);
        }
        if (operand.type == Type::kNone && type != "T") {
          Refuse("there is no type " + type);
        }
      }
      if (!Take("(")) Refuse("`(` is missing");
      if (!Take(")")) {
        do {
          operand.dims.push_back(Dim());
        } while (Take(","));
        if (!Take(")")) Refuse("`)` is missing");
      }
      operands->push_back(operand);
    } while (Take(","));
  }

  const std::string& text_;
  Declaration* result_;
  size_t at_ = 0;
};

}  // namespace internal

// Parses a declaration. Never throws: an error is stored, and every call
// reports it.
inline Declaration Parse(const char* name, const char* text) {
  Declaration result;
  result.name = name;
  result.text = text;
  try {
    internal::Parser(&result).Run();
  } catch (const std::exception& error) {
    result.problem = error.what();
  }
  return result;
}

}  // namespace phasic

#endif  // PHASIC_OP_DECLARATION_H_
