#include "transport/chunks/chunk_store.h"

#include <sys/random.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <ctime>

#include "traces/base/positioned_io.h"

namespace gt::chunks {
namespace {

constexpr uint32_t Version = 2;
constexpr uint64_t Second_ns = 1'000'000'000;

// Of a clock that goes on when a machine is started again.
uint64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * Second_ns + static_cast<uint64_t>(now.tv_nsec);
}

uint64_t index_end(uint64_t places) {
  constexpr uint64_t Page = 4096;
  return (ChunkStore::HeaderBytes + places * sizeof(ChunkStore::Entry) + Page - 1) / Page * Page;
}

// As many as fit, with their entries.
uint64_t places_in(uint64_t file_bytes) {
  if (file_bytes <= ChunkStore::HeaderBytes) return 0;
  uint64_t places = (file_bytes - ChunkStore::HeaderBytes) / (PieceBytes + sizeof(ChunkStore::Entry));
  while (places > 0 && index_end(places) + places * PieceBytes > file_bytes) --places;
  return std::min(places, ChunkStore::MostPlaces);
}

// Without a salt: that is different for each.
StoreHeader header_of(uint64_t places) {
  StoreHeader header{};
  std::strncpy(header.magic, "gtrace chunks", sizeof header.magic);
  header.version = Version;
  header.piece_bytes = PieceBytes;
  header.places = places;
  return header;
}

}  // namespace

size_t ChunkStore::HashName::operator()(const Name& name) const {
  size_t hash;
  std::memcpy(&hash, name.data(), sizeof hash);
  return hash;
}

Result<ChunkStore> ChunkStore::open(Fd file, const Key& key) {
  struct stat about {};
  if (::fstat(file.get(), &about) != 0) return system_error("a store of chunks", errno);
  GT_TRY(PieceNamer::available());
  ChunkStore store(std::move(file));
  GT_TRY(store.read_index(static_cast<uint64_t>(about.st_size), key));
  return store;
}

Status ChunkStore::read_index(uint64_t file_bytes, const Key& key) {
  const uint64_t places = places_in(file_bytes);
  if (places == 0) return {Kind::Invalid, "a store of chunks has no room for a piece"};
  data_at_ = index_end(places);
  entries_.resize(places);
  StoreHeader expected = header_of(places), header{};
  const size_t bytes = places * sizeof(Entry);
  const bool sound = pread_all(file_.get(), 0, sizeof header, &header) &&
                     std::memcmp(&header, &expected, offsetof(StoreHeader, salt)) == 0 &&
                     pread_all(file_.get(), HeaderBytes, bytes, entries_.data());
  if (!sound) {
    std::fill(entries_.begin(), entries_.end(), Entry());
    if (::getrandom(expected.salt.data(), expected.salt.size(), 0) != static_cast<ssize_t>(expected.salt.size()))
      return system_error("a store of chunks", errno);
    if (!pwrite_all(file_.get(), HeaderBytes, bytes, entries_.data()) ||
        !pwrite_all(file_.get(), 0, sizeof expected, &expected) ||
        !pread_all(file_.get(), 0, sizeof header, &header))  // others' salt, if they make it, too
      return system_error("a store of chunks", errno);
  }
  sealer_ = std::make_unique<PieceSealer>(key, header.salt);
  const uint64_t now = now_ns();
  for (Place place = 0; place < places; ++place) {
    free_.insert(place);
    Entry entry = std::exchange(entries_[place], Entry());
    if (entry.used_ns > now) entry.used_ns = 0;
    take_over(place, entry);
  }
  return {};
}

bool ChunkStore::write_entry(Place place, const Entry& entry) {
  return pwrite_all(file_.get(), at_entry(place), sizeof entry, &entry);
}

// What the file says of a place is what we know of it.
void ChunkStore::take_over(Place place, const Entry& entry) {
  forget(place);
  if (entry.bytes == 0 || entry.bytes > PieceBytes || entry.form != 0 || names_.contains(entry.name)) return;
  entries_[place] = entry;
  names_[entry.name] = place;
  by_use_.insert({entry.used_ns, place});
  free_.erase(place);
}

void ChunkStore::forget(Place place) {
  Entry& entry = entries_[place];
  if (entry.bytes == 0) return;
  names_.erase(entry.name);
  by_use_.erase({entry.used_ns, place});
  free_.insert(place);
  entry = Entry();
}

// The file hears of it once a second.
void ChunkStore::touch(Place place) {
  Entry& entry = entries_[place];
  const uint64_t before = entry.used_ns, now = now_ns();
  by_use_.erase({before, place});
  entry.used_ns = now;
  by_use_.insert({now, place});
  Entry in_file;
  if (now < before + Second_ns || !pread_all(file_.get(), at_entry(place), sizeof in_file, &in_file)) return;
  if (in_file.name == entry.name) write_entry(place, entry);
}

bool ChunkStore::read(const Name& name, void* to, size_t bytes) {
  const auto found = names_.find(name);
  if (found == names_.end()) return false;
  const Place place = found->second;
  if (entries_[place].bytes != bytes) return false;
  if (pread_all(file_.get(), at_piece(place), bytes, to) &&
      sealer_->seal({static_cast<const uint8_t*>(to), bytes}, name) == entries_[place].seal)
    return touch(place), true;
  forget(place);
  // Damaged, or others are writing there. Without its entry nobody takes it for sound.
  Entry in_file;
  if (pread_all(file_.get(), at_entry(place), sizeof in_file, &in_file) && in_file.name == name)
    write_entry(place, Entry());
  return false;
}

// A place that is free, or the least recently used one. One that others have taken meanwhile is theirs.
bool ChunkStore::choose(Place& place) {
  constexpr int Tries = 64;
  for (int i = 0; i < Tries; ++i) {
    place = free_.empty() ? by_use_.begin()->second : *free_.begin();
    Entry in_file;
    if (!pread_all(file_.get(), at_entry(place), sizeof in_file, &in_file)) return false;
    const Entry& known = entries_[place];
    if (in_file.bytes == known.bytes && in_file.name == known.name && in_file.used_ns <= known.used_ns) break;
    in_file.used_ns = std::min(in_file.used_ns, now_ns());
    take_over(place, in_file);
    if (entries_[place].bytes == 0) break;  // it was no entry, or of a piece that is elsewhere, too
  }
  return true;
}

bool ChunkStore::add(const Name& name, ByteView piece) {
  if (const auto known = names_.find(name); known != names_.end()) return touch(known->second), true;
  if (piece.empty() || piece.size() > PieceBytes || now_ns() < paused_until_ns_) return false;
  Place place = 0;
  const Entry entry{name, static_cast<uint32_t>(piece.size()), 0, now_ns(), sealer_->seal(piece, name)};
  const bool chosen = choose(place);
  if (names_.contains(name)) return true;  // others have added it
  bool written = chosen && write_entry(place, Entry());
  forget(place);
  written =
      written && pwrite_all(file_.get(), at_piece(place), piece.size(), piece.data()) && write_entry(place, entry);
  if (written) return take_over(place, entry), true;
  constexpr uint64_t Pause_ns = 5 * Second_ns;
  paused_until_ns_ = now_ns() + Pause_ns;
  return false;
}

std::vector<ShortName> ChunkStore::recall(size_t most) const {
  std::vector<ShortName> names;
  for (auto it = by_use_.rbegin(); it != by_use_.rend() && names.size() < most; ++it)
    names.push_back(shortened(entries_[it->second].name));
  return names;
}

}  // namespace gt::chunks
