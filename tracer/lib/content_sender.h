// --capture full: the bytes of contents, on their way to the collector.
//
//   ContentPiece, ContentPiece, ... Content      in the ring of the call's thread, behind its Enter record
//
// What was sent lately is not sent again: a table of hashes, shared by all threads, of which any may be lost. What a
// process has sent it has sent for itself: one that was forked begins anew. The collector remembers far more contents
// than the table has places (content_numbers.h), so it never lacks what stays at home.
// Thread safety: any thread; no lock, no allocation. Cost: of what is sent, two hashes and a copy; else a look at four
// words.
#pragma once

#include "tracer/lib/recorder.h"
#include "traces/api/host_box.h"

namespace gt::tracer {

struct Content {
  uint64_t hash = 0;
  uint64_t bytes = 0;  // 0: not known
};

// REQUIRES: `content` is that of the box behind `p`, which can be read; the thread records a call. Gives the content of
// the bytes that were sent: other ones, where somebody writes them meanwhile.
Content send_content(const void* p, const api::HostBox& box, const Content& content) noexcept;

}  // namespace gt::tracer
