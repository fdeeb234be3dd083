#include "optimizer-rt/client/transfer/transfer_steps.h"

#include "optimizer-rt/client/base/optimizer.h"

namespace gt::virt {

TransferFacts facts_of(const Transfer& t) {
  TransferFacts facts;
  facts.bytes = copy::packed_bytes(t.layout);
  facts.shares_memory = t.sub_context.session.shares_memory();
  facts.dense = t.layout.dense();
  facts.ring = t.sub_context.session.bounce_buffer().is_open();
  return facts;
}

std::shared_ptr<uint8_t[]> new_copy(const Transfer& t) {
  return std::make_shared<uint8_t[]>(copy::packed_bytes(t.layout));
}

std::optional<Seen> seen_directly(Session& session, const void* p, size_t bytes, _cl_event& event) {
  if (session.shares_memory()) {
    RegisteredMemory& registered = session.registered_memory();
    if (const auto address = registered.use(session.link(), p, bytes)) {
      event.then([&registered, segment = address->segment](cl_int) { registered.let_go(segment); });
      return Seen{wire::DataPath::Shared, *address};
    }
    if (registered.cover(p)) return {};
  }
  const auto address = session.link().shared_address(p, bytes);  // the program's view of a map, or all of a process
  if (address && session.shares_memory() && optimizer()) optimizer()->moved(p, bytes);
  return address ? std::optional(Seen{wire::DataPath::Shared, *address}) : std::nullopt;
}

}  // namespace gt::virt
