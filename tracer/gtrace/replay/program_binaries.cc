#include "tracer/gtrace/replay/program_binaries.h"

#include <CL/cl.h>

#include <atomic>
#include <vector>

#include "traces/base/bytes.h"

namespace gt::tracer {

namespace {

using Ask = decltype(&clGetProgramInfo);

std::atomic<Ask> g_ask{nullptr};  // the driver's, or the loader's

cl_int CL_API_CALL ask(cl_program program, cl_program_info what, size_t room, void* value, size_t* size) {
  const Ask driver = g_ask.load(std::memory_order_relaxed);
  if (what != CL_PROGRAM_BINARIES || !value) return driver(program, what, room, value, size);
  std::vector<size_t> sizes(room / sizeof(void*));
  const cl_int code = driver(program, CL_PROGRAM_BINARY_SIZES, sizes.size() * sizeof(size_t), sizes.data(), nullptr);
  if (code != CL_SUCCESS) return code;
  std::vector<Bytes> binaries;
  std::vector<uint8_t*> places;
  for (const size_t bytes : sizes) places.push_back(binaries.emplace_back(bytes).data());
  return driver(program, what, room, places.data(), size);
}

}  // namespace

AnyFunction with_room_for_binaries(uint16_t fn, AnyFunction function) {
  if (!function || fn != static_cast<uint16_t>(api::FnId::clGetProgramInfo)) return function;
  g_ask.store(reinterpret_cast<Ask>(function), std::memory_order_relaxed);
  return reinterpret_cast<AnyFunction>(&ask);
}

}  // namespace gt::tracer
