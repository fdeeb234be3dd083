// Reads the OpenCL headers with libclang.
#include "traces/api/gen_headers.h"

#include <clang-c/Index.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

namespace gt::api::gen {
namespace {

// Headers whose types are the same in every version that we support. (OpenCL 3.1 has types more; no function of it
// takes them.)
const std::set<std::string> CoreHeaders = {"cl.h", "cl_platform.h", "cl_gl.h", "cl_egl.h"};
constexpr const char* Source = R"(
#define CL_TARGET_OPENCL_VERSION 310
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#define CL_ENABLE_BETA_EXTENSIONS
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <CL/cl_gl.h>
#include <CL/cl_egl.h>
)";

std::string text_of(CXString s) {
  const char* c = clang_getCString(s);
  std::string out = c ? c : "";
  clang_disposeString(s);
  return out;
}

std::string header_of(CXCursor cursor) {
  CXFile file = nullptr;
  clang_getExpansionLocation(clang_getCursorLocation(cursor), &file, nullptr, nullptr, nullptr);
  const std::string path = file ? text_of(clang_getFileName(file)) : "";
  return path.substr(path.rfind('/') + 1);
}

// `const` before the name of a type, behind a pointer: a typedef may stand for one.
std::string qualified(const std::string& qualifier, const std::string& text) {
  if (qualifier.empty() || text.back() != '*') return qualifier + text;
  return text + " const";
}

// A type in the words of the core headers: other typedefs are replaced by what they stand for.
std::string portable(CXType type) {
  const std::string qualifier = clang_isConstQualifiedType(type) ? "const " : "";
  if (type.kind == CXType_IncompleteArray) return portable(clang_getArrayElementType(type)) + "*";
  if (type.kind == CXType_Pointer) {
    const CXType to = clang_getPointeeType(type);
    if (clang_getCanonicalType(to).kind == CXType_FunctionProto) {
      std::string args;
      for (int i = 0; i < clang_getNumArgTypes(to); ++i)
        args += (i ? ", " : "") + portable(clang_getArgType(to, static_cast<unsigned>(i)));
      return portable(clang_getResultType(to)) + " (CL_CALLBACK*)(" + args + ")";
    }
    return portable(to) + "*" + (qualifier.empty() ? "" : " const");
  }
  if (type.kind == CXType_Elaborated) {
    const CXType named = clang_Type_getNamedType(type);
    if (named.kind == CXType_Typedef) return qualified(qualifier, portable(named));
    return qualifier + "struct " + text_of(clang_getCursorSpelling(clang_getTypeDeclaration(type)));
  }
  if (type.kind == CXType_Typedef) {
    const CXCursor declaration = clang_getTypeDeclaration(type);
    const std::string name = text_of(clang_getCursorSpelling(declaration));
    if (CoreHeaders.count(header_of(declaration)) || name == "size_t") return qualifier + name;
    return qualified(qualifier, portable(clang_getTypedefDeclUnderlyingType(declaration)));
  }
  return text_of(clang_getTypeSpelling(type));
}

// "_cl_mem" for cl_mem; "" for anything else.
std::string handle_of(CXType type) {
  const CXType canonical = clang_getCanonicalType(type);
  if (canonical.kind != CXType_Pointer) return "";
  const CXType to = clang_getPointeeType(canonical);
  if (to.kind != CXType_Record) return "";
  const std::string name = text_of(clang_getCursorSpelling(clang_getTypeDeclaration(to)));
  return name.rfind("_cl_", 0) == 0 && clang_Type_getSizeOf(to) < 0 ? name : "";
}

Type describe(CXType type) {
  Type out;
  out.text = portable(type);
  while (handle_of(type).empty()) {
    const CXType canonical = clang_getCanonicalType(type);
    const bool array = canonical.kind == CXType_IncompleteArray;
    if (canonical.kind != CXType_Pointer && !array) break;
    // A typedef for a pointer that is not one of OpenCL's handles (a GL sync object) is an opaque
    // value.
    if (type.kind == CXType_Typedef || type.kind == CXType_Elaborated) {
      out.name = text_of(clang_getTypeSpelling(type));
      return out;
    }
    const CXType to = array ? clang_getArrayElementType(type) : clang_getPointeeType(type);
    out.pointer = true;
    out.const_pointee = clang_isConstQualifiedType(to);
    out.function |= clang_getCanonicalType(to).kind == CXType_FunctionProto;
    ++out.depth;
    type = to;
  }
  out.handle = handle_of(type);
  const CXTypeKind kind = clang_getCanonicalType(type).kind;
  out.is_void = kind == CXType_Void;
  out.is_char = kind == CXType_Char_S;
  if (!out.function) {
    out.name = text_of(clang_getTypeSpelling(type));
    if (out.name.rfind("const ", 0) == 0) out.name = out.name.substr(6);
    if (out.name == "size_t" || out.is_void || out.is_char || out.name == "unsigned char")
      out.name = "";
  }
  return out;
}

bool is_opencl_function(const std::string& name, const std::string& header) {
  if (name.size() < 3 || name.rfind("cl", 0) != 0 ||
      !std::isupper(static_cast<unsigned char>(name[2])))
    return false;
  return header.rfind("cl", 0) == 0;
}

struct Visit {
  Declarations* out;
  std::set<std::string> types;
  std::map<std::string, CXFile> files;
};

CXChildVisitResult visit(CXCursor cursor, CXCursor, CXClientData data) {
  auto& state = *static_cast<Visit*>(data);
  const std::string name = text_of(clang_getCursorSpelling(cursor));
  const std::string header = header_of(cursor);
  if (header.rfind("cl", 0) == 0) {
    CXFile file = nullptr;
    clang_getExpansionLocation(clang_getCursorLocation(cursor), &file, nullptr, nullptr, nullptr);
    state.files[header] = file;
  }
  if (clang_getCursorKind(cursor) == CXCursor_TypedefDecl && name.rfind("cl_", 0) == 0) {
    state.types.insert(name);
    for (CXCursor c = cursor;;) {
      const CXType under = clang_getTypedefDeclUnderlyingType(c);
      CXType inner = under.kind == CXType_Elaborated ? clang_Type_getNamedType(under) : under;
      if (text_of(clang_getTypeSpelling(inner)) == "cl_bitfield")
        state.out->bitfields.push_back(name);
      if (inner.kind != CXType_Typedef) break;
      c = clang_getTypeDeclaration(inner);
    }
  }
  if (clang_getCursorKind(cursor) == CXCursor_FunctionDecl && is_opencl_function(name, header)) {
    Function fn;
    fn.name = name;
    fn.header = header;
    const CXType type = clang_getCursorType(cursor);
    fn.result = describe(clang_getResultType(type));
    for (int i = 0; i < clang_getNumArgTypes(type); ++i) {
      const std::string param = text_of(
          clang_getCursorSpelling(clang_Cursor_getArgument(cursor, static_cast<unsigned>(i))));
      fn.params.push_back({describe(clang_getArgType(type, static_cast<unsigned>(i))),
                           param.empty() ? "arg" + std::to_string(i) : param});
    }
    const auto same = [&](const Function& f) { return f.name == name; };
    if (std::none_of(state.out->functions.begin(), state.out->functions.end(), same))
      state.out->functions.push_back(std::move(fn));
  }
  return CXChildVisit_Continue;
}

// Types of numbers, which newer headers name above values of structures' fields: a value of such a type has no name.
const std::set<std::string> PlainTypes = {"cl_int", "cl_uint", "cl_long", "cl_ulong"};

// The types that a comment names: "/* cl_mem_flags and cl_svm_mem_flags - bitfield */".
std::vector<std::string> groups_of(const std::string& comment, const std::set<std::string>& types) {
  std::vector<std::string> out;
  if (comment.find("Error Codes") != std::string::npos ||
      comment.find("rror code") != std::string::npos)
    return {"error"};
  if (comment.find("command execution status") != std::string::npos)
    return {"cl_command_execution_status"};
  for (size_t i = 0; i < comment.size(); ++i) {
    if (comment.compare(i, 3, "cl_") != 0 ||
        (i > 0 && (std::isalnum(comment[i - 1]) || comment[i - 1] == '_')))
      continue;
    size_t end = i;
    while (end < comment.size() && (std::isalnum(comment[end]) || comment[end] == '_')) ++end;
    const std::string word = comment.substr(i, end - i);
    if (types.count(word) && !PlainTypes.count(word)) out.push_back(word);
    i = end;
  }
  return out;
}

// Every "#define CL_NAME value" of one header, with the types that the comment above it names.
void read_values(CXTranslationUnit unit, CXFile file, const std::set<std::string>& types,
                 std::map<std::string, Value>& values, std::vector<std::string>& order) {
  size_t size = 0;
  clang_getFileContents(unit, file, &size);
  const CXSourceRange range =
      clang_getRange(clang_getLocationForOffset(unit, file, 0),
                     clang_getLocationForOffset(unit, file, static_cast<unsigned>(size)));
  CXToken* tokens = nullptr;
  unsigned count = 0;
  clang_tokenize(unit, range, &tokens, &count);
  std::vector<std::string> groups;
  unsigned last_line = 0;
  for (unsigned i = 0; i < count; ++i) {
    unsigned line = 0;
    clang_getExpansionLocation(clang_getTokenLocation(unit, tokens[i]), nullptr, &line, nullptr,
                               nullptr);
    const std::string text = text_of(clang_getTokenSpelling(unit, tokens[i]));
    if (clang_getTokenKind(tokens[i]) == CXToken_Comment && line != last_line &&
        text.find("eserved") == std::string::npos)
      groups = groups_of(text, types);
    if (text == "#" && i + 2 < count &&
        text_of(clang_getTokenSpelling(unit, tokens[i + 1])) == "define") {
      const std::string name = text_of(clang_getTokenSpelling(unit, tokens[i + 2]));
      if (name.rfind("CL_", 0) == 0) {
        if (!values.count(name)) order.push_back(name);
        Value& value = values[name];
        value.name = name;
        value.groups.insert(value.groups.end(), groups.begin(), groups.end());
      }
    }
    last_line = line;
  }
  clang_disposeTokens(unit, tokens, count);
}

CXChildVisitResult read_value(CXCursor cursor, CXCursor, CXClientData data) {
  const std::string name = text_of(clang_getCursorSpelling(cursor));
  if (clang_getCursorKind(cursor) == CXCursor_VarDecl && name.rfind("gt_", 0) == 0) {
    if (CXEvalResult result = clang_Cursor_Evaluate(cursor)) {
      if (clang_EvalResult_getKind(result) == CXEval_Int)
        (*static_cast<std::map<std::string, int64_t>*>(data))[name.substr(3)] =
            clang_EvalResult_getAsLongLong(result);
      clang_EvalResult_dispose(result);
    }
  }
  return CXChildVisit_Continue;
}

CXTranslationUnit parse(CXIndex index, const std::string& source,
                        const std::string& include_directory) {
  CXUnsavedFile file{"opencl.c", source.c_str(), source.size()};
  const std::string include = "-I" + include_directory;
  const char* args[] = {include.c_str(), "-xc", "-std=c11", "-ferror-limit=0"};
  return clang_parseTranslationUnit(index, "opencl.c", args, 4, &file, 1, CXTranslationUnit_None);
}

}  // namespace

