// gen_table: writes gen/*.inc and exports.map from gen/declarations.txt and annotations.txt.
//
//   gen_table ANNOTATIONS DECLARATIONS OLD_IDS OUT_DIRECTORY
//
// Stops with one line when a parameter has no role: an unknown pointer is never guessed at.
// Function numbers are read back from OLD_IDS and only appended.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "traces/api/declarations.h"
#include "traces/base/command.h"

namespace gt::api::gen {
namespace {

using Lines = std::map<std::string, std::string>;

struct Annotations {
  Lines roles, effects, results, properties, groups;
  std::map<std::string, Lines> attributes;
  std::map<std::string, std::string> exports;  // function -> "12"
  std::set<std::string> used;

  // "function.parameter", else "*.parameter".
  std::string find(const Lines& lines, const std::string& fn, const std::string& param) {
    for (const std::string& key : {fn + "." + param, "*." + param})
      if (const auto it = lines.find(key); it != lines.end()) {
        used.insert(key);
        return it->second;
      }
    return "";
  }
};

std::string trim(const std::string& s) {
  const size_t begin = s.find_first_not_of(" \t");
  return begin == std::string::npos ? "" : s.substr(begin, s.find_last_not_of(" \t") - begin + 1);
}

Result<Annotations> read_annotations(const std::string& path) {
  Annotations out;
  std::ifstream in(path);
  if (!in) return Status(Kind::Invalid, "cannot read " + path);
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    line = trim(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    const size_t equals = line.find(" = ");
    if (equals == std::string::npos)
      return Status(Kind::Corrupt, path + ":" + std::to_string(number) + ": no ' = '");
    const std::string left = trim(line.substr(0, equals)), right = trim(line.substr(equals + 3));
    const size_t space = left.find(' ');
    const std::string word = space == std::string::npos ? "" : left.substr(0, space);
    const std::string key = trim(left.substr(space == std::string::npos ? 0 : space));
    std::istringstream words(right);
    std::string item;
    if (word.empty()) {
      out.roles[key] = right;
    } else if (word == "effect") {
      out.effects[key] = right;
    } else if (word == "result") {
      out.results[key] = right;
    } else if (word == "property") {
      out.properties[key] = right;
    } else if (word == "group") {
      out.groups[key] = right;
    } else if (word == "export") {
      while (words >> item) out.exports[item] = std::string{key[0], key[2]};
    } else if (word == "attr") {
      while (words >> item)
        out.attributes[key][item.substr(0, item.find('='))] = item.substr(item.find('=') + 1);
    } else {
      return Status(Kind::Corrupt,
                    path + ":" + std::to_string(number) + ": unknown word '" + word + "'");
    }
  }
  return out;
}

const std::map<std::string, std::string> HandleKinds = {
    {"_cl_platform_id", "Platform"},
    {"_cl_device_id", "Device"},
    {"_cl_context", "Context"},
    {"_cl_command_queue", "Queue"},
    {"_cl_mem", "Buffer"},
    {"_cl_sampler", "Sampler"},
    {"_cl_program", "Program"},
    {"_cl_kernel", "Kernel"},
    {"_cl_event", "Event"},
    {"_cl_semaphore_khr", "Semaphore"},
    {"_cl_command_buffer_khr", "CommandBuffer"},
    {"_cl_mutable_command_khr", "MutableCommand"}};
std::string kind_of(const Type& type) {
  const auto it = HandleKinds.find(type.handle);
  return it == HandleKinds.end() ? "OtherHandle" : it->second;
}

bool ends_with(const std::string& s, const std::string& tail) {
  return s.size() >= tail.size() && s.compare(s.size() - tail.size(), tail.size(), tail) == 0;
}

class Table {
 public:
  Table(Declarations declarations, Annotations annotations)
      : h_(std::move(declarations)), a_(std::move(annotations)) {}

  Status build();
  void read_ids(const std::string& path);
  Status number();
  Status write(const std::string& directory) const;

 private:
  struct Row {
    const Function* fn;
    int id = 0;
    std::string since;  // "12", "" when not exported
    std::string result_role, attributes;
    std::vector<std::string> roles, groups;
  };

