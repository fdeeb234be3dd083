// libFuzzer: a hostile peer on the two connections of a link between nodes, and a program that uses the link meanwhile.
//
// The input is a list of steps. Frames are well-formed where the input does not say otherwise: what is behind the check
// of a header is to be reached. What the channels send must be frames, whatever the peer does.
#include <sys/socket.h>

#include <cstdlib>
#include <list>
#include <map>
#include <memory>

#include "tests/fuzz/input.h"
#include "tests/fuzz/seeds.h"
#include "transport/link/net/control_channel.h"
#include "transport/link/net/data_channel.h"

using namespace gt;
using namespace gt::wire;
using fuzz::Input;

namespace {

constexpr uint64_t Salt = 1;
constexpr Channel::Times Times{1'000'000'000'000, 1'000'000'000'000};
constexpr size_t SegmentBytes = 200, Gotten = 100;

struct Owner final : ChannelOwner, LinkParts, LinkHandler {
  Owner() { alive.start(*this); }
  LinkLife& life() override { return alive; }
  Segments& segments() override { return exposed; }
  void lost_connection() override {}
  void peer_says_bye() override {}
  bool in_handler() override { return true; }
  void say_bye() override {}
  bool all_arrived() override { return true; }
  void stop() override {}
  void on_frame(ByteView frame) override { seen += frame.empty() ? 0 : frame.back(); }
  void on_put(Notice, size_t) override {}
  void on_closed(const Status&) override {}

  LinkLife alive{*this};
  Segments exposed;
  unsigned seen = 0;
};

// Takes what a channel sends; gives nothing back.
struct Listener final : FrameSink {
  Status take_header(const FrameHeader&) override { return {}; }
  Status take_frame(const FrameHeader&, ByteView) override { return {}; }
  Status begin_payload(const FrameHeader&, ByteView) override { return {}; }
  bool at_target(size_t, size_t bytes, const std::function<void(char*)>& use) override {
    room.resize(bytes);
    use(room.data());
    return true;
  }
  Status end_payload() override { return {}; }
  std::vector<char> room;
};

// One connection: the channel's end, read by the thread of the test, and the peer's.
class Connection {
 public:
  Connection(Channel& channel, FrameSink& sink, bool data)
      : channel_(channel), sink_(sink), reader_(Salt, data), listener_(Salt, data) {
    (void)connect(0);
  }
  ~Connection() { channel_.end(); }

  Status connect(uint64_t arrived) {
    int ends[2] = {-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
    here_ = Socket(Fd(::dup(ends[0])));
    peer_ = Socket(Fd(ends[1]));
    return channel_.attach(Socket(Fd(ends[0])), arrived);
  }
  void say(FrameHeader header, ByteView rest) {
    header.position = said_;
    header.check = header_check(header, Salt);
    shout({reinterpret_cast<const uint8_t*>(&header), sizeof header});
    shout(rest);
  }
  void shout(ByteView bytes) {
    const iovec part{const_cast<uint8_t*>(bytes.data()), bytes.size()};
    if (!bytes.empty() && peer_.write({&part, 1}) == static_cast<ssize_t>(bytes.size())) said_ += bytes.size();
  }
  // The channel takes what was said. False: it does not go on.
  bool hear() {
    for (;;) {
      const auto outcome = reader_.read(here_, sink_);
      if (outcome == FrameReader::Outcome::Bad) return false;
      if (outcome != FrameReader::Outcome::More) return true;
    }
  }
  // What the channel has sent is frames.
  void listen() {
    if (listener_.read(peer_, heard_) == FrameReader::Outcome::Bad) std::abort();
  }
  uint64_t heard() const { return listener_.received(); }

 private:
  Channel& channel_;
  FrameSink& sink_;
  FrameReader reader_, listener_;
  Listener heard_;
  Socket here_, peer_;
  uint64_t said_ = 0;
};

class HostileLink {
 public:
  bool step(Input& in) {
    switch (in.byte() % 12) {
      case 0: case 1: case 2: say(in, data_connection_); break;
      case 3: say(in, control_connection_); break;
      case 4: (in.byte() & 1 ? data_connection_ : control_connection_).shout(in.bytes(in.byte())); break;
      case 5: put(in); break;
      case 6: (void)data_.get(gotten_.emplace_back(Gotten).data(), address(in), Gotten); break;
      case 7: expose(); break;
      case 8: withdraw(in); break;
      case 9: send(in); break;
      case 10: data_connection_.listen(), control_connection_.listen(); break;
      default: reconnect(in);
    }
    return control_connection_.hear() && data_connection_.hear() && !owner_.alive.is_ended();
  }

