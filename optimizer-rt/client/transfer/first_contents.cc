#include "optimizer-rt/client/transfer/first_contents.h"

#include <cstdint>
#include <vector>

#include "optimizer-rt/client/objects/event.h"
#include "optimizer-rt/client/transfer/transfer.h"

namespace gt::virt {

// Small contents travel with the object; large ones follow it through a queue of ours.
void fill_new(_cl_mem& mem, const void* host, const copy::Layout& layout) {
  constexpr size_t Small = size_t{256} << 10;
  SubContext& sub_context = mem.context->living_sub_context();
  mem.residency.valid[sub_context.index] = true;
  if (copy::packed_bytes(layout) <= Small && !mem.is_made(sub_context)) {
    std::vector<uint8_t> packed(copy::packed_bytes(layout));
    copy::pack(packed.data(), host, layout);
    mem.initial = packed.data();
    mem.at(sub_context);
    mem.initial = nullptr;
    return;
  }
  const ObjectId name = mem.at(sub_context);
  const Ref<_cl_event> event = make<_cl_event>(*mem.context, sub_context);
  const Ids none;
  const Transfer t{sub_context, sub_context.service_queue(), name, mem.whole(), mem.element(), layout, none};
  send_write(t, host, event.get(), Until::Captured);
  const cl_int status = event->wait();  // commands of other queues may follow
  require(status == CL_COMPLETE, status);
}

}  // namespace gt::virt