Result<Declarations> read_headers(const std::string& include_directory) {
  Declarations out;
  CXIndex index = clang_createIndex(0, 0);
  CXTranslationUnit unit = parse(index, Source, include_directory);
  if (!unit) return Status(Kind::Unsupported, "libclang cannot parse the OpenCL headers");
  for (unsigned i = 0; i < clang_getNumDiagnostics(unit); ++i) {
    CXDiagnostic d = clang_getDiagnostic(unit, i);
    if (clang_getDiagnosticSeverity(d) >= CXDiagnostic_Error)
      return Status(Kind::Unsupported,
                    text_of(clang_formatDiagnostic(d, clang_defaultDiagnosticDisplayOptions())));
    clang_disposeDiagnostic(d);
  }
  Visit state{&out, {}, {}};
  clang_visitChildren(clang_getTranslationUnitCursor(unit), visit, &state);
  state.types.insert("cl_command_execution_status");

  std::map<std::string, Value> values;
  std::vector<std::string> order;
  for (const auto& [name, file] : state.files)
    read_values(unit, file, state.types, values, order);
  std::string source = Source;
  for (const std::string& name : order)
    source += "const long long gt_" + name + " = (long long)(" + name + ");\n";
  CXTranslationUnit second = parse(index, source, include_directory);
  std::map<std::string, int64_t> numbers;
  if (second) clang_visitChildren(clang_getTranslationUnitCursor(second), read_value, &numbers);
  for (const std::string& name : order) {
    const auto number = numbers.find(name);
    if (number == numbers.end()) continue;
    values[name].value = number->second;
    out.values.push_back(values[name]);
  }
  if (second) clang_disposeTranslationUnit(second);
  clang_disposeTranslationUnit(unit);
  clang_disposeIndex(index);
  if (out.functions.empty())
    return Status(Kind::Unsupported, "no OpenCL function in " + include_directory);
  return out;
}

}  // namespace gt::api::gen
