#include "tracer/collect/module_map.h"

#include <time.h>

#include <cstdio>
#include <fstream>

#include <fmt/format.h>

#include "traces/base/build_id.h"

namespace gt::tracer {

bool ModuleMap::add(uint64_t base, uint64_t end, std::string_view path, std::string_view build_id) {
  auto it = by_base_.find(base);
  if (it != by_base_.end()) {
    const model::Module& known = (*modules_)[it->second];
    if (known.path == path && known.end >= end) return false;
  }
  // What lay there before is gone: a library was unloaded and another one took its place.
  for (auto at = by_base_.lower_bound(base); at != by_base_.end() && at->first < end;)
    at = by_base_.erase(at);
  model::Module module;
  module.process = process_;
  module.base = base;
  module.end = end;
  module.path = path;
  module.build_id = build_id;
  by_base_[base] = static_cast<uint32_t>(modules_->size());
  modules_->push_back(std::move(module));
  unknown_pages_.clear();
  return true;
}

uint32_t ModuleMap::lookup(uint64_t address) const {
  auto it = by_base_.upper_bound(address);
  if (it == by_base_.begin()) return model::NoIndex;
  --it;
  return address < (*modules_)[it->second].end ? it->second : model::NoIndex;
}

uint32_t ModuleMap::find(uint64_t address, bool always_read) {
  uint32_t found = lookup(address);
  if (found != model::NoIndex || unknown_pages_.count(address >> 12)) return found;
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  const int64_t now = static_cast<int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
  if (!always_read && last_read_ns_ != 0 && now - last_read_ns_ < ReadAgainNs) return found;
  last_read_ns_ = now;
  read_maps();
  found = lookup(address);
  if (found == model::NoIndex && unknown_pages_.size() < 65536)
    unknown_pages_[address >> 12] = true;
  return found;
}

// A module's mappings are consecutive lines with the same path; its load bias is the first address
// minus the file offset there (0 for every linker in use).
void ModuleMap::read_maps() {
  std::ifstream maps(fmt::format("/proc/{}/maps", pid_));
  std::string line, path;
  uint64_t base = 0, end = 0;
  const auto flush = [&] {
    if (!path.empty() && path[0] == '/' && lookup(base) == model::NoIndex)
      add(base, end, path, build_id_of_file(path));
  };
  bool executable = false;
  while (std::getline(maps, line)) {
    unsigned long long from = 0, to = 0, offset = 0;
    char flags[8] = "";
    int at = 0;
    if (std::sscanf(line.c_str(), "%llx-%llx %7s %llx %*s %*s %n", &from, &to, flags, &offset,
                    &at) < 4)
      continue;
    const std::string name =
        at > 0 && static_cast<size_t>(at) < line.size() ? line.substr(static_cast<size_t>(at)) : "";
    if (name != path || name.empty()) {
      if (executable) flush();
      path = name;
      base = from - offset;
      executable = false;
    }
    executable |= flags[2] == 'x';
    end = to;
  }
  if (executable) flush();
}

}  // namespace gt::tracer
