#include "transport/staging/small_chunks.h"

namespace gt::staging {

bool SmallChunks::open(const ClFunctions& cl, CopyThreads& copy_threads, cl_context context) noexcept {
  cl_ = &cl;
  return memory_.open(cl, copy_threads, context, Count * ChunkBytes);
}

// Nobody else uses it any more.
void SmallChunks::close() noexcept GT_NO_THREAD_SAFETY_ANALYSIS {
  if (!is_open()) return;
  for (Chunk& c : chunks_) {
    if (c.in_flight) {
      cl_->clWaitForEvents(1, &c.in_flight);
      cl_->clReleaseEvent(c.in_flight);
    }
    c = Chunk();
  }
  memory_.close(*cl_);
}

bool SmallChunks::has_landed(Chunk& chunk) const noexcept {
  cl_int status = CL_QUEUED;
  cl_->clGetEventInfo(chunk.in_flight, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
  if (status > CL_COMPLETE) return false;  // negative: it failed, and is over
  cl_->clReleaseEvent(chunk.in_flight);
  chunk.in_flight = nullptr;
  return true;
}

int SmallChunks::take() noexcept {
  const MutexLock lock(mutex_);
  for (int tried = 0; tried < Count; ++tried) {
    const int i = next_;
    next_ = (next_ + 1) % Count;
    Chunk& c = chunks_[i];
    if (c.taken || (c.in_flight && !has_landed(c))) continue;
    c.taken = true;
    return i;
  }
  return None;
}

void SmallChunks::reap() noexcept {
  const MutexLock lock(mutex_);
  for (Chunk& c : chunks_)
    if (c.in_flight) has_landed(c);
}

void SmallChunks::give_back(int chunk) noexcept { give_back_after(chunk, nullptr); }

void SmallChunks::give_back_after(int chunk, cl_event event) noexcept {
  const MutexLock lock(mutex_);
  chunks_[chunk] = {false, event};
}

}  // namespace gt::staging