  int index(const Function& fn, const std::string& param) const {
    for (size_t i = 0; i < fn.params.size(); ++i)
      if (fn.params[i].name == param) return static_cast<int>(i);
    return -1;
  }
  std::string count(const Function& fn, const std::string& name) const;
  Result<std::string> role(const Function& fn, size_t i);
  std::string guess(const Function& fn, size_t i) const;
  Result<std::string> expand(const Function& fn, const std::string& role,
                             const std::string& effect) const;
  Result<std::string> result_role(const Function& fn);
  Result<std::string> attributes(const Function& fn, const Row& row);
  std::string results(const std::string& type);
  const Value* value(const std::string& name) const {
    for (const Value& v : h_.values)
      if (v.name == name) return &v;
    return nullptr;
  }
  std::string banner(const char* what) const {
    return std::string("// ") + what +
           "\n// Generated by gen_table: edit annotations.txt, then build the target "
           "`regenerate`.\n";
  }
  std::string ids() const;
  std::string table() const;
  std::string exports() const;
  std::string map() const;
  std::string enums() const;
  std::string properties() const;

  Declarations h_;
  Annotations a_;
  std::vector<Row> rows_;
  std::map<std::string, int> old_ids_;
};

std::string Table::count(const Function& fn, const std::string& name) const {
  if (name == "extent") return "Extent";
  if (name.rfind("fixed:", 0) == 0) return "Fixed<" + name.substr(6) + ">";
  const int i = index(fn, name);
  return i < 0 ? "" : "Count<" + std::to_string(i) + ">";
}

// What the names and types alone tell; "" when they do not.
std::string Table::guess(const Function& fn, size_t i) const {
  const Parameter& p = fn.params[i];
  const Type& t = p.type;
  const std::string before = i > 0 ? fn.params[i - 1].name : "";
  const std::string after = i + 1 < fn.params.size() ? fn.params[i + 1].name : "";
  if (t.function) return "Callback";
  if (p.name == "user_data") return "UserData";
  if (!t.pointer) return t.handle.empty() ? "Val" : "Use<" + kind_of(t) + ">";
  if (p.name == "errcode_ret") return "ErrcodeRet";
  const bool counted = i > 0 && !fn.params[i - 1].type.pointer && before.rfind("num_", 0) == 0;
  if (!t.handle.empty() && t.depth == 1) {
    if (t.const_pointee && counted) return "InHandles<" + before + "," + kind_of(t) + ">";
    if (!t.const_pointee && p.name == "event") return "OutHandle<Event>";
    if (!t.const_pointee && counted && after.rfind("num_", 0) == 0)
      return "OutHandles<" + before + "," + after + "," + kind_of(t) + ">";
  }
  if (p.name == "param_value" && t.is_void) {
    const std::string name = "param_name,param_value_size";
    return t.const_pointee ? "InInfo<" + name + ">" : "InfoOut<" + name + ",param_value_size_ret>";
  }
  if (t.is_char && t.const_pointee && t.depth == 1) return "InString";
  if (!t.const_pointee && !t.is_void && t.depth == 1 &&
      (ends_with(p.name, "_ret") || p.name.rfind("num_", 0) == 0))
    return "OutSizeRet";
  if (t.const_pointee && !t.is_void && t.depth == 1 &&
      (ends_with(p.name, "properties") || ends_with(p.name, "_props")))
    return "InList";
  return "";
}

// The parts of `type`'s query answers that are not plain bytes: ", HandlesWhen<0x1081, K::Device>".
std::string Table::results(const std::string& type) {
  std::string out;
  for (const auto& [key, what] : a_.results) {
    if (key.rfind(type + ".", 0) != 0) continue;
    const Value* v = value(key.substr(type.size() + 1));
    if (!v) continue;
    char number[24];
    std::snprintf(number, sizeof number, "0x%lx", static_cast<unsigned long>(v->value));
    if (what == "list")
      out += std::string(", ListWhen<") + number + ">";
    else if (what == "opaque")
      out += std::string(", OpaqueWhen<") + number + ">";
    else
      out += std::string(", HandlesWhen<") + number + ", K::" + what + ">";
  }
  return out;
}

// "HostIn<size>" -> "HostIn<Count<4>>". Names of parameters become counts or indices, by the role.
Result<std::string> Table::expand(const Function& fn, const std::string& role,
                                  const std::string& effect) const {
  const size_t open = role.find('<');
  const std::string name = role.substr(0, open);
  std::vector<std::string> in, out;
  if (open != std::string::npos) {
    std::istringstream items(role.substr(open + 1, role.size() - open - 2));
    for (std::string item; std::getline(items, item, ',');) in.push_back(trim(item));
  }
  // Which arguments of the role are plain indices, and where its kind is.
  static const std::map<std::string, std::set<size_t>> Indices = {
      {"InBlobs", {1}},  {"InPlaces", {0}},   {"HostInit", {1}},      {"OutArray", {1}},
      {"OutBytes", {1}}, {"OutHandles", {1}}, {"InfoOut", {0, 1, 2}}, {"InInfo", {0, 1}}};
  static const std::map<std::string, size_t> KindAt = {
      {"Use", 0},       {"Ptr", 0},        {"NewHandle", 0},  {"NewMemory", 0}, {"OutHandle", 0},
      {"InHandles", 1}, {"InPointers", 1}, {"OutHandles", 2}, {"InStruct", 1}};
  for (size_t i = 0; i < in.size(); ++i) {
    const auto kind = KindAt.find(name);
    const auto indices = Indices.find(name);
    if (kind != KindAt.end() && kind->second == i) {
      out.push_back("K::" + in[i]);
    } else if (name == "InStruct") {
      out.push_back(in[i]);
    } else if (indices != Indices.end() && indices->second.count(i)) {
      const int at = index(fn, in[i]);
      if (at < 0 && in[i] != "none")
        return Status(Kind::Corrupt, fn.name + ": " + role + ": no parameter " + in[i]);
      out.push_back(at < 0 ? "NoRet" : std::to_string(at));
    } else {
      out.push_back(count(fn, in[i]));
      if (out.back().empty())
        return Status(Kind::Corrupt, fn.name + ": " + role + ": no parameter " + in[i]);
    }
  }
  if (!effect.empty() && name.rfind("Host", 0) != 0) out.push_back("E::" + effect);
  std::string text = name;
  for (size_t i = 0; i < out.size(); ++i) text += (i ? ", " : "<") + out[i];
  return text + (out.empty() ? "" : ">");
}

Result<std::string> Table::role(const Function& fn, size_t i) {
  const Parameter& p = fn.params[i];
  std::string role = a_.find(a_.roles, fn.name, p.name);
  if (role.empty()) role = guess(fn, i);
  if (role.empty())
    return Status(Kind::Corrupt, fn.name + "." + p.name + " (" + p.type.text +
                                     ") has no role: add it to annotations.txt");
  std::string effect = a_.find(a_.effects, fn.name, p.name);
  if (effect.empty() && fn.name.rfind("clRelease", 0) == 0 && i == 0 && role.rfind("Use<", 0) == 0)
    effect = "Release";
  Result<std::string> text = expand(fn, role, effect);
  if (!text) return text;
  if (role.rfind("InfoOut", 0) == 0 || role.rfind("InInfo", 0) == 0) {
    const int name = index(fn, "param_name");
    text.value().insert(text.value().size() - 1,
                        results(fn.params[static_cast<size_t>(name)].type.name));
  }
  return text;
}

Result<std::string> Table::result_role(const Function& fn) {
  const std::string role = a_.find(a_.roles, fn.name, "return");
  if (!role.empty() && role.find('<') != std::string::npos) return expand(fn, role, "");
  if (!role.empty()) return role;
  if (!fn.result.handle.empty()) return "NewHandle<K::" + kind_of(fn.result) + ">";
  if (fn.result.text == "void") return std::string("Nothing");
  if (fn.result.text == "cl_int") return std::string("Code");
  return Status(Kind::Corrupt,
                fn.name + " returns " + fn.result.text + ": add a role for it to annotations.txt");
}

Result<std::string> Table::attributes(const Function& fn, const Row& row) {
  Lines given;
  if (const auto it = a_.attributes.find(fn.name); it != a_.attributes.end()) given = it->second;
  for (const Parameter& p : fn.params)
    if (p.name.rfind("blocking_", 0) == 0) given["blocking"] = p.name;
  const std::string kind = fn.params.empty() ? "" : kind_of(fn.params[0].type);
  if (fn.name.rfind("clRelease", 0) == 0) given["releases"] = kind;
  if (fn.name.rfind("clRetain", 0) == 0) given["retains"] = kind;
  if (row.result_role.rfind("New", 0) == 0)
    given["creates"] = row.result_role.substr(
        row.result_role.find("K::") + 3,
        row.result_role.find_first_of(",>") - row.result_role.find("K::") - 3);
  std::string out;
  for (const char* name :
       {"blocking", "size", "region", "image", "whole", "flags", "pitches", "part", "format", "source", "il", "options",
        "headers", "replays", "updates", "kernel_index", "kernel_value", "transfer", "direction", "records", "launch",
        "on_host", "waits", "releases", "retains", "creates"}) {
    const auto it = given.find(name);
    if (it == given.end()) continue;
    std::string text = it->second;
    const std::string field = name;
    if (field == "transfer")
      text = "Transfer::" + text;
    else if (field == "direction")
      text = "DirectionRule::" + text;
    else if (field == "releases" || field == "retains" || field == "creates")
      text = "K::" + text;
    else if (field != "launch" && field != "waits" && field != "records" && field != "on_host") {
      const int i = index(fn, text);
      if (i < 0) return Status(Kind::Corrupt, "attr " + fn.name + ": no parameter " + text);
      text = std::to_string(i);
    }
    out += "." + field + " = " + text + ", ";
  }
  out += row.since.empty() ? ".extension = true" : ".since = " + row.since;
  return out;
}

Status Table::build() {
  for (const Function& fn : h_.functions) {
    Row row;
    row.fn = &fn;
    if (const auto it = a_.exports.find(fn.name); it != a_.exports.end()) row.since = it->second;
    if (row.since.empty() && fn.header == "cl.h")
      return Status(
          Kind::Corrupt,
          fn.name + " is a core function without a symbol version: add it to annotations.txt");
    Result<std::string> text = result_role(fn);
    if (!text) return text.status();
    row.result_role = *text;
    for (size_t i = 0; i < fn.params.size(); ++i) {
      text = role(fn, i);
      if (!text) return text.status();
      row.roles.push_back(*text);
      const std::string group = a_.find(a_.groups, fn.name, fn.params[i].name);
      row.groups.push_back(group.empty() ? fn.params[i].type.name : group);
    }
    text = attributes(fn, row);
    if (!text) return text.status();
    row.attributes = *text;
    rows_.push_back(std::move(row));
  }
  for (const auto& shown : a_.exports)
    if (std::none_of(rows_.begin(), rows_.end(), [&](const Row& r) { return r.fn->name == shown.first; }))
      return Status(Kind::Corrupt, "export " + shown.first + ": not declared");
  for (const auto& [key, role] : a_.roles)
    if (!a_.used.count(key))
      return Status(Kind::Corrupt, "annotation " + key + " names no parameter");
  return {};
}

void Table::read_ids(const std::string& path) {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    char name[128];
    int id = 0;
    if (std::sscanf(line.c_str(), "GT_FN_ID(%127[^,], %d)", name, &id) == 2)
      old_ids_[name] = id;
  }
}

Status Table::number() {
  std::map<std::string, int> gone = old_ids_;
  int next = 1;  // 0 is no function
  for (const auto& [name, id] : old_ids_) next = std::max(next, id + 1);
  for (Row& row : rows_) {
    const auto it = old_ids_.find(row.fn->name);
    row.id = it != old_ids_.end() ? it->second : next++;
    gone.erase(row.fn->name);
  }
  if (!gone.empty())
    return Status(Kind::Corrupt, gone.begin()->first + " is in the table but not declared");
  std::sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) { return a.id < b.id; });
  return {};
}

