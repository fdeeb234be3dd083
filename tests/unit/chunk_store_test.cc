// Pieces by name: right bytes or none, whatever a file holds, who else uses it, or who asks.
#include "transport/chunks/chunk_store.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <map>
#include <optional>
#include <random>
#include <string>

#include "tests/random_bytes.h"
#include "transport/link/hello/sha256.h"

namespace gt::chunks {
namespace {

constexpr uint64_t Place = PieceBytes + sizeof(ChunkStore::Entry);
constexpr uint64_t room_for(uint64_t pieces) { return 4096 + 4096 + pieces * Place; }

Key key_of_text(std::string_view secret) { return key_of(as_bytes(secret)); }
const Key Ours = key_of_text("ours");

Bytes piece_of(std::mt19937& random, size_t bytes = PieceBytes) {
  Bytes piece(bytes);
  testing::randomize(random, piece);
  return piece;
}

// A file in memory that may be opened again and again.
struct File {
  explicit File(uint64_t bytes) : fd(::memfd_create("store", MFD_CLOEXEC)) {
    REQUIRE(::ftruncate(fd.get(), static_cast<off_t>(bytes)) == 0);
  }
  Fd again() const { return Fd(::open(("/proc/self/fd/" + std::to_string(fd.get())).c_str(), O_RDWR | O_CLOEXEC)); }
  ChunkStore store(const Key& key = Ours) const {
    Result<ChunkStore> opened = ChunkStore::open(again(), key);
    REQUIRE(opened.ok());
    return std::move(*opened);
  }
  void spoil(uint64_t at, size_t bytes) const {
    Bytes wrong(bytes, 0x5a);
    REQUIRE(::pwrite(fd.get(), wrong.data(), bytes, static_cast<off_t>(at)) == static_cast<ssize_t>(bytes));
  }
  uint64_t bytes() const {
    struct stat about {};
    ::fstat(fd.get(), &about);
    return static_cast<uint64_t>(about.st_size);
  }
  Fd fd;
};

bool holds(ChunkStore& store, const Name& name, const Bytes& piece) {
  Bytes read(piece.size());
  return store.read(name, read.data(), read.size()) && read == piece;
}

TEST_CASE("a name is the HMAC-SHA256 of the bytes, whatever computes it") {
  PieceNamer namer(Ours);
  std::mt19937 random(1);
  for (const size_t bytes : {size_t{0}, size_t{1}, size_t{55}, size_t{64}, size_t{1000}, size_t{PieceBytes}}) {
    const Bytes piece = piece_of(random, bytes);
    const ByteView parts[] = {piece};
    CHECK(namer.name(piece) == wire::hmac_sha256(Ours, parts));
  }
}

TEST_CASE("names of others are other names, and owners do not tell keys") {
  const Key theirs = key_of_text("theirs");
  PieceNamer our(Ours), their(theirs);
  const Bytes piece(100, 7);
  CHECK(our.name(piece) != their.name(piece));
  CHECK(owner_of(Ours) != owner_of(theirs));
  CHECK(owner_of(Ours) != Ours);
}

TEST_CASE("what was added is there, in the next session, too") {
  const File file(room_for(4));
  PieceNamer namer(Ours);
  std::mt19937 random(2);
  const Bytes whole = piece_of(random), part = piece_of(random, 1000);
  {
    ChunkStore store = file.store();
    CHECK(store.room() == 4 * PieceBytes);
    CHECK(store.add(namer.name(whole), whole));
    CHECK(store.add(namer.name(part), part));
    CHECK(holds(store, namer.name(whole), whole));
  }
  ChunkStore again = file.store();
  CHECK(again.pieces() == 2);
  CHECK(holds(again, namer.name(whole), whole));
  CHECK(holds(again, namer.name(part), part));
  Bytes longer(1001);
  CHECK_FALSE(again.read(namer.name(part), longer.data(), longer.size()));
  CHECK(again.recall(10).size() == 2);
  CHECK(again.recall(1).size() == 1);
}

TEST_CASE("the least recently used piece makes room") {
  const File file(room_for(3));
  ChunkStore store = file.store();
  PieceNamer namer(Ours);
  std::mt19937 random(3);
  std::vector<Bytes> pieces;
  for (int i = 0; i < 4; ++i) pieces.push_back(piece_of(random));
  for (int i = 0; i < 3; ++i) CHECK(store.add(namer.name(pieces[i]), pieces[i]));
  CHECK(holds(store, namer.name(pieces[0]), pieces[0]));
  CHECK(store.add(namer.name(pieces[3]), pieces[3]));
  CHECK(holds(store, namer.name(pieces[0]), pieces[0]));
  CHECK_FALSE(store.has(namer.name(pieces[1])));
  CHECK(holds(store, namer.name(pieces[3]), pieces[3]));
  CHECK(store.recall(1).front() == shortened(namer.name(pieces[3])));
}

TEST_CASE("another owner's names lead to nothing, in the same file, too") {
  const File file(room_for(4));
  PieceNamer namer(Ours);
  const Bytes piece(PieceBytes, 3);
  const Name name = namer.name(piece);
  CHECK(file.store().add(name, piece));
  ChunkStore theirs = file.store(key_of_text("theirs"));
  CHECK_FALSE(holds(theirs, name, piece));
}

TEST_CASE("no room for a piece is an error, another size or version an empty store") {
  CHECK(ChunkStore::open(File(4096).again(), Ours).status().kind() == Kind::Invalid);
  CHECK(ChunkStore::open(Fd(), Ours).status().kind() == Kind::System);
  const File file(room_for(4));
  PieceNamer namer(Ours);
  const Bytes piece(PieceBytes, 3);
  CHECK(file.store().add(namer.name(piece), piece));
  REQUIRE(::ftruncate(file.fd.get(), static_cast<off_t>(room_for(5))) == 0);
  CHECK(file.store().pieces() == 0);
  CHECK(file.store().add(namer.name(piece), piece));
  file.spoil(16, 1);
  CHECK(file.store().pieces() == 0);
}

TEST_CASE("a damaged piece is none, and its place is free") {
  const File file(room_for(2));
  ChunkStore store = file.store();
  PieceNamer namer(Ours);
  std::mt19937 random(4);
  const Bytes one = piece_of(random), other = piece_of(random);
  CHECK(store.add(namer.name(one), one));
  CHECK(store.add(namer.name(other), other));
  file.spoil(8192 + 100, 1);
  CHECK_FALSE(holds(store, namer.name(one), one));
  CHECK_FALSE(store.has(namer.name(one)));
  CHECK(holds(store, namer.name(other), other));
  CHECK(store.add(namer.name(one), one));
  CHECK(holds(store, namer.name(one), one));
}

TEST_CASE("a seal is of these bytes, this name, this owner and this store") {
  const Salt salt{1}, other_salt{2};
  PieceNamer namer(Ours);
  PieceSealer sealer(Ours, salt);
  std::mt19937 random(7);
  const Bytes piece = piece_of(random);
  const Name name = namer.name(piece);
  const Seal seal = sealer.seal(piece, name);
  CHECK(sealer.seal(piece, name) == seal);
  CHECK(PieceSealer(Ours, salt).seal(piece, name) == seal);
  CHECK(PieceSealer(Ours, other_salt).seal(piece, name) != seal);
  CHECK(PieceSealer(key_of_text("theirs"), salt).seal(piece, name) != seal);
  for (const size_t at : {size_t{0}, piece.size() / 2, piece.size() - 1}) {
    Bytes changed = piece;
    changed[at] ^= 1;
    CHECK(sealer.seal(changed, name) != seal);
  }
  CHECK(sealer.seal(ByteView(piece).first(piece.size() - 1), name) != seal);
  Name other = name;
  other[0] ^= 1;
  CHECK(sealer.seal(piece, other) != seal);
}

TEST_CASE("what another store of the same owner holds is nothing here; nor is a piece under another's name") {
  constexpr uint64_t Index = 4096, Data = 8192;
  const auto copy = [](const File& from, uint64_t at, const File& to, uint64_t where, size_t bytes) {
    Bytes some(bytes);
    REQUIRE(::pread(from.fd.get(), some.data(), bytes, static_cast<off_t>(at)) == static_cast<ssize_t>(bytes));
    REQUIRE(::pwrite(to.fd.get(), some.data(), bytes, static_cast<off_t>(where)) == static_cast<ssize_t>(bytes));
  };
  const File one(room_for(2)), other(room_for(2));
  PieceNamer namer(Ours);
  std::mt19937 random(8);
  const Bytes first = piece_of(random), second = piece_of(random);
  {
    ChunkStore store = one.store();
    CHECK(store.add(namer.name(first), first));
    CHECK(store.add(namer.name(second), second));
    CHECK(other.store().pieces() == 0);
  }
  copy(one, Index, other, Index, sizeof(ChunkStore::Entry));
  copy(one, Data, other, Data, PieceBytes);
  ChunkStore there = other.store();
  CHECK(there.pieces() == 1);
  CHECK_FALSE(holds(there, namer.name(first), first));
  copy(one, Data + PieceBytes, one, Data, PieceBytes);
  ChunkStore here = one.store();
  CHECK_FALSE(holds(here, namer.name(first), first));
  CHECK(holds(here, namer.name(second), second));
}

TEST_CASE("a disk that is full: nothing is added, what is there stays") {
  char path[] = "/tmp/gt_store_XXXXXX";
  const Fd made(::mkstemp(path));
  ::unlink(path);
  REQUIRE(::ftruncate(made.get(), static_cast<off_t>(room_for(8))) == 0);
  Result<ChunkStore> store = ChunkStore::open(Fd(::dup(made.get())), Ours);
  REQUIRE(store.ok());
  PieceNamer namer(Ours);
  std::mt19937 random(5);
  const Bytes one = piece_of(random), other = piece_of(random);
  CHECK(store->add(namer.name(one), one));
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit little{8192 + PieceBytes, before.rlim_max};
  std::signal(SIGXFSZ, SIG_IGN);
  ::setrlimit(RLIMIT_FSIZE, &little);
  const bool added = store->add(namer.name(other), other);
  ::setrlimit(RLIMIT_FSIZE, &before);
  CHECK_FALSE(added);
  CHECK_FALSE(store->has(namer.name(other)));
  CHECK(holds(*store, namer.name(one), one));
}

TEST_CASE("several processes at one file: right bytes or none") {
  const File file(room_for(6));
  std::vector<ChunkStore> stores;
  for (int i = 0; i < 3; ++i) stores.push_back(file.store());
  PieceNamer namer(Ours);
  std::mt19937 random(6);
  std::vector<Bytes> pieces;
  for (int i = 0; i < 12; ++i) pieces.push_back(piece_of(random, 1 + random() % PieceBytes));
  size_t found = 0;
  for (int i = 0; i < 300; ++i) {
    ChunkStore& store = stores[random() % stores.size()];
    const Bytes& piece = pieces[random() % pieces.size()];
    const Name name = namer.name(piece);
    Bytes read(piece.size());
    if (store.read(name, read.data(), read.size())) {
      CHECK(read == piece);
      ++found;
    } else {
      CHECK(store.add(name, piece));
    }
  }
  CHECK(found > 30);
}

TEST_CASE("random uses, damage and sizes: right bytes or none") {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    const uint64_t places = 1 + random() % 5;
    const File file(room_for(places) + random() % 100);
    std::optional<ChunkStore> store = file.store();
    PieceNamer namer(Ours);
    std::map<Name, Bytes> all;
    for (int step = 0; step < 60; ++step) {
      const auto what = random() % 10;
      if (what < 4) {
        const Bytes piece = piece_of(random, 1 + random() % (random() % 2 ? PieceBytes : 500));
        const Name name = namer.name(piece);
        all[name] = piece;
        store->add(name, piece);
      } else if (what < 8 && !all.empty()) {
        auto one = all.begin();
        std::advance(one, static_cast<long>(random() % all.size()));
        Bytes read(one->second.size());
        if (store->read(one->first, read.data(), read.size())) CHECK(read == one->second);
      } else if (what == 8) {
        file.spoil(random() % (file.bytes() - 100), 1 + random() % 100);
      } else {
        store.emplace(file.store());
      }
      CHECK(store->pieces() <= places);
    }
  }
}

}  // namespace
}  // namespace gt::chunks
