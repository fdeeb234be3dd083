#include "tracer/gtrace/record/diagnosis.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "tracer/gtrace/record/own_functions.h"
#include "tracer/interpose/elf_file.h"
#include "tracer/interpose/other_interposers.h"
#include "tracer/interpose/program_file.h"

namespace gt::tracer {

namespace {

namespace fs = std::filesystem;
using interpose::ElfFile;

bool starts_with(std::string_view text, std::string_view head) { return text.substr(0, head.size()) == head; }
std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }
bool mentions(const ElfFile& elf, std::string_view text) { return elf.text().find(text) != std::string_view::npos; }

void look_at_links(const std::string& binary, Diagnosis& d) {
  for (const std::string& library : interpose::linked_libraries(binary)) {
    const std::string name = file_name(library);
    if (!starts_with(name, "libOpenCL")) continue;
    const bool usual = starts_with(name, "libOpenCL.so");
    d.entry_paths.push_back({usual ? "linked" : "bundled", library, "preload"});
  }
}

// What carries the name without being linked to it opens it at run time.
bool opens_opencl(const std::string& file) {
  const auto elf = ElfFile::open(file);
  if (!elf || !mentions(*elf, "libOpenCL.so") || !mentions(*elf, "dlopen")) return false;
  const std::vector<std::string> needed = elf->needed();
  return std::none_of(needed.begin(), needed.end(), [](const std::string& n) { return starts_with(n, "libOpenCL"); });
}

void look_at_opens(const std::string& binary, Diagnosis& d) {
  std::vector<std::string> files = interpose::linked_libraries(binary);
  files.insert(files.begin(), binary);
  for (const std::string& file : files) {
    if (!starts_with(file_name(file), "libOpenCL") && opens_opencl(file))
      d.entry_paths.push_back({"opened", file, "dlopen"});
  }
}

void look_inside(const std::string& binary, Diagnosis& d) {
  const auto elf = ElfFile::open(binary);
  if (elf && elf->defines("clGetPlatformIDs") && mentions(*elf, "OPENCL_LAYERS"))
    d.entry_paths.push_back({"loader inside", binary, "layer"});
  const interpose::EntryPlan own = plan_own_functions(binary);
  const auto opencl = std::count_if(own.hooked.begin(), own.hooked.end(),
                                    [](const std::string& name) { return starts_with(name, "cl"); });
  if (opencl) d.entry_paths.push_back({"linked in", fmt::format("{} ({} functions)", binary, opencl), "entry patch"});
  for (const auto& [name, reason] : own.refused)
    d.missed.push_back(fmt::format("calls of {}'s own {}: {}", binary, name, reason));
}

// Where a Python finds its packages: of its virtual environment, or of the distribution.
std::vector<fs::path> package_folders(const std::string& python) {
  std::vector<fs::path> folders;
  std::error_code ignored;
  const fs::path prefix = fs::path(python).parent_path().parent_path();
  const bool environment = fs::exists(prefix / "pyvenv.cfg", ignored);
  for (const fs::path& root : {prefix, fs::path("/usr/local"), fs::path("/usr")}) {
    if (environment && root != prefix) break;
    for (const auto& entry : fs::directory_iterator(root / "lib", ignored)) {
      if (!starts_with(entry.path().filename().string(), "python3")) continue;
      for (const char* name : {"site-packages", "dist-packages"}) {
        if (fs::is_directory(entry.path() / name, ignored)) folders.push_back(entry.path() / name);
      }
    }
  }
  std::sort(folders.begin(), folders.end());
  folders.erase(std::unique(folders.begin(), folders.end()), folders.end());
  return folders;
}

// Wheels keep their libraries in PACKAGE/.libs or PACKAGE.libs.
void look_at_package(const fs::path& package, Diagnosis& d) {
  std::error_code ignored;
  const std::string name = package.filename().string();
  if (name == "pyopencl") d.entry_paths.push_back({"python package", package.string(), "preload"});
  const fs::path libraries = name.size() > 5 && name.substr(name.size() - 5) == ".libs" ? package : package / ".libs";
  for (const auto& file : fs::directory_iterator(libraries, ignored)) {
    if (starts_with(file.path().filename().string(), "libOpenCL"))
      d.entry_paths.push_back({"bundled", file.path().string(), "preload, layer"});
  }
}

void look_at_python(const std::string& program, Diagnosis& d) {
  std::error_code ignored;
  for (const fs::path& folder : package_folders(program)) {
    for (const auto& package : fs::directory_iterator(folder, ignored)) look_at_package(package.path(), d);
  }
}

std::string first_line(const fs::path& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back()))) line.pop_back();
  return line;
}

void add_driver(const std::string& icd, const std::string& library, Diagnosis& d) {
  const std::string path = interpose::find_library(d.binary, library);
  std::error_code ignored;
  d.drivers.push_back({icd, path.empty() ? library : path, !path.empty() && fs::exists(path, ignored)});
}

// As ocl-icd and the Khronos loader look for them.
void look_at_drivers(Diagnosis& d) {
  if (const char* names = std::getenv("OCL_ICD_FILENAMES")) {
    std::istringstream list(names);
    for (std::string name; std::getline(list, name, ':');) add_driver("OCL_ICD_FILENAMES", name, d);
  }
  const char* given = std::getenv("OCL_ICD_VENDORS");
  const fs::path vendors = given && *given ? given : "/etc/OpenCL/vendors";
  std::error_code ignored;
  if (vendors.extension() == ".icd") return add_driver(vendors.string(), first_line(vendors), d);
  for (const auto& entry : fs::directory_iterator(vendors, ignored)) {
    if (entry.path().extension() == ".icd") add_driver(entry.path().string(), first_line(entry.path()), d);
  }
}

void advise(Diagnosis& d) {
  const bool driver = std::any_of(d.drivers.begin(), d.drivers.end(), [](const Driver& one) { return one.found; });
  if (d.opencl_library.empty())
    d.advice.push_back("install an ICD loader (Debian: ocl-icd-libopencl1), or set GTRACE_OPENCL_LIBRARY");
  if (!driver) d.advice.push_back("install an OpenCL driver (Debian: pocl-opencl-icd runs on the processor)");
  d.environment_lacks = d.opencl_library.empty() || !driver;
  for (const Driver& one : d.drivers) {
    if (!one.found) d.advice.push_back(fmt::format("{} names {}, which does not exist", one.icd, one.library));
  }
  if (!d.missed.empty()) d.advice.push_back("link the program dynamically: what is missed then is seen");
  if (d.entry_paths.empty() && d.missed.empty())
    d.advice.push_back("no sign of OpenCL in the program's files; what plug-ins and children do is seen all the same");
}

}  // namespace

Result<Diagnosis> diagnose(const std::vector<std::string>& command) {
  const auto program = interpose::find_program(command.front());
  if (!program) return program.status();
  Diagnosis d;
  d.program = program->path;
  d.binary = program->binary;
  d.missed = program->obstacles;
  if (d.program != d.binary) d.interpreters.push_back(d.binary);
  d.opencl_library = interpose::find_opencl_library(d.binary);
  if (const char* given = std::getenv("GTRACE_OPENCL_LIBRARY")) d.opencl_library = given;
  if (program->preloadable) {
    look_at_links(d.binary, d);
    look_at_opens(d.binary, d);
    look_inside(d.binary, d);
    if (starts_with(file_name(d.binary), "python")) look_at_python(d.binary, d);
  }
  look_at_drivers(d);
  d.beside = interpose::other_interposers(d.binary);
  advise(d);
  return d;
}

}  // namespace gt::tracer
