// Where addresses of one process lie: in which module, at which offset.
//
// Filled from the Module records of the process itself; for an address that they do not explain,
// from /proc/PID/maps while the process lives. Thread safety: none.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "traces/model/fold/event.h"

namespace gt::tracer {

class ModuleMap {
 public:
  // Modules are appended to `modules`, which must outlive this.
  ModuleMap(std::vector<model::Module>& modules, uint32_t process, int64_t pid)
      : modules_(&modules), process_(process), pid_(pid) {}

  // Returns true when this was news (addresses resolved before may mean something else now).
  bool add(uint64_t base, uint64_t end, std::string_view path, std::string_view build_id);

  // Index of the module that holds `address`, or NoIndex. What /proc does not explain either is
  // remembered by page. For data, of which a program may have any amount that we know nothing of,
  // /proc is read at most once in ReadAgainNs; for code (call sites) whenever needed.
  uint32_t find_code(uint64_t address) { return find(address, true); }
  uint32_t find_data(uint64_t address) { return find(address, false); }

 private:
  uint32_t find(uint64_t address, bool always_read);
  uint32_t lookup(uint64_t address) const;
  void read_maps();

  std::vector<model::Module>* modules_;
  uint32_t process_;
  int64_t pid_;
  std::map<uint64_t, uint32_t> by_base_;
  std::map<uint64_t, bool> unknown_pages_;
  static constexpr int64_t ReadAgainNs = 20'000'000;
  int64_t last_read_ns_ = 0;
};

}  // namespace gt::tracer
