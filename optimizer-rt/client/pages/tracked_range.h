// Memory of the program's that it shares with a device, kept in step by page protection: between commands the program's
// page is the truth or the device's is.
//
// A range lies at an address that the caller gives and is a file mapped twice: the program's view, whose protection
// says what each page is, and an alias of ours, so that no thread of the program sees a page that is half filled.
//
//   Fresh   the program may read and write; what it never touched takes no memory and is never sent. How all pages
//   begin. Clean   both have the same bytes. The program may read; what it writes becomes Dirty, some pages ahead with
//   it. Dirty   the program has newer bytes, which take_dirty() gives away. It may read and write. Absent  the device
//   may have newer bytes. Who touches it waits until `fetch` has filled it; the pages that follow come
//           with it, more each time that touches go on where the last ones ended.
//
// The order of a launch: take_dirty(), send what it gave, send the launch, invalidate() what the launch may write. No
// page that was written is lost: it becomes Clean before its bytes are read, and what is Dirty stays so in
// invalidate().
//
// Memory that the program may write beside commands has hold() around that order: of what other threads write meanwhile
// and the device's bytes in the same page one would be lost, so their writes wait.
//
// System calls of the program do not raise a fault, they fail with EFAULT: reading from memory that is Absent, writing
// to memory that is Absent or Clean. bring() opens a range for them.
//
// A child of fork() gets a copy of all ranges that it may read and write; it fetches nothing.
// Thread safety: all functions, but for the destructor: nobody may use the range any more. `fetch` runs in a thread of
// ours or the one that calls bring(), with no lock held, never twice at a time for one page. No function may be called
// from a signal handler. Cost: nothing where there is no range. take_dirty() and invalidate() without anything to do:
// two loads; else a system call for each run of pages. 64 GiB that are reserved take address space and a few KiB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "optimizer-rt/client/pages/range_types.h"
#include "traces/base/status.h"

namespace gt::virt {

class RangeCore;

class TrackedRange {
 public:
  static constexpr size_t Page = SharedPage;
  using Fetch = PageFetch;
  using Setup = RangeSetup;
  using Counts = RangeCounts;
  // `from` is the alias; it stays mapped as long as the range lives.
  using Visit = std::function<void(size_t offset, size_t bytes, const void* from)>;

  // Kind::Busy: something else is at that address. Kind::System: no memory, or no address space. Kind::Unsupported: the
  // system's pages are larger than ours.
  static Result<std::unique_ptr<TrackedRange>> make(Setup setup);

  // Unmaps both views: who touches the range afterwards crashes, as with any freed memory. Waits for fetches that run.
  ~TrackedRange();
  TrackedRange(const TrackedRange&) = delete;
  TrackedRange& operator=(const TrackedRange&) = delete;

  std::byte* program_view() const;
  std::byte* alias() const;  // always readable and writable; who writes there says so: overwrite(), wrote_both()
  size_t bytes() const;

  // The device may have newer bytes from now on. Pages that are Dirty stay so: the program's bytes win.
  void invalidate(size_t offset, size_t bytes);
  void invalidate() { invalidate(0, bytes()); }

  // From before take_dirty() to after invalidate(): other threads' writes wait, not this thread's, nor any for longer
  // than a second or so (who holds may need what they have). Gives what release() takes, which any thread may call.
  int hold();
  void release(int held);

  // Whether take_dirty() may find something. Cost: a load.
  bool may_be_dirty() const;
  // Makes Clean what is Dirty, or Fresh and touched, and visits it in ascending order. Gives the number of bytes.
  size_t take_dirty(size_t offset, size_t bytes, const Visit& visit);
  size_t take_dirty(const Visit& visit) { return take_dirty(0, bytes(), visit); }

  // Reading: fetches what is Absent. Writing: makes it Dirty, too. For what would be a fault otherwise, or
  // EFAULT. Waits. False: a fetch failed.
  enum class For : uint8_t { Reading, Writing };
  bool bring(size_t offset, size_t bytes, For what);
  // All of these bytes are about to be written through the alias, or the device's bytes are about to be replaced by the
  // program's whole: Dirty without fetching, but for pages that are only partly in the range.
  bool overwrite(size_t offset, size_t bytes);

  // The same bytes are on both sides: what a transfer wrote to the device and through the alias.
  void wrote_both(size_t offset, size_t bytes);

  Counts counts() const;

  // The range that has the address, nullptr: none. Only as certain as that nobody ends it meanwhile.
  static TrackedRange* find(const void* p);

 private:
  explicit TrackedRange(std::unique_ptr<RangeCore> core);
  std::unique_ptr<RangeCore> core_;
};

}  // namespace gt::virt
