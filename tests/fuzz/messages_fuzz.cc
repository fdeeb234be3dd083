// libFuzzer: any bytes as a frame, of every message. What can be decoded comes back the same when it is encoded again.
#include <cstdint>
#include <cstdlib>

#include "tests/fuzz/seeds.h"
#include "transport/protocol/chunk_messages.h"
#include "transport/protocol/fragments.h"

using namespace gt;

namespace {

template <class Message>
void try_as(ByteView frame) {
  Message m;
  if (!wire::decode(frame, m)) return;
  Bytes once, twice;
  wire::encode(m, once);
  Message again;
  if (!wire::decode(once, again)) std::abort();
  wire::encode(again, twice);
  if (once != twice) std::abort();
}

// What travels as bytes, with a type in front as messages have it.
template <class Body>
struct AsMessage {
  static constexpr auto Type = wire::MessageType::Recall;
  Body body;
  template <class V>
  void fields(V& v) { v(body); }
};

template <class... Message>
void try_all(ByteView frame) { (try_as<Message>(frame), ...); }

template <class... Message>
std::vector<Bytes> empty_ones() {
  std::vector<Bytes> all(sizeof...(Message));
  size_t i = 0;
  (wire::encode(Message(), all[i++]), ...);
  return all;
}

}  // namespace

std::vector<Bytes> fuzz_seeds() {
  return empty_ones<wire::Call, wire::Launch, wire::Write, wire::Read, wire::Update, wire::Build, wire::Completed,
                    wire::Surveyed, wire::Built, wire::FragmentToClient, wire::Kept, wire::Filled,
                    AsMessage<wire::Recipe>>();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const ByteView frame(data, size);
  try_all<wire::Call, wire::Launch, wire::Write, wire::Read, wire::Move, wire::Update, wire::Finish, wire::Subscribe,
          wire::Build, wire::Survey, wire::Ping, wire::Leave, wire::Reply, wire::Completed, wire::Failed,
          wire::Credit, wire::Data, wire::Printed, wire::Surveyed, wire::Built, wire::Pong, wire::FragmentToClient,
          wire::Invite, wire::Join, wire::Invited, wire::Joined, wire::PeerInbox, wire::Recall,
          wire::Kept, wire::Filled, AsMessage<wire::Recipe>>(frame);
  wire::Assembler assembler(1 << 16);
  Bytes whole;
  for (ByteView left = frame; left.size() > 16 && assembler.take<wire::FragmentToClient>(left, whole);)
    left = left.subspan(16);
  return 0;
}
