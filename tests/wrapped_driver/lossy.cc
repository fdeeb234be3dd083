// A driver that forgets the second half of each large transfer in one direction (LOSE=write or LOSE=read). What a
// self-verifying program must notice.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include "tests/wrapped_driver/wrapped.h"

namespace gt::wrapped {
namespace {

constexpr size_t Large = 256;
constexpr std::string_view Write = "write", Read = "read";

bool loses(std::string_view way) {
  const char* const lose = std::getenv("LOSE");
  return lose && way == lose;
}

size_t kept(std::string_view way, size_t bytes) { return bytes >= Large && loses(way) ? bytes / 2 : bytes; }

// Of a volume the second half of its planes.
std::array<size_t, 3> kept(std::string_view way, const size_t* region) {
  std::array<size_t, 3> part{};
  std::copy_n(region, part.size(), part.begin());
  if (part[2] > 1 && loses(way)) part[2] /= 2;
  return part;
}

cl_int CL_API_CALL write_buffer(cl_command_queue queue, cl_mem mem, cl_bool blocking, size_t offset, size_t size,
                                const void* from, cl_uint n, const cl_event* list, cl_event* event) {
  return pocl.clEnqueueWriteBuffer(queue, mem, blocking, offset, kept(Write, size), from, n, list, event);
}
cl_int CL_API_CALL read_buffer(cl_command_queue queue, cl_mem mem, cl_bool blocking, size_t offset, size_t size,
                               void* to, cl_uint n, const cl_event* list, cl_event* event) {
  return pocl.clEnqueueReadBuffer(queue, mem, blocking, offset, kept(Read, size), to, n, list, event);
}
cl_int CL_API_CALL write_rect(cl_command_queue queue, cl_mem mem, cl_bool blocking, const size_t* origin,
                              const size_t* host_origin, const size_t* region, size_t row, size_t slice,
                              size_t host_row, size_t host_slice, const void* from, cl_uint n, const cl_event* list,
                              cl_event* event) {
  return pocl.clEnqueueWriteBufferRect(queue, mem, blocking, origin, host_origin, kept(Write, region).data(), row,
                                       slice, host_row, host_slice, from, n, list, event);
}
cl_int CL_API_CALL read_rect(cl_command_queue queue, cl_mem mem, cl_bool blocking, const size_t* origin,
                             const size_t* host_origin, const size_t* region, size_t row, size_t slice,
                             size_t host_row, size_t host_slice, void* to, cl_uint n, const cl_event* list,
                             cl_event* event) {
  return pocl.clEnqueueReadBufferRect(queue, mem, blocking, origin, host_origin, kept(Read, region).data(), row, slice,
                                      host_row, host_slice, to, n, list, event);
}

}  // namespace

void change(cl_icd_dispatch& table, cl_platform_id) {
  table.clEnqueueWriteBuffer = write_buffer;
  table.clEnqueueReadBuffer = read_buffer;
  table.clEnqueueWriteBufferRect = write_rect;
  table.clEnqueueReadBufferRect = read_rect;
}

}  // namespace gt::wrapped
