// Chunks that an executor keeps, and that come by name, against a model; and what is wrong about them.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <random>

#include "tests/random_bytes.h"
#include "tests/unit/executor_client.h"
#include "traces/base/clock.h"
#include "transport/chunks/piece_pack.h"

namespace gt::exec {
namespace {

using chunks::Name;
using chunks::PieceBytes;

constexpr size_t SlotBytes = size_t{1} << 20, Size = 3 * SlotBytes + 1000;

// What a proxy has: a file for each owner, for whoever comes.
struct Stores {
  explicit Stores(uint64_t bytes) : bytes_of_each(bytes) {}
  Fd of(const chunks::Owner& owner) {
    Fd& file = files[owner];
    if (!file.open()) {
      file = Fd(::memfd_create("chunks", MFD_CLOEXEC));
      REQUIRE(::ftruncate(file.get(), static_cast<off_t>(bytes_of_each)) == 0);
    }
    return Fd(::open(("/proc/self/fd/" + std::to_string(file.get())).c_str(), O_RDWR | O_CLOEXEC));
  }
  const uint64_t bytes_of_each;
  std::map<chunks::Owner, Fd> files;
};

Options with(Stores& stores, std::string_view token) {
  Options options;
  options.packs = true;
  options.inbox_slots = 4;
  options.slot_bytes = SlotBytes;
  options.open_chunk_store = [&stores](const chunks::Owner& owner) { return stores.of(owner); };
  if (!token.empty()) options.chunk_key = chunks::key_of(as_bytes(token));
  return options;
}

// A client that sends by name what it is told to.
struct Namer : Ready {
  explicit Namer(Stores& stores, std::string_view token = "token")
      : Ready(real_driver(), {}, with(stores, token)), namer(chunks::key_of(as_bytes(token))) {
    buffer = new_buffer(Size);
    content.resize(Size);
    write(queue, buffer, 0, content);
  }
  void recall(ByteView key = {}) {
    send(wire::Recall{key});
    REQUIRE(wait_until([&] { return room.has_value(); }));
  }
  wire::Write begin(size_t at, size_t bytes) {
    wire::Write m;
    m.queue = queue;
    m.mem = buffer;
    m.event = new_id();
    m.transfer = ++transfers;
    m.data_path = wire::DataPath::Stream;
    m.part.origin[0] = at;
    m.part.region[0] = m.bytes = bytes;
    send(m);
    return m;
  }
  uint32_t slot() { return take_slot(surveyed.inbox_slots); }
  wire::Address address(uint32_t slot, size_t at = 0) const { return {surveyed.inbox_segment, slot * SlotBytes + at}; }
  void put_plain(const wire::Write& m, ByteView chunk, uint32_t flags) {
    const uint32_t to = slot();
    link().put(chunk.data(), address(to), chunk.size(), wire::chunk_notice(m.transfer, to | flags));
  }
  void put_recipe(const wire::Write& m, const wire::Recipe& recipe, uint32_t to, uint32_t flags = 0) {
    Bytes bytes;
    wire::Encoder encoder(bytes);
    encoder(recipe);
    const wire::ChunkOffer& offer = surveyed.chunks;
    link().put(bytes.data(), {offer.recipe_segment, uint64_t{to} * offer.recipe_bytes}, bytes.size(),
               wire::chunk_notice(m.transfer, to | wire::ByRecipe | flags));
  }
  // The pieces of the mask by name; gives those that are missing.
  std::vector<uint16_t> put_named(const wire::Write& m, ByteView chunk, uint64_t mask, uint32_t flags = 0) {
    last_slot = slot();
    {
      const std::lock_guard lock(mutex);
      filled.erase(last_slot);
    }
    wire::Recipe recipe;
    recipe.bytes = static_cast<uint32_t>(chunk.size());
    std::vector<Name> names;
    names.reserve(SlotBytes / PieceBytes);
    for (size_t at = 0; at < chunk.size(); at += PieceBytes) {
      const ByteView piece = chunk.subspan(at, std::min<size_t>(PieceBytes, chunk.size() - at));
      wire::Piece& said = recipe.pieces.emplace_back();
      if (mask >> (recipe.pieces.size() - 1) & 1) {
        said.form = wire::PieceForm::Named;
        said.name = names.emplace_back(namer.name(piece));
      } else {
        link().put(piece.data(), address(last_slot, at), piece.size());
      }
    }
    put_recipe(m, recipe, last_slot, flags);
    return wait_for(filled, last_slot);
  }
  void put_missing(const wire::Write& m, ByteView chunk, const std::vector<uint16_t>& missing) {
    for (const uint16_t& i : missing) {
      const ByteView piece =
          chunk.subspan(i * PieceBytes, std::min<size_t>(PieceBytes, chunk.size() - i * PieceBytes));
      const wire::Address to = address(last_slot, i * PieceBytes);
      if (&i != &missing.back())
        link().put(piece.data(), to, piece.size());
      else
        link().put(piece.data(), to, piece.size(), wire::chunk_notice(m.transfer, last_slot | wire::Completes));
    }
  }
  void expect(size_t at, ByteView bytes) {
    std::copy(bytes.begin(), bytes.end(), content.begin() + static_cast<long>(at));
  }
  bool is_right() {
    for (size_t at = 0; at < Size; at += wire::LargestInline) {
      const size_t n = std::min(wire::LargestInline, Size - at);
      if (!std::equal(content.begin() + static_cast<long>(at), content.begin() + static_cast<long>(at + n),
                      read(queue, buffer, at, n).begin()))
        return false;
    }
    return true;
  }
  bool closes() {
    for (int i = 0; i < 2000 && !is_closed(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return is_closed();
  }
  size_t pieces_kept() {
    const std::lock_guard lock(mutex);
    return kept.size();
  }

  chunks::PieceNamer namer;
  ObjectId buffer = 0;
  Bytes content;
  uint32_t transfers = 0, last_slot = 0;
};

Bytes random_bytes(unsigned seed, size_t n) {
  std::mt19937 random(seed);
  Bytes bytes(n);
  testing::randomize(random, bytes);
  return bytes;
}

TEST_CASE("names are offered where something is kept, and nowhere else") {
  Ready without(real_driver());
  CHECK(without.surveyed.chunks.piece_bytes == 0);
  Stores stores(64 << 20);
  Namer with_them(stores);
  CHECK(with_them.surveyed.chunks.piece_bytes == PieceBytes);
  with_them.recall();
  CHECK(*with_them.room > (60 << 20));
  CHECK(with_them.kept.empty());
}

TEST_CASE("what was kept comes by name, in this session and in the next") {
  Stores stores(64 << 20);
  const Bytes chunk = random_bytes(1, SlotBytes - 100);
  {
    Namer client(stores);
    client.recall();
    client.put_plain(client.begin(5, chunk.size()), chunk, wire::Keep);
    client.expect(5, chunk);
    CHECK(client.wait_until([&] { return client.kept.size() == 4; }));
    CHECK(client.put_named(client.begin(100'000, chunk.size()), chunk, 15).empty());
    client.expect(100'000, chunk);
    CHECK(client.is_right());
    CHECK(client.executor->counters().known_bytes == chunk.size());
    CHECK(client.executor->counters().kept_bytes == chunk.size());
  }
  Namer next(stores);
  next.recall();
  CHECK(next.pieces_kept() == 4);
  CHECK(next.put_named(next.begin(0, chunk.size()), chunk, 15).empty());
  next.expect(0, chunk);
  CHECK(next.is_right());
}

TEST_CASE("what is not there is asked for; what comes behind it waits, and other transfers do not") {
  Stores stores(64 << 20);
  Namer client(stores);
  client.recall();
  const Bytes one = random_bytes(2, 2 * SlotBytes), other = random_bytes(3, 5000);
  const wire::Write m = client.begin(0, one.size());
  const auto missing = client.put_named(m, ByteView(one).first(SlotBytes), 0b1011, wire::Keep);
  CHECK(missing == std::vector<uint16_t>{0, 1, 3});
  const uint32_t waiting = client.last_slot;
  client.put_plain(m, ByteView(one).subspan(SlotBytes), wire::Keep);
  const ObjectId second = client.new_queue(0);
  wire::Write beside = client.begin(one.size(), 0);  // of no bytes: refused, to keep names apart
  beside.queue = second;
  beside.event = client.new_id();
  beside.transfer = ++client.transfers;
  beside.part.region[0] = beside.bytes = other.size();
  client.send(beside);
  client.put_plain(beside, other, 0);
  CHECK(client.subscribed(beside.event).status == CL_COMPLETE);
  client.expect(one.size(), other);
  client.last_slot = waiting;
  client.put_missing(m, one, missing);
  client.expect(0, one);
  CHECK(client.is_right());
  CHECK(client.executor->counters().missed_bytes == 3 * PieceBytes);
  CHECK(client.wait_until([&] { return client.kept.size() == 8; }));
}

TEST_CASE("nobody gets another's piece by its name") {
  Stores stores(64 << 20);
  const Bytes chunk = random_bytes(4, PieceBytes);
  Namer ann(stores, "ann's token");
  ann.recall();
  ann.put_plain(ann.begin(0, chunk.size()), chunk, wire::Keep);
  CHECK(ann.wait_until([&] { return ann.kept.size() == 1; }));
  {
    Namer bob(stores, "bob's token");
    bob.recall();
    CHECK(bob.pieces_kept() == 0);
    CHECK(bob.put_named(bob.begin(0, chunk.size()), chunk, 1) == std::vector<uint16_t>{0});
  }
  // Whose name he somehow knows.
  Namer eve(stores, "eve's token");
  eve.recall();
  wire::Recipe recipe;
  recipe.bytes = PieceBytes;
  const Name stolen = ann.namer.name(chunk);
  recipe.pieces = {{wire::PieceForm::Named, 0, stolen}};
  const uint32_t slot = eve.slot();
  eve.put_recipe(eve.begin(0, PieceBytes), recipe, slot);
  CHECK(eve.wait_for(eve.filled, slot) == std::vector<uint16_t>{0});
  // A key that is told is another owner's, too; nobody's is nobody's.
  Namer told(stores, "a private key");
  const chunks::Key key = chunks::key_of(as_bytes("a private key"));
  told.recall(key);
  CHECK(told.pieces_kept() == 0);
  Namer nobody(stores, "");
  nobody.recall();
  CHECK(*nobody.room == 0);
  CHECK(stores.files.size() == 4);
}

TEST_CASE("no store, or one that cannot be used: names are answered, and the bytes asked for") {
  Stores stores(5000);  // no room for a piece
  Namer client(stores);
  client.recall();
  CHECK(*client.room == 0);
  const Bytes chunk = random_bytes(5, SlotBytes);
  const wire::Write m = client.begin(0, chunk.size());
  const auto missing = client.put_named(m, chunk, 15, wire::Keep);
  CHECK(missing.size() == 4);
  client.put_missing(m, chunk, missing);
  client.expect(0, chunk);
  CHECK(client.is_right());
}

TEST_CASE("a transfer that failed takes what comes by name all the same") {
  Stores stores(64 << 20);
  Namer client(stores);
  client.recall();
  const Bytes chunk = random_bytes(6, SlotBytes);
  wire::Write m;
  m.queue = client.queue;
  m.mem = 12345;  // there is none
  m.event = client.new_id();
  m.transfer = ++client.transfers;
  m.data_path = wire::DataPath::Stream;
  m.part.region[0] = m.bytes = chunk.size();
  client.send(m);
  for (int i = 0; i < 6; ++i) {
    m.event = client.new_id();
    m.transfer = ++client.transfers;
    client.send(m);
    const auto missing = client.put_named(m, chunk, 15, wire::Keep);
    client.put_missing(m, chunk, missing);
  }
  CHECK(client.is_right());
  CHECK_FALSE(client.is_closed());
}

TEST_CASE("random writes, by name or not, with little room and damage: the bytes are right") {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    std::mt19937 random(seed);
    Stores stores(8192 + (PieceBytes + 64) * (1 + random() % 12));
    std::vector<Bytes> pool;
    for (int i = 0; i < 4; ++i) pool.push_back(random_bytes(static_cast<unsigned>(random()), SlotBytes * 2));
    std::unique_ptr<Namer> client;
    for (int step = 0; step < 40; ++step) {
      if (!client || random() % 15 == 0) {
        client.reset();
        client = std::make_unique<Namer>(stores);
        client->recall();
      }
      if (random() % 10 == 0) {
        for (const auto& [owner, file] : stores.files) {
          const off_t at = static_cast<off_t>(random() % stores.bytes_of_each);
          CHECK(::pwrite(file.get(), "damage", 6, at) > 0);
        }
      }
      Bytes& data = pool[random() % pool.size()];
      if (random() % 4 == 0) data[random() % data.size()] ^= 1;
      const size_t bytes = 1 + random() % data.size(), at = random() % (Size - bytes);
      const wire::Write m = client->begin(at, bytes);
      client->expect(at, ByteView(data).first(bytes));
      for (size_t begin = 0; begin < bytes; begin += SlotBytes) {
        const ByteView chunk = ByteView(data).subspan(begin, std::min(SlotBytes, bytes - begin));
        const uint32_t flags = random() % 3 ? wire::Keep : 0;
        if (random() % 3 == 0) {
          client->put_plain(m, chunk, flags);
          continue;
        }
        const auto missing = client->put_named(m, chunk, random() % 16, flags);
        if (!missing.empty()) client->put_missing(m, chunk, missing);
      }
    }
    CHECK(client->is_right());
  }
}

// A chunk whose pieces are packed, given or named, as digits of `forms` say.
std::vector<uint16_t> put_mixed(Namer& client, const wire::Write& m, ByteView chunk, unsigned forms,
                                uint32_t flags = 0) {
  static chunks::PiecePacker packer;
  wire::Recipe recipe;
  recipe.bytes = static_cast<uint32_t>(chunk.size());
  client.last_slot = client.slot();
  {
    const std::lock_guard lock(client.mutex);
    client.filled.erase(client.last_slot);
  }
  std::vector<Name> names(chunks::pieces_of(chunk.size()));
  for (size_t i = 0; i < names.size(); ++i, forms /= 3) {
    const size_t at = i * PieceBytes;
    const ByteView piece = chunk.subspan(at, chunks::piece_bytes(chunk.size(), i));
    wire::Piece& said = recipe.pieces.emplace_back();
    Bytes packed(piece.size() + 1000);
    const size_t n = forms % 3 == 2 ? packer.pack(piece, chunks::Elements[i % 3], 1, packed) : 0;
    if (forms % 3 == 1) {
      said.form = wire::PieceForm::Named;
      said.name = names[i] = client.namer.name(piece);
    } else if (n && n <= piece.size()) {
      said.form = wire::PieceForm::Packed;
      said.packed = static_cast<uint32_t>(n);
      client.link().put(packed.data(), client.address(client.last_slot, at), n);
    } else {
      client.link().put(piece.data(), client.address(client.last_slot, at), piece.size());
    }
  }
  client.put_recipe(m, recipe, client.last_slot, flags);
  return client.wait_for(client.filled, client.last_slot);
}

TEST_CASE("random chunks, packed, by name or as they are: the bytes are right") {
  for (unsigned seed = 1; seed <= 4; ++seed) {
    std::mt19937 random(seed);
    Stores stores(8192 + (PieceBytes + 64) * 6);
    Namer client(stores);
    client.recall();
    Bytes data = random_bytes(seed, 2 * SlotBytes);
    for (size_t i = 0; i < SlotBytes; ++i) data[i] = static_cast<uint8_t>(i >> (random() % 3 + 9));
    for (int step = 0; step < 40; ++step) {
      const size_t from = random() % SlotBytes, bytes = 1 + random() % SlotBytes, at = random() % (Size - bytes);
      const ByteView chunk = ByteView(data).subspan(from, bytes);
      const wire::Write m = client.begin(at, bytes);
      client.expect(at, chunk);
      const uint32_t flags = random() % 3 ? wire::Keep : 0;
      const auto missing = put_mixed(client, m, chunk, static_cast<unsigned>(random()), flags);
      if (!missing.empty()) client.put_missing(m, chunk, missing);
    }
    CHECK(client.is_right());
    CHECK(client.executor->counters().packed_bytes_in > 0);
  }
}

TEST_CASE("packed chunks need neither a store nor a word before them; names do") {
  Options options;
  options.inbox_slots = 4;
  options.slot_bytes = SlotBytes;
  options.packs = true;
  Stores stores(64 << 20);
  Namer client(stores);
  CHECK((client.surveyed.chunks.forms & bit_of(wire::PieceForm::Packed)) != 0);
  const Bytes chunk(SlotBytes, 9);
  CHECK(put_mixed(client, client.begin(0, chunk.size()), chunk, 2 + 2 * 3 + 2 * 9 + 2 * 27).empty());
  client.expect(0, chunk);
  CHECK(client.is_right());
  Ready alone(real_driver(), {}, std::move(options));
  CHECK(alone.surveyed.chunks.forms == (bit_of(wire::PieceForm::Given) | bit_of(wire::PieceForm::Packed)));
}

TEST_CASE("reads come packed where they may") {
  Options options;
  options.slot_bytes = SlotBytes;
  options.packs = true;
  Ready client(real_driver(), {}, std::move(options));
  const ObjectId buffer = client.new_buffer(Size);
  Bytes content(Size);
  for (size_t i = 0; i < Size; ++i) content[i] = static_cast<uint8_t>(i < SlotBytes ? i * i >> 7 : i >> 12);
  for (size_t at = 0; at < Size; at += wire::LargestInline)
    client.write(client.queue, buffer, at, ByteView(content).subspan(at, std::min(wire::LargestInline, Size - at)));
  chunks::PiecePacker packer;
  for (const uint8_t packing : std::array<uint8_t, 4>{0, 1, 19, 255}) {
    Bytes memory(Size);
    const auto segment = client.link().expose(memory.data(), memory.size());
    REQUIRE(segment.ok());
    wire::Read m;
    m.queue = client.queue;
    m.mem = buffer;
    m.event = client.new_id();
    m.transfer = 7;
    m.data_path = wire::DataPath::Stream;
    m.segment = *segment;
    m.part.region[0] = m.bytes = Size;
    m.packing = packing;
    client.send(m);
    CHECK(client.completion(m.event).status == CL_COMPLETE);
    const copy::Chunks chunks(m.part, 1, SlotBytes);
    const std::lock_guard lock(client.mutex);
    CHECK(client.puts.size() == (packing ? chunks.count() : 0));
    for (uint32_t i = 0; i < client.puts.size(); ++i) {
      const auto [notice, bytes] = client.puts[i];
      const copy::Chunks::Chunk chunk = chunks.at(i);
      const bool packed = wire::slot_of(notice) & wire::PackedChunk;
      CHECK(notice == wire::read_notice(7, i, packed));
      if (!packed) continue;
      const Bytes sent(memory.data() + chunk.offset, memory.data() + chunk.offset + bytes);
      CHECK(chunks::unpack_chunk(packer, sent, std::span(memory).subspan(chunk.offset, chunk.bytes)));
    }
    CHECK(memory == content);
    client.puts.clear();
    CHECK((client.executor->counters().packed_bytes_out > 0) == (packing != 0));
    REQUIRE(client.link().withdraw(*segment).ok());
  }
}

TEST_CASE("what is wrong closes the link") {
  Stores stores(64 << 20);
  const Name name{};
  const auto wrong = [&](auto say, bool recalls = true) {
    Namer client(stores);
    if (recalls) client.recall();
    const wire::Write m = client.begin(0, SlotBytes);
    say(client, m);
    CHECK(client.closes());
  };
  const auto recipe_is_wrong = [&](wire::Recipe recipe) {
    wrong([&](Namer& client, const wire::Write& m) { client.put_recipe(m, recipe, 0); });
  };
  recipe_is_wrong({});
  recipe_is_wrong({0, {}});
  recipe_is_wrong({PieceBytes, {}});
  recipe_is_wrong({PieceBytes, {{}, {}}});
  recipe_is_wrong({uint32_t{SlotBytes} + 1, {{}, {}, {}, {}, {}}});
  recipe_is_wrong({~0u, {{}}});
  recipe_is_wrong({100, {{wire::PieceForm::Named, 0, ByteView(name).first(31)}}});
  recipe_is_wrong({100, {{wire::PieceForm::Named, 5, name}}});
  recipe_is_wrong({100, {{static_cast<wire::PieceForm>(9), 0, {}}}});
  recipe_is_wrong({100, {{wire::PieceForm::Packed, 0, {}}}});
  recipe_is_wrong({100, {{wire::PieceForm::Packed, 50, {}}}});  // nothing that is packed
  recipe_is_wrong({100, {{wire::PieceForm::Packed, 101, {}}}});
  recipe_is_wrong({100, {{wire::PieceForm::Packed, ~0u, {}}}});
  recipe_is_wrong({100, {{wire::PieceForm::Packed, 50, name}}});
  wrong([&](Namer& client, const wire::Write& m) {  // a size that lies
    Bytes packed(1000);
    packed.resize(chunks::PiecePacker().pack(Bytes(200), 1, 1, packed));
    client.link().put(packed.data(), client.address(0), packed.size());
    client.put_recipe(m, {100, {{wire::PieceForm::Packed, static_cast<uint32_t>(packed.size()), {}}}}, 0);
  });
  const auto notice = [](uint32_t slot_and_flags) {
    return [slot_and_flags](Namer& client, const wire::Write& m) {
      const char byte = 0;
      client.link().put(&byte, client.address(0), 1, wire::chunk_notice(m.transfer, slot_and_flags));
    };
  };
  wrong(notice(wire::Completes));
  wrong(notice(wire::ByRecipe));  // a byte of nothing
  wrong(notice(4));
  wrong(notice(wire::Keep | 4));
  wrong(notice(wire::ByRecipe | 77));
  wrong(notice(wire::ByRecipe), false);
  wrong([&](Namer& client, const wire::Write& m) {  // by name, although no names were said to come
    client.put_recipe(m, {100, {{wire::PieceForm::Named, 0, name}}}, 0);
  }, false);
  wrong([](Namer& client, const wire::Write&) { client.send(wire::Recall{}); });
  wrong([&](Namer& client, const wire::Write& m) {  // two chunks in one slot
    const Bytes chunk = random_bytes(7, SlotBytes);
    CHECK(client.put_named(m, chunk, 15).size() == 4);
    client.put_recipe(m, {PieceBytes, {{}}}, client.last_slot);
  });
}

}  // namespace
}  // namespace gt::exec
