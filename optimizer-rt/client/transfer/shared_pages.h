// Host and shared allocations of unified shared memory, and fine-grained shared virtual memory, at an executor
// elsewhere: the program uses the memory as it likes between commands, page protection (pages/) says what it wrote and
// what it wants to see.
//
//   a command that may see it:     send(): dirty pages go by a queue of ours, which nothing holds up; the command waits
//   a command that may write it:   written_by(): its pages are absent; a touch waits for the command, and reads them
//
// Device memory of a CPU is host memory, and libraries know (oneMKL computes on it in the host's threads): it is kept
// in step from the first touch on, which waits for everything under way; until then it costs commands nothing.
// Fine-grained memory the program may also use beside commands, other bytes than theirs: it waits for those that write.
// Where the executor is lost, pages keep what they have, and who touches them goes on.
// Thread safety: any thread. Pages are fetched by threads of pages/, with no lock of this class held.
#pragma once

#include <memory>
#include <vector>

#include "optimizer-rt/client/objects/sub_context.h"
#include "optimizer-rt/client/objects/svm.h"

namespace gt::virt {

// At `base`, whole pages of a block that the driver has at `native`; nullptr: something is there.
enum class Used : uint8_t { AtOnce, BesideCommands, WhenTouched };
std::unique_ptr<KeptInStep> keep_in_step(SubContext& sub_context, Used used, ObjectId name, uint64_t native,
                                         uint64_t base, size_t bytes);

// The program's memory is about to be read, or written, by threads of ours or by the system, for which touching it
// would be no fault: it is made present. Cost: a load where no memory is kept in step.
void make_present(const void* p, size_t bytes, bool to_write);

}  // namespace gt::virt
