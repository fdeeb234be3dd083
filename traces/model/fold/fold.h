// Folding: a stream of (shape, values) events becomes a tree of calls and loops, online, in one pass.
//
// Loops are recognised by shapes alone; values never decide structure, they become Series (series.h). So the
// structure of the tree is a function of the sequence of shapes, and random arguments, sizes and trip counts cost
// columns, not nodes. What has not folded within `window` nodes never will: it is frozen into Run nodes (compressed
// columns), so memory stays bounded for irregular programs too.
// Thread safety: one Folder per stream, one thread per Folder.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "traces/model/fold/event.h"
#include "traces/model/fold/run.h"

namespace gt::model {

class Rounds;

class Folder {
 public:
  Folder();
  ~Folder();
  Folder(Folder&&) noexcept;
  Folder& operator=(Folder&&) noexcept;

  // Cost: an event that continues the innermost open loop as predicted takes tens of nanoseconds and no allocation.
  // REQUIRES: the same shape always comes with the same number of values.
  void push(ShapeId shape, std::span<const int64_t> values);

  // Events that were just pushed, in this order, come again: as if each were pushed so many times more, in turn. Cost:
  // that of one round where they are iterations of the innermost open loop.
  void push_again(std::span<const PushedEvent> events, uint64_t times);

  // The folded stream so far. The Folder stays usable: snapshot() may be called at any time.
  std::vector<Node> snapshot() const;

  uint64_t events() const;       // pushed
  size_t memory_bytes() const;   // held now, about

  // What --max-size leaves out, in this order. Both count all that they take, and the stream goes on as before.
  size_t stored_bytes() const;   // of what grows with the stream: frozen nodes, columns; about
  void summarise_values();       // every column of values (not of trip counts) becomes its least and most
  void summarise_oldest(size_t bytes);  // the oldest nodes become one Summary, until so much less is stored

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Number of events that `nodes` stand for (0 < result for any non-empty stream).
uint64_t event_count(std::span<const Node> nodes);

// Calls of each shape.
bool count_shapes(std::span<const Node> nodes, std::span<const int> value_counts, ShapeCounts& counts);

// Every event in the order in which it was pushed. Stops early when `visit` returns false. `value_counts[shape]` is
// the number of values of a shape. Returns false when the nodes are damaged (impossible counts, short columns).
// The calls of a Summary node are gone: expand() passes over them. A value that was not kept is Unkept (column.h).
//
// `rounds`, if any, is offered the loops of calls alone (rounds.h) as they are entered and now and then in them, and
// `visit` is not told of the calls that it reads. It ends by returning false.
using RoundsVisitor = std::function<bool(Rounds&)>;
bool expand(std::span<const Node> nodes, std::span<const int> value_counts, const EventVisitor& visit,
            const RoundsVisitor& rounds = {});

// Appends to `out` a canonical description of structure: which calls there are (through `shape_key`, which must not
// depend on the run's numbering), in which loops, which of them an iteration may leave out, and the values that are the
// same in all calls of a shape; not trip counts, nor how the stream was folded. Equal for a program whatever its
// iteration count, once each of its branches was met (digest.cc).
void digest(std::span<const Node> nodes, std::span<const int> value_counts,
            const std::function<uint64_t(ShapeId)>& shape_key, ByteWriter& out);

// Node lists as bytes, for the store. decode_nodes gives false on damaged input and bounds what it allocates.
void encode_nodes(ByteWriter& out, const std::vector<Node>& nodes);
bool decode_nodes(ByteReader& in, std::vector<Node>& nodes, std::span<const int> value_counts);

}  // namespace gt::model
