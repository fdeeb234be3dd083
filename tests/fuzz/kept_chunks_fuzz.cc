// libFuzzer: any bytes as a client's chunks and recipes, and as the file in which they are kept. The executor answers,
// or closes the link; what the file holds is the right bytes of a piece, or none.
//
// Input: [bytes of the file low][high][file...], then steps: [slot and flags][transfer][length low][high][recipe...].
// Recipes have pieces by name and compressed ones.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "tests/fake_cl/driver.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/seeds.h"
#include "tests/unit/call_frames.h"
#include "transport/chunks/chunk_store.h"
#include "transport/chunks/piece_pack.h"
#include "transport/executor/executor.h"
#include "transport/link/local_link.h"
#include "transport/protocol/chunk_messages.h"

using namespace gt;

namespace {

constexpr uint64_t Slot = chunks::PieceBytes + 5000, FileBytes = 8192 + 3 * (chunks::PieceBytes + 64);
constexpr uint32_t Slots = 4;
const chunks::Key Key = chunks::key_of(as_bytes("token"));

Fd made_file() {
  Fd file(::memfd_create("chunks", MFD_CLOEXEC));
  if (::ftruncate(file.get(), static_cast<off_t>(FileBytes)) != 0) std::abort();
  return file;
}
Fd again(const Fd& file) {
  return Fd(::open(("/proc/self/fd/" + std::to_string(file.get())).c_str(), O_RDWR | O_CLOEXEC));
}

const Bytes& piece() {
  static const Bytes bytes(1000, 9);
  return bytes;
}
const chunks::Name& its_name() {
  static const chunks::Name name = chunks::PieceNamer(Key).name(piece());
  return name;
}

// The bytes that a store with one piece begins with.
Bytes sound_file() {
  const Fd file = made_file();
  Result<chunks::ChunkStore> store = chunks::ChunkStore::open(again(file), Key);
  if (!store || !store->add(its_name(), piece())) std::abort();
  Bytes bytes(8192 + piece().size());
  if (::pread(file.get(), bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) std::abort();
  return bytes;
}

// Waits for what it must have told.
struct Listener : wire::LinkHandler {
  void on_frame(ByteView frame) override {
    if (!frame.empty() && frame[0] == static_cast<uint8_t>(wire::MessageType::Kept)) told = true;
  }
  void on_put(wire::Notice, size_t) override {}
  void on_closed(const Status&) override {}
  std::atomic<bool> told{false};
};

exec::Functions functions() {
  exec::Functions all;
  for (uint16_t fn = 1; fn < api::FnCount; ++fn) all.of[fn] = fake::exported(static_cast<api::FnId>(fn));
  return all;
}

void try_store(const Fd& file) {
  Result<chunks::ChunkStore> store = chunks::ChunkStore::open(again(file), Key);
  if (!store) std::abort();
  Bytes read(piece().size());
  if (store->read(its_name(), read.data(), read.size()) && read != piece()) std::abort();
  chunks::PieceNamer namer(Key);
  for (uint8_t i = 0; i < 5; ++i) {
    const Bytes other(100 + i, i);
    if (!store->add(namer.name(other), other)) std::abort();
    Bytes back(other.size());
    if (!store->read(namer.name(other), back.data(), back.size()) || back != other) std::abort();
  }
  if (store->recall(100).size() > 3) std::abort();
}

void step(fuzz::Input& input, wire::Link& link, const wire::Surveyed& to) {
  const uint8_t what = input.byte(), transfer = input.byte();
  const size_t length = input.byte() | size_t{input.byte()} << 8;
  const ByteView bytes = input.bytes(length);
  const uint32_t slot = what & 7u, flags = uint32_t{what} >> 5 << 29;
  const wire::Notice notice = wire::chunk_notice(transfer, slot | flags);
  if (what & 8)  // what a recipe is to follow
    link.put(bytes.data(), {to.inbox_segment, std::min(slot, Slots - 1) * Slot}, bytes.size());
  else if ((flags & wire::ByRecipe) && bytes.size() <= to.chunks.recipe_bytes && slot < Slots)
    link.put(bytes.data(), {to.chunks.recipe_segment, uint64_t{slot} * to.chunks.recipe_bytes}, bytes.size(), notice);
  else
    link.put(bytes.data(), {to.inbox_segment, std::min(slot, Slots - 1) * Slot}, bytes.size(), notice);
}

}  // namespace

std::vector<Bytes> fuzz_seeds() {
  const Bytes file = sound_file();
  Bytes input = file;
  for (const size_t byte : {file.size() >> 8, file.size() & 255})
    input.insert(input.begin(), static_cast<uint8_t>(byte));
  const auto add = [&](uint8_t what, ByteView bytes) {
    for (const size_t byte : {size_t{what}, size_t{1}, bytes.size() & 255, bytes.size() >> 8})
      input.push_back(static_cast<uint8_t>(byte));
    input.insert(input.end(), bytes.begin(), bytes.end());
  };
  Bytes recipe;
  wire::Encoder encoder(recipe);
  encoder(wire::Recipe{static_cast<uint32_t>(piece().size()), {{wire::PieceForm::Named, 0, its_name()}}});
  add(0x80, recipe);
  const chunks::Name unknown{};
  recipe.clear();
  encoder(wire::Recipe{500, {{wire::PieceForm::Named, 0, unknown}}});
  add(0xa1, recipe);
  add(0x41, Bytes(500));
  // A packed piece, and the recipe that says so.
  Bytes packed(1000);
  packed.resize(chunks::PiecePacker().pack(Bytes(600, 3), 4, 1, packed));
  add(0x0b, packed);
  recipe.clear();
  encoder(wire::Recipe{600, {{wire::PieceForm::Packed, static_cast<uint32_t>(packed.size()), {}}}});
  add(0x83, recipe);
  add(0x22, Bytes(800));
  return {input, {0, 0}};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const exec::Functions all = functions();
  fuzz::Input input(data, size);
  const Fd file = made_file();
  const ByteView bytes = input.bytes(input.byte() | size_t{input.byte()} << 8);
  if (::pwrite(file.get(), bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) std::abort();
  auto [mine, theirs] = wire::make_local_link();
  Listener listener;
  exec::Options options;
  options.inbox_slots = Slots;
  options.slot_bytes = Slot;
  options.packs = true;
  options.open_chunk_store = [&file](const chunks::Owner&) { return again(file); };
  options.chunk_key = Key;
  {
    exec::Executor executor(all, *theirs, {}, std::move(options));
    if (!mine->start(listener).ok() || !executor.start().ok()) std::abort();
    // As Surveyed says them: segments are numbered as they are made.
    wire::Surveyed to;
    to.inbox_segment = 1;
    to.chunks.recipe_segment = 2;
    to.chunks.recipe_bytes = wire::recipe_bytes(Slot, chunks::PieceBytes);
    executor.on_frame(testing::framed(wire::Recall()));
    while (!listener.told && !mine->is_closed()) std::this_thread::yield();
    while (!input.empty() && !mine->is_closed()) step(input, *mine, to);
  }
  try_store(file);
  return 0;
}
