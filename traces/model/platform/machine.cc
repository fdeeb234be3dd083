// Which machine is this, and which OpenCL drivers has it? Answered from files, without loading a
// driver.
#include <dirent.h>
#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "traces/model/platform/accelerators.h"
#include "traces/model/platform/platform.h"

namespace gt::model {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line.substr(0, 4096);
}

std::string cpu_model() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    const size_t colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos)
      return line.substr(colon + 2);
  }
  return "unknown";
}

std::vector<std::string> icd_files(const std::string& folder) {
  std::vector<std::string> out;
  DIR* dir = ::opendir(folder.c_str());
  if (!dir) return out;
  while (const dirent* entry = ::readdir(dir)) {
    const std::string name = entry->d_name;
    if (name.size() > 4 && name.ends_with(".icd")) out.push_back(folder + "/" + name);
  }
  ::closedir(dir);
  std::sort(out.begin(), out.end());
  return out;
}

// Where a library of that name lies, its size and its time: a new driver has another one.
std::string library_stamp(const std::string& name) {
  if (name.empty()) return name;
  static constexpr const char* Folders[] = {"",
                                            "/usr/lib/x86_64-linux-gnu/",
                                            "/usr/lib64/",
                                            "/usr/lib/aarch64-linux-gnu/",
                                            "/usr/lib/",
                                            "/usr/local/lib/",
                                            "/usr/local/nvidia/lib64/"};
  for (const char* folder : Folders) {
    const std::string path = folder + name;
    struct stat st {};
    if (path.front() == '/' && ::stat(path.c_str(), &st) == 0)
      return name + "@" + std::to_string(st.st_size) + "." + std::to_string(st.st_mtime);
  }
  return name;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> out;
  size_t start = 0;
  for (size_t end; start <= text.size(); start = end + 1) {
    end = std::min(text.find(separator, start), text.size());
    if (end > start) out.push_back(text.substr(start, end - start));
  }
  return out;
}

std::string driver_fingerprint() {
  std::string out;
  for (const char* name : {"OCL_ICD_FILENAMES", "OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH",
                           "POCL_DEVICES", "CUDA_VISIBLE_DEVICES"})
    if (const char* value = std::getenv(name)) out += std::string(name) + "=" + value + ";";
  if (const char* names = std::getenv("OCL_ICD_FILENAMES"))
    for (const std::string& library : split(names, ':')) out += library_stamp(library) + ";";
  const char* vendors = std::getenv("OCL_ICD_VENDORS");
  const std::string folder = vendors && *vendors == '/' ? vendors : "/etc/OpenCL/vendors";
  for (const std::string& file : icd_files(folder)) out += library_stamp(first_line(file)) + ";";
  const std::string nvidia = first_line("/sys/module/nvidia/version");
  if (!nvidia.empty()) out += "nvidia " + nvidia + ";";
  return out;
}

}  // namespace

Machine this_machine() {
  Machine m;
  m.cpu = cpu_model();
  m.cpus = static_cast<uint32_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
  m.memory_bytes = static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                   static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  m.drivers = driver_fingerprint();
  m.accelerators = accelerators();
  return m;
}

std::string fingerprint(const Machine& m) {
  const std::string all = m.cpu + '\n' + std::to_string(m.cpus) + '\n' + std::to_string(m.memory_bytes) + '\n' +
                          m.drivers + (m.accelerators ? '\n' + *m.accelerators : std::string());
  uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
  for (const char c : all) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

}  // namespace gt::model
