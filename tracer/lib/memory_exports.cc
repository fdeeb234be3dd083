// The allocator's, the dynamic linker's and the exec family's symbols that the program links to, and the start of
// recording.
#include "tracer/interpose/entry_paths.h"
#include "tracer/interpose/exec_hooks.h"
#include "tracer/interpose/libc_alloc.h"
#include "tracer/interpose/threads.h"
#include "tracer/lib/call_counter.h"
#include "tracer/lib/children.h"
#include "tracer/lib/memory_client.h"
#include "tracer/lib/own_functions.h"

GT_DEFINE_ALLOC_HOOKS(gt::tracer::MemoryClient)
GT_DEFINE_ENTRY_PATHS()
GT_DEFINE_THREAD_HOOKS()
GT_DEFINE_EXEC_HOOKS()

// The first record of a process tells of the process and its modules: better now, when nobody holds a lock, than in a
// hook.
__attribute__((constructor)) static void begin() {
  gt::tracer::start_recording();
  if (gt::tracer::recording_memory()) gt::tracer::this_ring();
  gt::tracer::follow_children();
  gt::tracer::patch_own_functions();
  gt::tracer::begin_counting();  // with the functions that the patches have found
}
