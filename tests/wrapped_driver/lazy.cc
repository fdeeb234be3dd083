// Reads the list of a migration when its queue is finished, as NVIDIA's driver (580.159) does where the migration waits
// for an event: who gave the list must have kept it. Where it has changed, the process is aborted.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "tests/wrapped_driver/wrapped.h"

namespace gt::wrapped {
namespace {

struct Migration {
  const cl_mem* list;
  std::vector<cl_mem> then;
};

std::mutex mutex;
std::multimap<cl_command_queue, Migration> migrations;

cl_int CL_API_CALL migrate(cl_command_queue queue, cl_uint count, const cl_mem* list, cl_mem_migration_flags flags,
                           cl_uint n, const cl_event* waits, cl_event* event) {
  const cl_int code = pocl.clEnqueueMigrateMemObjects(queue, count, list, flags, n, waits, event);
  const std::lock_guard lock(mutex);
  if (code == CL_SUCCESS) migrations.insert({queue, {list, {list, list + count}}});
  return code;
}

cl_int CL_API_CALL finish(cl_command_queue queue) {
  const cl_int code = pocl.clFinish(queue);
  const std::lock_guard lock(mutex);
  const auto [first, last] = migrations.equal_range(queue);
  for (auto it = first; it != last; ++it) {
    const Migration& m = it->second;
    if (std::equal(m.then.begin(), m.then.end(), m.list)) continue;
    std::fputs("the list of a migration is gone\n", stderr);
    std::abort();
  }
  migrations.erase(first, last);
  return code;
}

}  // namespace

void change(cl_icd_dispatch& table, cl_platform_id) {
  table.clEnqueueMigrateMemObjects = migrate;
  table.clFinish = finish;
}

}  // namespace gt::wrapped
