// What libclang finds in the installed OpenCL headers: functions, their parameters, and named
// values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "traces/base/status.h"

namespace gt::api::gen {

struct Type {
  std::string
      text;  // with types of the core headers only, so that older and newer headers accept it
  std::string name;      // innermost type name as written ("cl_mem_flags"), "" when there is none
  std::string handle;    // "_cl_mem" when the innermost type is a handle
  bool pointer = false;  // not counting the pointer that a handle is
  bool const_pointee = false;
  bool function = false;  // pointer to a function
  bool is_void = false;   // innermost
  bool is_char = false;
  int depth = 0;  // stars, not counting a handle's own
};
struct Parameter {
  Type type;
  std::string name;
};
struct Function {
  std::string name, header;
  Type result;
  std::vector<Parameter> params;
};
struct Value {
  std::string name;
  int64_t value = 0;
  bool core = false;  // in a header that every version has
  std::vector<std::string>
      groups;  // the types it belongs to, from the comments; "error" for error codes
};
struct Headers {
  std::vector<Function> functions;
  std::vector<Value> values;
  std::vector<std::string> bitfields;  // type names
};

// Unsupported: the headers cannot be parsed.
Result<Headers> read_headers(const std::string& include_directory);

}  // namespace gt::api::gen
