// Parsing with the program's options, and the table of its kernels.
#include "analyzer/kernels/parse_source.h"

#include <dlfcn.h>
#include <sys/stat.h>

#include <cstdlib>
#include <memory>
#include <optional>

#include "analyzer/kernels/arg_access.h"
#include "analyzer/kernels/build_options.h"
#include "analyzer/kernels/variants.h"
#include "analyzer/kernels/written_type.h"

namespace gt::kernels {
namespace {

struct UnitEnd {
  void operator()(CXTranslationUnit u) const { clang_disposeTranslationUnit(u); }
};
struct IndexEnd {
  void operator()(void* i) const { clang_disposeIndex(i); }
};
using Unit = std::unique_ptr<std::remove_pointer_t<CXTranslationUnit>, UnitEnd>;

bool exists(const std::string& path) {
  struct stat s;
  return ::stat(path.c_str(), &s) == 0;
}

// clang's own headers (opencl-c-base.h declares the built-in types): beside the libclang that is
// loaded.
std::string clang_headers() {
  std::string version = take(clang_getClangVersion());  // "Debian clang version 14.0.6"
  const size_t at = version.find("version ");
  if (at == std::string::npos) return {};
  version.erase(0, at + 8);
  version.erase(std::min(version.find_first_not_of("0123456789."), version.size()));
  const std::string major = version.substr(0, version.find('.'));
  std::vector<std::string> roots;
  Dl_info info;
  if (::dladdr(reinterpret_cast<void*>(&clang_createIndex), &info) && info.dli_fname) {
    if (char* real = ::realpath(info.dli_fname, nullptr)) {
      const std::string path = real;
      std::free(real);
      roots.push_back(path.substr(0, path.rfind('/')) + "/clang/");
    }
  }
  roots.insert(roots.end(), {"/usr/lib/llvm-" + major + "/lib/clang/", "/usr/lib/clang/", "/usr/lib64/clang/",
                             "/usr/local/lib/clang/"});
  for (const std::string& root : roots) {
    for (const std::string& v : {version, major}) {
      if (exists(root + v + "/include/opencl-c-base.h")) return root + v + "/include";
    }
  }
  return {};
}

Unit parse(CXIndex index, std::string_view source, const BuildOptions& options, const std::string& standard,
           const std::string& headers) {
  std::vector<std::string> words = {"-x",
                                    "cl",
                                    "-target",
                                    "spir64-unknown-unknown",
                                    "-cl-std=" + standard,
                                    "-w",
                                    "-fgnu-keywords",
                                    "-ferror-limit=1"};
  words.insert(words.end(), options.arguments.begin(), options.arguments.end());
  if (!headers.empty()) words.insert(words.end(), {"-isystem", headers});
  std::vector<const char*> args;
  for (const std::string& w : words) args.push_back(w.c_str());
  CXUnsavedFile file{"kernel.cl", source.data(), source.size()};
  CXTranslationUnit unit = nullptr;
  clang_parseTranslationUnit2(index, file.Filename, args.data(), static_cast<int>(args.size()), &file, 1,
                              CXTranslationUnit_None, &unit);
  return Unit(unit);
}

std::optional<std::string> first_error(CXTranslationUnit unit) {
  for (unsigned i = 0; i < clang_getNumDiagnostics(unit); ++i) {
    CXDiagnostic d = clang_getDiagnostic(unit, i);
    const bool error = clang_getDiagnosticSeverity(d) >= CXDiagnostic_Error;
    const std::string text = take(clang_formatDiagnostic(d, CXDiagnostic_DisplaySourceLocation));
    clang_disposeDiagnostic(d);
    if (error) return text;
  }
  return std::nullopt;
}

struct Functions {
  Cursors definitions;
  CursorSet declared;
};

Functions find_functions(CXTranslationUnit unit) {
  Functions out;
  for (const CXCursor c : children(clang_getTranslationUnitCursor(unit))) {
    if (clang_getCursorKind(c) != CXCursor_FunctionDecl) continue;
    if (clang_Location_isInSystemHeader(clang_getCursorLocation(c))) continue;
    out.declared.insert(clang_getCanonicalCursor(c));
    if (clang_isCursorDefinition(c)) out.definitions.push_back(c);
  }
  return out;
}

bool is_kernel(CXCursor function) {
  CXPrintingPolicy policy = clang_getCursorPrintingPolicy(function);
  clang_PrintingPolicy_setProperty(policy, CXPrintingPolicy_TerseOutput, 1);
  const std::string text = take(clang_getCursorPrettyPrinted(function, policy));
  clang_PrintingPolicy_dispose(policy);
  for (const std::string_view word : {" kernel ", " __kernel "})  // a keyword: it can be nothing else
    if ((" " + text + " ").find(word) != std::string::npos) return true;
  return false;
}

AddressSpace space_of_argument(CXType t) {
  if (is_image(t) || t.kind == CXType_Pipe) return AddressSpace::Global;
  if (!is_pointer(t)) return AddressSpace::Private;
  switch (space_of(pointee(t))) {
    case SpaceLocal:
      return AddressSpace::Local;
    case SpaceConstant:
      return AddressSpace::Constant;
    default:
      return AddressSpace::Global;
  }
}

// What the declared type lets a kernel do at most.
unsigned type_limit(CXType t) {
  constexpr int Forms = CXType_OCLImage1dWO - CXType_OCLImage1dRO;  // kinds of images, for each qualifier
  if (is_image(t)) return static_cast<unsigned>(1 + (t.kind - CXType_OCLImage1dRO) / Forms);
  if (is_pointer(t)) return space_of(pointee(t)) == SpaceConstant ? 1 : 3;
  return t.kind == CXType_Pipe ? 3 : 0;
}

Kernel describe(CXCursor function, const KernelAccess* access) {
  Kernel k;
  k.name = take(clang_getCursorSpelling(function));
  k.elsewhere = static_cast<Access>(access ? access->unknown : 3);
  const int n = clang_Cursor_getNumArguments(function);
  for (int i = 0; i < n; ++i) {
    const CXCursor parameter = clang_Cursor_getArgument(function, static_cast<unsigned>(i));
    const CXType t = type_of(parameter);
    const unsigned found = access ? access->args[static_cast<size_t>(i)] | access->unknown : 3;
    k.args.push_back({take(clang_getCursorSpelling(parameter)), written_type(parameter), space_of_argument(t),
                      static_cast<Access>(found & type_limit(t))});
  }
  return k;
}

// Everything that is known of one source but its options.
struct Job {
  CXIndex index;
  std::string_view source;
  std::string headers;  // clang's own
};

void describe_kernels(CXTranslationUnit unit, Source& out) {
  Functions functions = find_functions(unit);
  Lowering lowering(std::move(functions.declared));
  std::string intricate;
  for (const CXCursor f : functions.definitions) {
    if (!is_kernel(f)) continue;
    if (!out.exact) {
      out.kernels.push_back(describe(f, nullptr));
      continue;
    }
    const KernelAccess access = find_access(lowering, f);
    const bool complete = access.complete && !lowering.lost_pointers();
    out.kernels.push_back(describe(f, complete ? &access : nullptr));
    if (!complete) intricate = out.kernels.back().name;
  }
  if (intricate.empty()) return;
  out.exact = false;
  out.note = "too intricate, every argument counts as read and written: " + intricate;
}

constexpr size_t MostHeaderBytes = 4 << 20;

struct Headers {
  CXTranslationUnit unit;
  std::string& text;
};
// The text of an included file that is not clang's own.
void add_header(CXFile file, CXSourceLocation*, unsigned depth, CXClientData data) {
  const auto& out = *static_cast<const Headers*>(data);
  size_t size = 0;
  const char* text = depth == 0 ? nullptr : clang_getFileContents(out.unit, file, &size);
  if (!text || out.text.size() + size > MostHeaderBytes) return;
  if (clang_Location_isInSystemHeader(clang_getLocationForOffset(out.unit, file, 0))) return;
  out.text.append("\n").append(text, size);
}

// The text of what the source includes is added to `headers`.
Source read_source(const Job& job, const BuildOptions& build, std::string& headers) {
  Source out;
  std::vector<std::string> standards = {"CL1.2", "CL2.0", "CL3.0"};
  if (!build.standard.empty()) standards = {build.standard};
  Unit unit;
  for (const std::string& standard : standards) {
    Unit next = parse(job.index, job.source, build, standard, job.headers);
    if (!next) continue;
    const auto error = first_error(next.get());
    if (error && out.note.empty()) out.note = "the source does not compile here: " + *error;
    if (error && unit) continue;  // the first attempt's kernels stand, unless a later one is right
    unit = std::move(next);
    out.exact = !error;
    if (out.exact) break;
  }
  if (out.exact) out.note.clear();
  if (build.standard.starts_with("CLC++") || build.standard.starts_with("clc++")) {
    out.exact = false;
    out.note = "C++ for OpenCL is not analysed: every argument counts as read and written";
  }
  if (unit) {
    describe_kernels(unit.get(), out);
    Headers found{unit.get(), headers};
    clang_getInclusions(unit.get(), add_header, &found);
  } else if (out.note.empty()) {
    out.note = "libclang could not read the source";
  }
  return out;
}

}  // namespace

Source parse_source(std::string_view source, std::string_view options) {
  const std::unique_ptr<void, IndexEnd> index(clang_createIndex(0, 0));
  const Job job{index.get(), source, clang_headers()};
  const BuildOptions build = parse_build_options(options);
  std::string all(source);
  Source out = read_source(job, build, all);
  if (job.headers.empty() && !out.exact) out.note = "clang's header opencl-c-base.h is missing";
  if (!out.exact) return out;
  for (const auto& arguments : variant_arguments(device_macros(all))) {
    BuildOptions variant = build;  // what the program itself defines stands
    variant.arguments.insert(variant.arguments.begin(), arguments.begin(), arguments.end());
    std::string ignored;
    const Source other = read_source(job, variant, ignored);
    if (other.exact) merge_variant(out, other);
  }
  return out;
}

}  // namespace gt::kernels
