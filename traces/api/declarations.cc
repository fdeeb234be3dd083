// A line each, its parts between tabs: S a source, F a function and its result, P a parameter of the function before,
// V a value and the types that it belongs to, B a type that is a bit field.
#include "traces/api/declarations.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <sstream>

namespace gt::api::gen {
namespace {

constexpr const char* Banner =
    "# What OpenCL headers declare. Made by gen_declarations, which only adds: scripts/opencl_headers.sh.\n";

struct Flag {
  char letter;
  bool Type::*is;
};
constexpr Flag Flags[] = {{'*', &Type::pointer},
                          {'c', &Type::const_pointee},
                          {'f', &Type::function},
                          {'v', &Type::is_void},
                          {'t', &Type::is_char}};
constexpr size_t TypeParts = 5;

std::string text_of(const Type& type) {
  std::string flags;
  for (const Flag& flag : Flags)
    if (type.*flag.is) flags += flag.letter;
  return type.text + "\t" + type.name + "\t" + type.handle + "\t" + flags + "\t" + std::to_string(type.depth);
}

std::vector<std::string> parts_of(const std::string& line) {
  std::vector<std::string> out;
  size_t at = 0;
  for (size_t tab; (tab = line.find('\t', at)) != std::string::npos; at = tab + 1)
    out.push_back(line.substr(at, tab - at));
  out.push_back(line.substr(at));
  return out;
}

template <class T>
bool number(const std::string& text, T& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

bool read_type(const std::vector<std::string>& parts, size_t at, Type& out) {
  if (parts.size() != at + TypeParts) return false;
  out.text = parts[at];
  out.name = parts[at + 1];
  out.handle = parts[at + 2];
  for (const Flag& flag : Flags) out.*flag.is = parts[at + 3].find(flag.letter) != std::string::npos;
  return number(parts[at + 4], out.depth);
}

bool read_line(const std::vector<std::string>& parts, Declarations& out) {
  if (parts.size() < 2) return false;
  if (parts[0] == "S") {
    out.sources.push_back(parts[1]);
  } else if (parts[0] == "B") {
    out.bitfields.push_back(parts[1]);
  } else if (parts[0] == "V") {
    Value value{parts[1], 0, {}};
    if (parts.size() != 4 || !number(parts[2], value.value)) return false;
    std::istringstream groups(parts[3]);
    for (std::string group; groups >> group;) value.groups.push_back(group);
    out.values.push_back(std::move(value));
  } else if (parts[0] == "F") {
    out.functions.push_back({parts[1], parts.size() > 2 ? parts[2] : "", {}, {}});
    return read_type(parts, 3, out.functions.back().result);
  } else if (parts[0] == "P" && !out.functions.empty()) {
    out.functions.back().params.push_back({{}, parts[1]});
    return read_type(parts, 2, out.functions.back().params.back().type);
  } else {
    return false;
  }
  return true;
}

// As a program that calls it sees it.
std::string prototype(const Function& fn) {
  std::string out = fn.result.text + " (";
  for (const Parameter& p : fn.params) out += (&p == fn.params.data() ? "" : ", ") + p.type.text;
  return out + ")";
}

void add_missing(std::vector<std::string>& to, const std::vector<std::string>& from) {
  for (const std::string& item : from)
    if (std::find(to.begin(), to.end(), item) == to.end()) to.push_back(item);
}

}  // namespace

Result<Declarations> read_declarations(const std::string& path) {
  std::ifstream in(path);
  if (!in) return Status(Kind::Invalid, "cannot read " + path);
  Declarations out;
  std::string line;
  for (int at = 1; std::getline(in, line); ++at)
    if (!line.empty() && line[0] != '#' && !read_line(parts_of(line), out))
      return Status(Kind::Corrupt, path + ":" + std::to_string(at) + ": no declaration");
  if (out.functions.empty()) return Status(Kind::Corrupt, path + ": no function");
  return out;
}

std::string text_of(const Declarations& declarations) {
  std::string out = Banner;
  for (const std::string& source : declarations.sources) out += "S\t" + source + "\n";
  for (const Function& fn : declarations.functions) {
    out += "F\t" + fn.name + "\t" + fn.header + "\t" + text_of(fn.result) + "\n";
    for (const Parameter& p : fn.params) out += "P\t" + p.name + "\t" + text_of(p.type) + "\n";
  }
  for (const Value& value : declarations.values) {
    out += "V\t" + value.name + "\t" + std::to_string(value.value) + "\t";
    for (const std::string& group : value.groups) out += (&group == value.groups.data() ? "" : " ") + group;
    out += "\n";
  }
  for (const std::string& type : declarations.bitfields) out += "B\t" + type + "\n";
  return out;
}

std::vector<std::string> add_newer(Declarations& all, const Declarations& newer) {
  std::vector<std::string> left_out;
  add_missing(all.sources, newer.sources);
  add_missing(all.bitfields, newer.bitfields);
  std::map<std::string, size_t> functions, values;
  for (size_t i = 0; i < all.functions.size(); ++i) functions[all.functions[i].name] = i;
  for (size_t i = 0; i < all.values.size(); ++i) values[all.values[i].name] = i;
  for (const Function& fn : newer.functions) {
    const auto old = functions.find(fn.name);
    if (old == functions.end())
      all.functions.push_back(fn);
    else if (prototype(all.functions[old->second]) != prototype(fn))
      left_out.push_back(fn.name + ": now " + prototype(fn));
  }
  for (const Value& value : newer.values) {
    const auto old = values.find(value.name);
    if (old == values.end())
      all.values.push_back(value);
    else if (all.values[old->second].value != value.value)
      left_out.push_back(value.name + ": now " + std::to_string(value.value));
    else
      add_missing(all.values[old->second].groups, value.groups);
  }
  return left_out;
}

}  // namespace gt::api::gen