std::string Table::ids() const {
  std::string out =
      banner("The numbers of the functions: part of the formats, appended, never reused.");
  for (const Row& row : rows_)
    out += "GT_FN_ID(" + row.fn->name + ", " + std::to_string(row.id) + ")\n";
  return out;
}

std::string Table::table() const {
  std::string out = banner("Every OpenCL function and what its parameters are (roles.h).");
  for (const Row& row : rows_) {
    const Function& fn = *row.fn;
    out += "\nGT_BEGIN(" + fn.name + ", " + fn.result.text + ", " + row.result_role + ")\n";
    for (size_t i = 0; i < fn.params.size(); ++i)
      out += "GT_PARAM(" + fn.params[i].type.text + ", " + fn.params[i].name + ", \"" +
             row.groups[i] + "\", " + row.roles[i] + ")\n";
    out += "GT_END(" + fn.name + ", " + row.attributes + ")\n";
  }
  return out;
}

std::string declaration(const Parameter& p) {
  const size_t star = p.type.text.find("(CL_CALLBACK*)");
  if (star == std::string::npos) return p.type.text + " " + p.name;
  std::string text = p.type.text;
  return text.insert(star + 13, " " + p.name);
}

std::string Table::exports() const {
  std::string out = banner("Every OpenCL function as C declares it.");
  out +=
      "// GT_CL_EXPORT: symbols of the ICD loader. GT_CL_EXTENSION: reached through "
      "clGetExtensionFunctionAddress*.\n"
      "//   (name, return type, (parameters), (argument names), symbol version as 10 * major + "
      "minor, or 0)\n";
  for (const Row& row : rows_) {
    std::string params, names;
    for (const Parameter& p : row.fn->params) {
      params += (params.empty() ? "" : ", ") + declaration(p);
      names += (names.empty() ? "" : ", ") + p.name;
    }
    out += std::string(row.since.empty() ? "GT_CL_EXTENSION(" : "GT_CL_EXPORT(") + row.fn->name +
           ", " + row.fn->result.text + ", (" + (params.empty() ? "void" : params) + "), (" +
           names + "), " + (row.since.empty() ? "0" : row.since) + ")\n";
  }
  return out;
}

