// Chunks of writes whose pieces come by their names, or compressed (docs/WIRE_FORMAT.md, Chunks by name; Compressed).
//
// A chunk of a streamed write is cut into pieces of ChunkOffer::piece_bytes. A sender that believes the receiver to
// have some of them puts only the others to their places in the slot, compressed or not, then a Recipe beside it, and a
// notice of that. The receiver fills in what it has, and says with Filled which pieces it lacks: those follow, the last
// with a notice.
//
// `Keep` in the notice of a chunk: the receiver may keep its pieces; Kept tells which it has.
// Thread safety: values.
#pragma once

#include <array>

#include "transport/chunks/piece_name.h"
#include "transport/protocol/codec.h"
#include "transport/protocol/messages.h"

namespace gt::wire {

// In the slot's half of a chunk's notice.
constexpr uint32_t ByRecipe = uint32_t{1} << 31;   // what has arrived is a Recipe
constexpr uint32_t Completes = uint32_t{1} << 30;  // what has arrived is the last of the pieces that Filled asked for
constexpr uint32_t Keep = uint32_t{1} << 29;       // the pieces of this chunk may be kept
constexpr uint32_t ChunkFlags = ByRecipe | Completes | Keep;

// The notice of a chunk of a read that may come packed: which transfer, the chunk's number in it, and whether what has
// arrived at its place is a packed chunk.
constexpr uint32_t PackedChunk = uint32_t{1} << 31;
constexpr Notice read_notice(uint32_t transfer, uint32_t chunk, bool packed) {
  return chunk_notice(transfer, chunk | (packed ? PackedChunk : 0));
}

constexpr uint32_t flags_of(Notice notice) { return static_cast<uint32_t>(notice) & ChunkFlags; }
constexpr Notice without_flags(Notice notice) { return notice & ~Notice{ChunkFlags}; }

// How a piece comes. Numbers that a receiver does not know (ChunkOffer::forms) are not sent to it.
// Packed: a packed piece (chunks/piece_pack.h) has been put to the piece's place. A receiver that knows it also packs
// what is read, where Read asks for it.
enum class PieceForm : uint8_t { Given, Named, Packed };
constexpr uint32_t bit_of(PieceForm form) { return uint32_t{1} << static_cast<unsigned>(form); }

struct Piece {
  PieceForm form = PieceForm::Given;
  uint32_t packed = 0;  // Packed: how many bytes have been put; else 0
  ByteView name;        // Named: a chunks::Name
  template <class V>
  void fields(V& v) { v(form, packed, name); }
};

struct Recipe {
  uint32_t bytes = 0;  // of the chunk
  std::vector<Piece> pieces;
  template <class V>
  void fields(V& v) { v(bytes, pieces); }
};
// Room for the recipe of a slot, all of whose pieces come by name.
constexpr uint32_t recipe_bytes(uint64_t slot_bytes, uint32_t piece_bytes) {
  constexpr uint64_t OfPiece = 1 + 4 + 4 + sizeof(chunks::Name);
  return static_cast<uint32_t>(64 + OfPiece * ((slot_bytes + piece_bytes - 1) / piece_bytes));
}

// Client: chunks will come by name. Once, and answered by Kept.
struct Recall {
  static constexpr auto Type = MessageType::Recall;
  ByteView key;  // a chunks::Key, where the link is encrypted; else none: the token's
  template <class V>
  void fields(V& v) { v(key); }
};

// Executor: it has these pieces now. The first one answers Recall, with what it has kept of former sessions.
struct Kept {
  static constexpr auto Type = MessageType::Kept;
  uint64_t room = 0;  // bytes that it may keep in all; 0: none
  std::vector<chunks::ShortName> names;
  template <class V>
  void fields(V& v) { v(room, names); }
};

// Executor: the chunk in this slot came by a recipe, and these pieces of it are not here. None: the sender's memory may
// change.
struct Filled {
  static constexpr auto Type = MessageType::Filled;
  uint32_t slot = 0;
  std::vector<uint16_t> missing;
  template <class V>
  void fields(V& v) { v(slot, missing); }
};

}  // namespace gt::wire
