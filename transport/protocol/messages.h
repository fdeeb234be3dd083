// What client and executor say to each other, one message in each control frame (docs/WIRE_FORMAT.md).
//
// The client invents the names of objects (ObjectId: 64 bits, never used twice in a session), so that nothing waits for
// an answer that the program does not wait for. Commands are fire and forget: they carry the events to wait for, and
// the executor hands both to its driver in the order of arrival; a driver resolves dependencies itself. Most of OpenCL
// travels as Call: the function's number and its encoded arguments (traces/api/wire.h) with names in place of handles,
// so the protocol knows only what is not a plain call: launches (arguments travel as deltas), transfers, waiting.
//
// Completion is reported for events that the client subscribed to, for every Read, and for writes from shared memory.
// A message that fails on its own (out of memory, a bad launch) is reported by Failed; its event, if it has one,
// completes with the error.
//
// Layout: a type byte, then the fields in the order of fields(): integers little-endian with their own width, lists and
// bytes with a 32-bit count in front. A decoder takes nothing from outside the frame, and a list is never longer than
// what is left of it. Version: hello (docs/WIRE_FORMAT.md); fields are only ever appended within a version, and those
// that were (`appended` in fields()) keep their defaults when they do not come.
// Thread safety: values.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "traces/base/bytes.h"
#include "transport/copy/region.h"
#include "transport/link/base/link.h"