std::string Table::map() const {
  std::map<std::string, std::vector<std::string>> versions;
  for (const Row& row : rows_)
    if (!row.since.empty()) versions[row.since].push_back(row.fn->name);
  std::string out = "/* Symbol versions as in the ICD loader. Generated by gen_table. */\n", parent;
  for (auto& [version, names] : versions) {
    std::sort(names.begin(), names.end());
    const std::string label = std::string("OPENCL_") + version[0] + "." + version[1];
    out += label + " {\n  global:\n";
    for (const std::string& name : names) out += "    " + name + ";\n";
    if (parent.empty()) out += "  local:\n    *;\n";
    out += "}" + (parent.empty() ? "" : " " + parent) + ";\n";
    parent = label;
  }
  return out;
}

std::string Table::enums() const {
  std::map<std::string, std::vector<const Value*>> groups;
  for (const Value& v : h_.values) {
    // Error codes are the negative values of the blocks without a type.
    const bool error = v.value < 0 && v.value > -2000 && v.name.find("_END") == std::string::npos;
    for (const std::string& group : v.groups)
      if (group != "error") groups[group].push_back(&v);
    if (error || v.name == "CL_SUCCESS") groups["error"].push_back(&v);
  }
  std::string out = banner("The names of OpenCL's values, by the type that they belong to.");
  for (auto& [group, values] : groups) {
    const bool bits = std::count(h_.bitfields.begin(), h_.bitfields.end(), group) > 0;
    std::set<int64_t> seen;
    out += "GT_GROUP(" + group + ", " + (bits ? "true" : "false") + ")\n";
    for (const Value* v : values)
      if (seen.insert(v->value).second)
        out += "GT_VALUE(" + group + ", " + v->name + ", " + std::to_string(v->value) + ")\n";
  }
  return out;
}

