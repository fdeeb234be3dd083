#include "transport/staging/small_chunks.h"

#include "traces/base/lock.h"

namespace gt::staging {

bool SmallChunks::open(const ClFunctions& cl, CopyThreads& copy_threads, cl_context context) noexcept {
  x_cl = &cl;
  return x_memory.open(cl, copy_threads, context, Count * ChunkBytes);
}

void SmallChunks::close() noexcept {
  if (!is_open()) return;
  for (Chunk& c : x_chunks) {
    if (c.in_flight) {
      x_cl->clWaitForEvents(1, &c.in_flight);
      x_cl->clReleaseEvent(c.in_flight);
    }
    c = Chunk();
  }
  x_memory.close(*x_cl);
}

bool SmallChunks::has_landed(Chunk& chunk) const noexcept {
  cl_int status = CL_QUEUED;
  x_cl->clGetEventInfo(chunk.in_flight, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
  if (status > CL_COMPLETE) return false;  // negative: it failed, and is over
  x_cl->clReleaseEvent(chunk.in_flight);
  chunk.in_flight = nullptr;
  return true;
}

int SmallChunks::take() noexcept {
  const Lock lock(x_mutex);
  for (int tried = 0; tried < Count; ++tried) {
    const int i = x_next;
    x_next = (x_next + 1) % Count;
    Chunk& c = x_chunks[i];
    if (c.taken || (c.in_flight && !has_landed(c))) continue;
    c.taken = true;
    return i;
  }
  return None;
}

void SmallChunks::reap() noexcept {
  const Lock lock(x_mutex);
  for (Chunk& c : x_chunks)
    if (c.in_flight) has_landed(c);
}

void SmallChunks::give_back(int chunk) noexcept { give_back_after(chunk, nullptr); }

void SmallChunks::give_back_after(int chunk, cl_event event) noexcept {
  const Lock lock(x_mutex);
  x_chunks[chunk] = {false, event};
}

}  // namespace gt::staging
