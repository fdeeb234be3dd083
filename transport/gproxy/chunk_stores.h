// The files in which clients' chunks are kept (transport/chunks/chunk_store.h): one an owner, of a fixed size, in
// memory or in a folder. A worker gets the one of its client's, and no other.
//
// Of MostOwners the one that was not asked for longest goes when another comes; who uses it keeps what he has open.
// Thread safety: none; on the loop's thread.
#pragma once

#include <list>
#include <string>

#include "traces/base/fd.h"
#include "traces/base/status.h"
#include "transport/chunks/piece_name.h"

namespace gt::proxy {

class ChunkStores {
 public:
  static constexpr size_t MostOwners = 8;

  // `folder`: empty for memory. 0 `bytes`: there are none.
  ChunkStores(uint64_t bytes, std::string folder) : bytes_(bytes), folder_(std::move(folder)) {}
  // Makes the folder. Errors: others may look into it, or it cannot be made.
  Status open();
  // Opened for one worker; closed: it cannot be had, which the log says.
  Fd of(const chunks::Owner& owner);

 private:
  struct InMemory {
    chunks::Owner owner;
    Fd file;
  };
  Fd in_memory(const chunks::Owner& owner);
  Fd in_folder(const chunks::Owner& owner);
  Result<Fd> open_file(const std::string& path);
  void leave_room() const;

  const uint64_t bytes_;
  const std::string folder_;
  std::list<InMemory> kept_;  // the one asked for last at the front
};

}  // namespace gt::proxy
