// What OpenCL headers declare, as far as the table needs it: gen/declarations.txt.
//
// The file holds what several versions of the headers declare together, so that the table can be made where none of
// them is installed. A declaration that is in it stays as it is: a function's number means those parameters.
// Thread safety: none; used by generators.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "traces/base/status.h"

namespace gt::api::gen {

struct Type {
  std::string text;      // with types of the core headers only, so that older and newer headers accept it
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
  std::vector<std::string> groups;  // the types it belongs to, from the comments; "error" for error codes
};
struct Declarations {
  std::vector<std::string> sources;  // the headers that the rest is from, oldest first
  std::vector<Function> functions;
  std::vector<Value> values;
  std::vector<std::string> bitfields;  // type names
};

// Corrupt, with the line: not such a file.
Result<Declarations> read_declarations(const std::string& path);
std::string text_of(const Declarations& declarations);

// Adds what `newer` declares and `all` does not. Returns what `newer` declares otherwise, one line each: it is left
// out.
std::vector<std::string> add_newer(Declarations& all, const Declarations& newer);

}  // namespace gt::api::gen
