// Finding the questions, and joining the answers.
#include "analyzer/kernels/variants.h"

#include <algorithm>
#include <cctype>
#include <span>

namespace gt::kernels {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

bool tells_of_device(std::string_view name) {
  constexpr std::string_view Prefixes[] = {
      "cl_",    "__opencl_c_", "__NV",     "__AMD",           "__INTEL",   "__ARM",   "__POCL",
      "__GPU",  "__CPU",       "__QCOM",   "__IMAGE_SUPPORT", "__ENDIAN",  "__APPLE", "__OPENCL_VERSION__",
      "__SPIR", "__has_", "POCL_",       "__x86_64", "__i386",          "__aarch64", "__arm"};
  return std::any_of(std::begin(Prefixes), std::end(Prefixes), [&](auto p) { return name.starts_with(p); });
}

bool is_condition(std::string_view line) {
  const auto skip_blanks = [&line] { line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size())); };
  skip_blanks();
  if (!line.starts_with("#")) return false;
  line.remove_prefix(1);
  skip_blanks();
  return line.starts_with("if") || line.starts_with("elif");
}

void collect(std::string_view line, std::vector<std::string>& out) {
  for (size_t i = 0; i < line.size();) {
    size_t end = i;
    while (end < line.size() && is_word(line[end])) ++end;
    const std::string_view name = line.substr(i, end - i);
    if (name == "__has_include") return;  // of files, and those are here or not
    if (tells_of_device(name) && std::find(out.begin(), out.end(), name) == out.end()) out.emplace_back(name);
    i = std::max(end, i + 1);
  }
}

void widen(Kernel& into, const Kernel& other) {
  const auto join = [](Access& a, Access b) {
    a = static_cast<Access>(static_cast<uint8_t>(a) | static_cast<uint8_t>(b));
  };
  join(into.elsewhere, other.elsewhere);
  for (size_t i = 0; i < std::min(into.args.size(), other.args.size()); ++i)
    join(into.args[i].access, other.args[i].access);
}

}  // namespace

std::vector<std::string> device_macros(std::string_view source) {
  std::vector<std::string> out;
  while (!source.empty() && out.size() < MaxDeviceMacros) {
    const std::string_view line = source.substr(0, source.find('\n'));
    source.remove_prefix(std::min(line.size() + 1, source.size()));
    if (is_condition(line)) collect(line, out);
  }
  out.resize(std::min(out.size(), MaxDeviceMacros));
  return out;
}

// A question that takes an argument: __has_builtin(x).
bool asks_compiler(const std::string& macro) { return macro.starts_with("__has_"); }

constexpr std::string_view Version = "__OPENCL_VERSION__";
constexpr const char* Versions[] = {"100", "110", "120", "200", "210", "220", "300"};

std::vector<std::vector<std::string>> variant_arguments(const std::vector<std::string>& macros) {
  std::vector<std::vector<std::string>> out;
  for (size_t defined = 0; !macros.empty() && defined <= macros.size(); ++defined) {
    // A version is compared with numbers; it is always defined.
    const bool version = defined < macros.size() && macros[defined] == Version;
    for (const char* value : std::span(Versions).first(version ? std::size(Versions) : 1)) {
      std::vector<std::string>& arguments = out.emplace_back();
      for (size_t i = 0; i < macros.size(); ++i) {
        if (macros[i] == Version)
          arguments.push_back("-D" + macros[i] + "=" + (version ? value : "300"));
        else if (asks_compiler(macros[i]))
          arguments.push_back("-D" + macros[i] + "(x)=" + (i == defined ? "1" : "0"));
        else
          arguments.push_back(i == defined ? "-D" + macros[i] + "=1" : "-U" + macros[i]);
      }
    }
  }
  return out;
}

void merge_variant(Source& into, const Source& other) {
  for (const Kernel& k : other.kernels) {
    const auto known =
        std::find_if(into.kernels.begin(), into.kernels.end(), [&](const Kernel& o) { return o.name == k.name; });
    if (known == into.kernels.end()) {
      into.kernels.push_back(k);
    } else {
      widen(*known, k);
    }
  }
}

}  // namespace gt::kernels