namespace gt::wire {

using ObjectId = uint64_t;  // 0: none
constexpr ObjectId FirstSurveyed = ObjectId{1} << 63;  // platforms and devices; what clients name is below
using ReplyId = uint32_t;   // 0: no reply wanted
using Ids = std::vector<ObjectId>;

enum class MessageType : uint8_t {
  // client to executor
  Call = 1,
  Launch = 2,
  Write = 3,
  Read = 4,
  Finish = 5,
  Subscribe = 6,
  Build = 7,
  Survey = 8,
  Ping = 9,
  FragmentToExecutor = 10,
  Invite = 13,
  Join = 14,
  Move = 15,
  Leave = 16,
  Recall = 17,  // chunk_messages.h
  Update = 20,
  // executor to client
  Reply = 65,
  Completed = 66,
  Failed = 67,
  Credit = 68,
  Data = 69,
  Printed = 70,
  Surveyed = 71,
  Built = 72,
  Pong = 73,
  FragmentToClient = 74,
  Invited = 77,
  Joined = 78,
  Kept = 80,    // chunk_messages.h
  Filled = 81,
  // executor to executor; Credit, too
  PeerInbox = 79,
};

// One OpenCL call. Handles in `inputs` are ObjectIds (devices and platforms: as surveyed).
struct Call {
  static constexpr auto Type = MessageType::Call;
  uint16_t fn = 0;      // api::FnId
  ReplyId reply = 0;    // Reply with the encoded outputs
  ObjectId result = 0;  // names what the call returns; of several (sub-devices): the first of consecutive ones
  ObjectId event = 0;   // names the event that it gives; 0: none is made
  ByteView inputs;
  template <class V>
  void fields(V& v) { v(fn, reply, result, event, inputs); }
};

struct KernelArg {
  enum class Form : uint8_t { Value, Object, Local, Svm };
  uint32_t index = 0;
  Form form = Form::Value;
  uint64_t size = 0;    // Local: bytes. Object: unused; id 0 is NULL. Svm: unused
  ObjectId object = 0;  // Svm: an address in a block that clSVMAlloc gave, or 0
  ByteView value;       // Value
  template <class V>
  void fields(V& v) { v(index, form, size, object, value); }
};

struct Launch {
  static constexpr auto Type = MessageType::Launch;
  ObjectId queue = 0, kernel = 0, event = 0;
  uint8_t dimensions = 0;  // 0: nothing is launched, the arguments are for the Call that comes next
  uint8_t given = 0;       // bit 0: offset; bit 1: local size (otherwise NULL for the driver, too)
  std::array<uint64_t, 3> offset{}, global{}, local{};
  Ids waits;
  std::vector<KernelArg> args;  // those that changed since the kernel's last launch here
  template <class V>
  void fields(V& v) { v(queue, kernel, event, dimensions, given, offset, global, local, waits, args); }
};

// Commands of a command buffer change (clUpdateMutableCommandsKHR). Answered by Reply (a cl_int as `outputs`).
struct CommandUpdate {
  ObjectId command = 0;
  uint8_t dimensions = 0;  // 0: the sizes stay
  uint8_t given = 0;       // bit 0: offset; bit 1: global size; bit 2: local size
  std::array<uint64_t, 3> offset{}, global{}, local{};
  std::vector<KernelArg> args;
  template <class V>
  void fields(V& v) { v(command, dimensions, given, offset, global, local, args); }
};
struct Update {
  static constexpr auto Type = MessageType::Update;
  ReplyId reply = 0;
  ObjectId command_buffer = 0;
  std::vector<CommandUpdate> commands;
  template <class V>
  void fields(V& v) { v(reply, command_buffer, commands); }
};

// The part of a memory object that a transfer moves: a Range, Box or Image.
using Part = copy::Region;

// How the bytes of a transfer travel.
enum class DataPath : uint8_t {
  Inline,  // in the message (Write), in Data (Read): up to LargestInline
  Stream,  // Write: the client takes slots of the executor's inbox and puts chunks there, each with a ChunkNotice.
           // Read: the executor puts chunks to `address`, of the client's
  Shared,  // `address` is memory of the client's that the executor views: the device reads or writes it there
  Peer,    // as Stream, but from (Write) and to (Read) another executor: `segment` is the peer, and `transfer` the same
           // at both ends
  Ring,    // `offset` in memory of the executor's that the client views: as Shared, without anything to be made known
};
constexpr size_t LargestInline = size_t{64} << 10;

struct Write {
  static constexpr auto Type = MessageType::Write;
  ObjectId queue = 0, mem = 0, event = 0;
  uint32_t transfer = 0;  // names the transfer in notices; unique among those under way from the same sender
  Part part;
  uint64_t bytes = 0;  // packed
  DataPath data_path = DataPath::Inline;
  uint32_t segment = 0;  // Shared: where the bytes are. Peer: who sends them
  uint64_t offset = 0;   // there; Ring: in the ring
  uint32_t chunk_bytes = 0;  // Stream: of the largest chunk (copy/chunks.h), at most a slot. 0: a slot
  Ids waits;
  ByteView data;  // Inline
  template <class V>
  void fields(V& v) {
    v(queue, mem, event, transfer, part, bytes, data_path, segment, offset, chunk_bytes, waits, data);
  }
};

struct Read {
  static constexpr auto Type = MessageType::Read;
  ObjectId queue = 0, mem = 0, event = 0;  // `event` is never 0: its completion says that the bytes are there
  uint32_t transfer = 0;
  Part part;
  uint64_t bytes = 0;
  DataPath data_path = DataPath::Inline;
  uint32_t segment = 0;  // Stream, Shared: where the bytes go, packed. Peer: to whom
  uint64_t offset = 0;
  uint32_t chunk_bytes = 0;  // Stream: as in Write
  Ids waits;
  // Stream: chunks may come packed, as this number says (chunks::Packing), each with a read_notice(). 0: they do not,
  // and have none. Only where ChunkOffer::forms has Packed.
  uint8_t packing = 0;
  template <class V>
  void fields(V& v) {
    v(queue, mem, event, transfer, part, bytes, data_path, segment, offset, chunk_bytes, waits);
    v.appended(packing);
  }
};

// The notice of a chunk: which transfer, which slot. Chunks of a transfer come in order, cut as copy/chunks.h says.
constexpr Notice chunk_notice(uint32_t transfer, uint32_t slot) { return Notice{transfer} << 32 | slot; }
constexpr uint32_t transfer_of(Notice notice) { return static_cast<uint32_t>(notice >> 32); }
constexpr uint32_t slot_of(Notice notice) { return static_cast<uint32_t>(notice); }

// Contents of one memory object become those of another of the same kind, in another context of the same executor, when
// the events are over, however they ended. `event` is an event of `to`'s context.
struct Move {
  static constexpr auto Type = MessageType::Move;
  ObjectId from = 0, to = 0;
  Part part;  // Range or Image: the same in both
  ObjectId event = 0;
  Ids waits;  // of any context
  template <class V>
  void fields(V& v) { v(from, to, part, event, waits); }
};

// Answered by Reply (a cl_int as `outputs`) when everything in the queue has ended. queue 0: of all queues.
struct Finish {
  static constexpr auto Type = MessageType::Finish;
  ObjectId queue = 0;
  ReplyId reply = 0;
  template <class V>
  void fields(V& v) { v(queue, reply); }
};

// Completed is to be sent for this event. A flush of its queue is implied.
struct Subscribe {
  static constexpr auto Type = MessageType::Subscribe;
  ObjectId event = 0;
  template <class V>
  void fields(V& v) { v(event); }
};

// Builds, compiles or links; does not hold up what follows. Answered by Built.
struct IncludeFile {
  std::string path, text;  // path: as an #include directive of the sources finds it under an -I of the options
  template <class V>
  void fields(V& v) { v(path, text); }
};
struct Build {
  static constexpr auto Type = MessageType::Build;
  enum class Step : uint8_t { Build, Compile, Link, Describe };  // Describe: only tell what is there already
  Step step = Step::Build;
  ReplyId reply = 0;
  ObjectId program = 0;  // Link: names the result
  ObjectId context = 0;  // Link
  Ids devices;           // none: all of the program's
  Ids inputs;            // Link: programs. Compile: headers
  std::vector<std::string> names;  // Compile: by which the sources include the headers
  std::string options;
  std::vector<IncludeFile> files;  // of the client's file system
  // Adapted: what executors need is added to them. Exact: as they are; None: none at all (NULL), which is not the same
  // to all drivers as an empty text.
  enum class Options : uint8_t { Adapted, Exact, None };
  Options how = Options::Adapted;
  template <class V>
  void fields(V& v) {
    v(step, reply, program, context, devices, inputs, names, options, files);
    v.appended(how);
  }
};

struct ArgInfo {
  enum class Kind : uint8_t { Value, Global, Constant, Local, Image, Sampler, Pipe, Unknown };
  Kind kind = Kind::Unknown;
  uint32_t address = 0, access = 0;  // as clGetKernelArgInfo; 0: not told
  uint64_t type_qualifier = 0;
  std::string type, name;
  template <class V>
  void fields(V& v) { v(kind, address, access, type_qualifier, type, name); }
};
struct KernelInfo {
  std::string name;
  std::vector<ArgInfo> args;
  uint8_t told = 0;  // the driver told of its arguments (else they are taken from the source, or unknown)
  template <class V>
  void fields(V& v) { v(name, args, told); }
};
struct BuildResult {
  ObjectId device = 0;
  int32_t status = 0;  // CL_PROGRAM_BUILD_STATUS
  uint32_t binary_type = 0;
  std::string log;
  template <class V>
  void fields(V& v) { v(device, status, binary_type, log); }
};
struct Built {
  static constexpr auto Type = MessageType::Built;
  ReplyId reply = 0;
  int32_t code = 0;
  std::vector<BuildResult> devices;
  std::vector<KernelInfo> kernels;
  template <class V>
  void fields(V& v) { v(reply, code, devices, kernels); }
};

// Device infos whose answer is a list of addresses of texts: the texts travel, one after the other, each with its NUL.
constexpr bool is_list_of_texts(uint32_t device_info) {
  return device_info == 0x12B9 /* CL_DEVICE_SPIRV_EXTENDED_INSTRUCTION_SETS */ ||
         device_info == 0x12BA /* CL_DEVICE_SPIRV_EXTENSIONS */;
}

// What is there: asked once, at the start; and for each sub-device.
struct Survey {
  static constexpr auto Type = MessageType::Survey;
  ReplyId reply = 0;
  ObjectId device = 0;  // only this sub-device; 0: all platforms and their devices
  // Where a driver has no unified shared memory, it is to be made of the shared virtual one; from then on.
  bool emulate_usm = false;
  template <class V>
  void fields(V& v) {
    v(reply, device);
    v.appended(emulate_usm);
  }
};
struct InfoValue {
  uint32_t name = 0;  // cl_device_info, cl_platform_info
  Bytes value;
  template <class V>
  void fields(V& v) { v(name, value); }
};
struct SurveyedDevice {
  ObjectId id = 0, platform = 0;
  std::vector<InfoValue> infos;
  template <class V>
  void fields(V& v) { v(id, platform, infos); }
};
struct SurveyedPlatform {
  ObjectId id = 0;
  std::vector<InfoValue> infos;
  template <class V>
  void fields(V& v) { v(id, infos); }
};
// Functions of extensions that a platform's driver has (api::FnId).
struct PlatformFunctions {
  ObjectId platform = 0;
  std::vector<uint16_t> functions;
  template <class V>
  void fields(V& v) { v(platform, functions); }
};
// What a platform's driver answers to device types that are none.
struct PlatformTypes {
  ObjectId platform = 0;
  int32_t none = 0, unknown = 0, mixed = 0;  // 0; a bit that means nothing; that and all that mean something
  template <class V>
  void fields(V& v) { v(platform, none, unknown, mixed); }
};
// Chunks may come by the names of their pieces, or compressed (chunk_messages.h).
struct ChunkOffer {
  uint32_t piece_bytes = 0;     // 0: they may not
  uint32_t recipe_segment = 0;  // of the executor's: where recipes go, one beside each slot of the inbox
  uint32_t recipe_bytes = 0;    // room of each
  uint32_t forms = 0;           // of pieces that it knows: bit n for PieceForm n
  template <class V>
  void fields(V& v) { v(piece_bytes, recipe_segment, recipe_bytes, forms); }
};
struct Surveyed {
  static constexpr auto Type = MessageType::Surveyed;
  ReplyId reply = 0;
  std::string node;  // for people: host name and process
  std::vector<SurveyedPlatform> platforms;
  std::vector<SurveyedDevice> devices;
  uint32_t inbox_segment = 0;  // of the executor's: where chunks of writes go
  uint32_t inbox_slots = 0;
  uint64_t slot_bytes = 0;
  uint32_t ring_segment = 0;  // of the executor's: for DataPath::Ring
  uint64_t ring_bytes = 0;    // 0: there is none
  int64_t clock_ns = 0;  // the executor's, which device times are told in
  std::vector<PlatformFunctions> functions;
  std::vector<PlatformTypes> types;
  ChunkOffer chunks;
  template <class V>
  void fields(V& v) {
    v(reply, node, platforms, devices, inbox_segment, inbox_slots, slot_bytes, ring_segment, ring_bytes, clock_ns);
    v.appended(functions, types, chunks);
  }
};

struct Reply {
  static constexpr auto Type = MessageType::Reply;
  ReplyId reply = 0;
  ByteView outputs;  // as encode_outputs<Full> gives them, names in place of handles
  template <class V>
  void fields(V& v) { v(reply, outputs); }
};

struct Completion {
  ObjectId event = 0;
  int32_t status = 0;                 // CL_COMPLETE, or the error
  int64_t start_ns = 0, end_ns = 0;   // 0: the queue does not profile. The executor's clock
  template <class V>
  void fields(V& v) { v(event, status, start_ns, end_ns); }
};
struct Completed {
  static constexpr auto Type = MessageType::Completed;
  std::vector<Completion> events;
  template <class V>
  void fields(V& v) { v(events); }
};

struct Failed {
  static constexpr auto Type = MessageType::Failed;
  uint16_t fn = 0;
  int32_t code = 0;
  ObjectId object = 0;  // what was to be made, or the queue of a command
  ObjectId event = 0;
  template <class V>
  void fields(V& v) { v(fn, code, object, event); }
};

// Slots of the inbox that are free again.
struct Credit {
  static constexpr auto Type = MessageType::Credit;
  std::vector<uint32_t> slots;
  template <class V>
  void fields(V& v) { v(slots); }
};

// The bytes of an inline Read; its Completion follows.
struct Data {
  static constexpr auto Type = MessageType::Data;
  ObjectId event = 0;
  ByteView bytes;
  template <class V>
  void fields(V& v) { v(event, bytes); }
};

// What kernels printed: goes to the program's standard output before what waits for them goes on.
struct Printed {
  static constexpr auto Type = MessageType::Printed;
  ByteView text;
  template <class V>
  void fields(V& v) { v(text); }
};

// --- Executors that know each other ---
// One executor of a client is asked to wait for another (Invite), which is told how to find it (Join). `peer` names the
// link at both; every transfer over it is a Write at one end and a Read at the other, of DataPath::Peer.
using PeerName = std::array<uint8_t, 16>;
using PeerSecret = std::array<uint8_t, 32>;

// Answered by Invited: at once. Who is invited has some seconds to come.
struct Invite {
  static constexpr auto Type = MessageType::Invite;
  ReplyId reply = 0;
  uint32_t peer = 0;
  template <class V>
  void fields(V& v) { v(reply, peer); }
};
struct Invited {
  static constexpr auto Type = MessageType::Invited;
  ReplyId reply = 0;
  int32_t code = 0;   // CL_INVALID_OPERATION: it has no peers
  PeerName name{};    // by which it is asked for
  PeerSecret secret{};  // what both sides prove that they know: of this pair alone
  std::vector<std::string> urls;  // where, beside the place at which the client found it
  template <class V>
  void fields(V& v) { v(reply, code, name, secret, urls); }
};

// Answered by Joined when the link is there, or will not be.
struct Join {
  static constexpr auto Type = MessageType::Join;
  ReplyId reply = 0;
  uint32_t peer = 0;
  PeerName name{};
  PeerSecret secret{};
  std::vector<std::string> urls;  // tried in this order
  template <class V>
  void fields(V& v) { v(reply, peer, name, secret, urls); }
};
struct Joined {
  static constexpr auto Type = MessageType::Joined;
  ReplyId reply = 0;
  int32_t code = 0;  // CL_SUCCESS: transfers may begin
  std::string text;  // for people: the URL that it was, or why there is no link
  template <class V>
  void fields(V& v) { v(reply, code, text); }
};

// What an executor tells its peer first: where chunks go. All slots are the peer's.
struct PeerInbox {
  static constexpr auto Type = MessageType::PeerInbox;
  uint32_t segment = 0, slots = 0;
  uint64_t slot_bytes = 0;
  template <class V>
  void fields(V& v) { v(segment, slots, slot_bytes); }
};

// Bytes of a message that is larger than a frame: those with the same number, put together, are the message, and it
// counts as arrived with the last of them (fragments.h).
template <MessageType T>
struct Fragment {
  static constexpr auto Type = T;
  uint32_t number = 0;
  uint8_t last = 0;
  ByteView bytes;
  template <class V>
  void fields(V& v) { v(number, last, bytes); }
};
using FragmentToExecutor = Fragment<MessageType::FragmentToExecutor>;
using FragmentToClient = Fragment<MessageType::FragmentToClient>;

struct Ping {
  static constexpr auto Type = MessageType::Ping;
  ReplyId reply = 0;
  int64_t sent_ns = 0;
  template <class V>
  void fields(V& v) { v(reply, sent_ns); }
};
// The client's process is about to end: when its connection does, nobody will come back.
struct Leave {
  static constexpr auto Type = MessageType::Leave;
  template <class V>
  void fields(V&) {}
};
struct Pong {
  static constexpr auto Type = MessageType::Pong;
  ReplyId reply = 0;
  int64_t sent_ns = 0, clock_ns = 0;
  template <class V>
  void fields(V& v) { v(reply, sent_ns, clock_ns); }
};

}  // namespace gt::wire
