// Pieces of one owner's data, by their names: a file of fixed size, in memory or on a disk, that outlives sessions.
//
//   header   4 KiB: StoreHeader, whose salt makes a key of the owner's that no client has
//   index    an Entry for each place, as many as fit
//   places   of PieceBytes each
//
// Several processes may use a file at a time, each through its own ChunkStore, without locks: what is read is sealed
// again (piece_seal.h) and compared, so whatever a file holds (others' writing half done, damage, another key's pieces)
// is the right bytes or nothing. For the same reason nothing else is checked. The least recently used piece makes room;
// what others use and add is seen when their place is about to be taken.
//
// The file is read and written, never mapped: one that is cut short, or a disk that is full or broken, is a piece less.
// Invariant: every place is in exactly one of free_ and by_use_; names_ has those of by_use_.
// Thread safety: none.
#pragma once

#include <memory>
#include <set>
#include <unordered_map>
#include <vector>

#include "traces/base/fd.h"
#include "transport/chunks/piece_seal.h"

namespace gt::chunks {

struct StoreHeader {
  char magic[16];  // "gtrace chunks"
  uint32_t version, piece_bytes;
  uint64_t places;
  Salt salt;
};

class ChunkStore {
 public:
  struct Entry {
    Name name{};
    uint32_t bytes = 0;  // 0: the place is free
    uint32_t form = 0;   // how they are stored: 0, as they are
    uint64_t used_ns = 0;
    Seal seal{};  // of name and bytes
  };
  static_assert(sizeof(Entry) == 64);
  static constexpr uint64_t HeaderBytes = 4096, MostPlaces = 1 << 20;

  // Of a file that is as large as it may be. One that is no store, or of another version, becomes an empty one. Errors:
  // Invalid (no room for a piece), System.
  static Result<ChunkStore> open(Fd file, const Key& key);
  // Of this name's piece, if it is here, is sound, and has this length: what is at `to` may change in any case.
  bool read(const Name& name, void* to, size_t bytes);
  bool has(const Name& name) const { return names_.contains(name); }
  // REQUIRES: `name` is that of `piece`, of PieceBytes at most. False: it cannot be written.
  bool add(const Name& name, ByteView piece);

  uint64_t room() const { return entries_.size() * PieceBytes; }
  size_t pieces() const { return by_use_.size(); }
  // The most recently used ones first.
  std::vector<ShortName> recall(size_t most) const;

 private:
  using Place = uint32_t;
  struct HashName {
    size_t operator()(const Name& name) const;
  };

  explicit ChunkStore(Fd file) : file_(std::move(file)) {}
  Status read_index(uint64_t file_bytes, const Key& key);
  uint64_t at_entry(Place place) const { return HeaderBytes + place * sizeof(Entry); }
  uint64_t at_piece(Place place) const { return data_at_ + uint64_t{place} * PieceBytes; }
  bool write_entry(Place place, const Entry& entry);
  void take_over(Place place, const Entry& entry);
  void forget(Place place);
  void touch(Place place);
  bool choose(Place& place);

  Fd file_;
  std::unique_ptr<PieceSealer> sealer_;
  uint64_t data_at_ = 0;
  std::vector<Entry> entries_;  // as this process knows them
  std::unordered_map<Name, Place, HashName> names_;
  std::set<std::pair<uint64_t, Place>> by_use_;
  std::set<Place> free_;
  uint64_t paused_until_ns_ = 0;  // the disk is full
};

}  // namespace gt::chunks