std::string Table::properties() const {
  std::string out =
      banner("Keys of property lists whose value is a handle, or a list up to an end mark.");
  for (const auto& [name, what] : a_.properties) {
    const Value* v = value(name);
    if (!v) continue;
    const std::string number = std::to_string(v->value);
    const size_t kind = what.find(':', 5);
    if (what.rfind("list:", 0) == 0)
      out += "GT_PROPERTY_LIST(" + name + ", " + number + ", " +
             what.substr(5, kind == what.npos ? kind : kind - 5) + ", " +
             (kind == what.npos ? "Unknown" : what.substr(kind + 1)) + ")\n";
    else
      out += "GT_PROPERTY_HANDLE(" + name + ", " + number + ", " + what + ")\n";
  }
  return out;
}

// Leaves a file alone that is as it should be, so that nothing is rebuilt.
Status write_file(const std::string& path, const std::string& text) {
  std::ifstream in(path);
  std::stringstream old;
  old << in.rdbuf();
  if (in && old.str() == text) return {};
  std::ofstream out(path);
  out << text;
  return out.flush() ? Status() : Status(Kind::System, "cannot write " + path);
}

Status Table::write(const std::string& directory) const {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  GT_TRY(write_file(directory + "/fn_ids.inc", ids()));
  GT_TRY(write_file(directory + "/api_table.inc", table()));
  GT_TRY(write_file(directory + "/exports.inc", exports()));
  GT_TRY(write_file(directory + "/exports.map", map()));
  GT_TRY(write_file(directory + "/enums.inc", enums()));
  return write_file(directory + "/properties.inc", properties());
}

int run(int argc, char** argv) {
  if (argc != 5)
    return fail("gen_table",
                Status(Kind::Invalid, "usage: gen_table ANNOTATIONS DECLARATIONS OLD_IDS OUT_DIRECTORY"));
  Result<Annotations> annotations = read_annotations(argv[1]);
  if (!annotations) return fail("gen_table", annotations.status());
  Result<Declarations> declarations = read_declarations(argv[2]);
  if (!declarations) return fail("gen_table", declarations.status());
  Table table(std::move(*declarations), std::move(*annotations));
  table.read_ids(argv[3]);
  Status built = table.build();
  if (built.ok()) built = table.number();
  if (built.ok()) built = table.write(argv[4]);
  return built.ok() ? ExitOk : fail("gen_table", built);
}

}  // namespace
}  // namespace gt::api::gen

int main(int argc, char** argv) { return gt::api::gen::run(argc, argv); }