 private:
  static constexpr char Content[3000] = {};

  Address address(Input& in) {
    const auto segment = static_cast<SegmentId>(in.byte());
    return {segment, in.number(SegmentBytes)};
  }
  void say(Input& in, Connection& to) {
    FrameHeader header;
    header.type = static_cast<FrameType>(in.byte() % 10);
    header.received = in.byte() & 1 ? to.heard() : in.number(to.heard());
    Bytes rest;
    const auto add = [&](const auto& head) {
      const auto* const p = reinterpret_cast<const uint8_t*>(&head);
      rest.insert(rest.end(), p, p + sizeof head);
    };
    const uint64_t limit = SegmentBytes;
    if (header.type == FrameType::Put)
      add(PutHead{in.byte() % 4u, in.byte() & 1u, in.number(limit), in.byte(), in.number(limit), in.number(limit)});
    if (header.type == FrameType::Get) add(GetHead{in.byte() % 4u, 0, in.number(limit), in.number(limit), in.byte()});
    if (header.type == FrameType::Got) add(GotHead{in.byte(), in.number(Gotten)});
    if (header.type == FrameType::Ack) add(AckHead{in.byte() & 1 ? NoSample : in.number(1'000'000)});
    const uint8_t how = in.byte();
    const ByteView payload = in.bytes(how % 128);
    rest.insert(rest.end(), payload.begin(), payload.end());
    header.length = static_cast<uint32_t>(how < 250 ? rest.size() : in.number(LargestChunk));
    to.say(header, rest);
  }
  void put(Input& in) {
    const Address to = address(in);
    const size_t bytes = in.number(sizeof Content) % (sizeof Content + 1);
    (void)data_.put(Content, to, bytes, in.byte());
  }
  void expose() {
    auto memory = std::make_unique<char[]>(SegmentBytes);
    if (const auto segment = owner_.exposed.add(memory.get(), SegmentBytes)) memory_[*segment] = std::move(memory);
  }
  // As a link does it: nothing may touch the memory afterwards.
  void withdraw(Input& in) {
    const auto segment = static_cast<SegmentId>(in.byte() % 4);
    const Segments::Memory memory = owner_.exposed.withdraw(segment);
    if (!memory.base) return;
    data_.forget(memory);
    memory_.erase(segment);
  }
  void send(Input& in) {
    const ByteView parts[] = {in.bytes(in.byte() % 32)};
    (void)control_.send(parts, in.byte() & 1);
  }
  void reconnect(Input& in) {
    const bool data = in.byte() & 1;
    Connection& connection = data ? data_connection_ : control_connection_;
    const uint64_t arrived = in.byte() & 3 ? connection.heard() : in.number(connection.heard());
    if (arrived == connection.heard()) return void(connection.connect(arrived));
    owner_.alive.end(link_closed());  // the peer has lost count: nothing that follows can be told apart
    (void)connection.connect(arrived);
  }

  Owner owner_;
  std::map<SegmentId, std::unique_ptr<char[]>> memory_;
  std::list<std::vector<char>> gotten_;
  ControlChannel control_{owner_, Salt, Times};
  DataChannel data_{owner_, Salt, Times};
  Connection control_connection_{control_.channel(), control_, false}, data_connection_{data_.channel(), data_, true};
};

}  // namespace

std::vector<Bytes> fuzz_seeds() {
  return {{7},                                                         // a segment
          {0, 2, 1, 1, 1, 0, 5, 4, 0, 4, 1, 2, 3, 4},                  // a put of four bytes with a notice
          {0, 2, 1, 1, 0, 0, 5, 8, 0, 4, 1, 2, 3, 4, 0, 2, 1, 1, 1, 0, 5, 8, 4, 4, 1, 2, 3, 4},  // in two chunks
          {0, 3, 1, 1, 0, 50, 1, 0, 10},                               // a get, and what it gives
          {6, 1, 0, 10, 0, 4, 1, 1, 0, 100, 1, 2, 3}, {0, 5, 1, 1, 0}, {0, 6, 1, 0}, {0, 7, 1, 0}, {3, 7, 1, 0},
          {3, 1, 1, 3, 1, 2, 3}, {5, 1, 0, 200, 7, 10}, {9, 4, 1, 2, 3, 4, 0, 10}, {8, 1}, {11, 1, 1}, {11, 0, 1},
          {4, 1, 3, 1, 2, 3}};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input in(data, size);
  HostileLink link;
  while (!in.empty() && link.step(in)) continue;
  return 0;
}
