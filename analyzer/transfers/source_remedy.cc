// What can be done to make the transfers of a memory faster: a pool in its place, or staging.
#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "analyzer/transfers/transfer_sources.h"

namespace gt::analyzer {
namespace {

using model::ObjectKind;

constexpr const char* Stage = "Copy it in pieces through a buffer made with CL_MEM_ALLOC_HOST_PTR and mapped (staging)";

// The optimizer's pools stand in for malloc and its kin only.
bool can_be_pooled(std::string_view function) {
  constexpr std::array<std::string_view, 6> Others = {"mmap", "mmap64", "mremap", "munmap", "brk", "sbrk"};
  return std::find(Others.begin(), Others.end(), function) == Others.end();
}

bool is_programs_own(ObjectKind kind) {
  return kind == ObjectKind::Segment || kind == ObjectKind::String || kind == ObjectKind::Stack ||
         kind == ObjectKind::Static || kind == ObjectKind::File || kind == ObjectKind::Unknown;
}

std::string nobody_tells(const TransferSource& source) {
  std::string text = "Nothing tells who allocated it";
  if (source.unlisted_below > 0)
    text += fmt::format(
        ": the trace lists no block below {} bytes (gtrace run --no-memory-detail), whose transfers other memory would "
        "not make faster", source.unlisted_below);
  const bool only_small = source.sums.sizes.max < source.unlisted_below;
  return text + (only_small ? "." : std::string(". ") + Stage + ".");
}

}  // namespace

std::string TransferSource::remedy() const {
  const std::string shared = "The devices work in the host's memory: ";
  if (on_host && kind == ObjectKind::Mapping) return shared + "a mapping is that memory itself.";
  if (on_host && is_programs_own(kind))
    return shared + "a buffer over this memory (CL_MEM_USE_HOST_PTR), or one that is mapped, needs no copy.";
  switch (kind) {
    case ObjectKind::Segment:
      if (can_be_pooled(call)) return "goptimize run can give this call memory that the devices reach directly.";
      return "goptimize does not replace " + call + ". Allocate with malloc or new instead, which it replaces.";
    case ObjectKind::String:
      return "goptimize does not replace " + call + ". Allocate with malloc or new and copy, which it replaces.";
    case ObjectKind::Stack:
      return std::string("No call allocates it. ") + Stage +
             ", or use memory from malloc or new, which goptimize "
             "replaces.";
    case ObjectKind::Static:
      return std::string("No call allocates it. ") + Stage +
             ", or make a buffer over it with CL_MEM_USE_HOST_PTR, "
             "which pins it in place, or use memory from malloc or new, which goptimize replaces.";
    case ObjectKind::File:
      return std::string("The file's pages are not the program's to pin. ") + Stage +
             ", or read the file into memory "
             "from malloc or new, which goptimize replaces.";
    case ObjectKind::Svm:
      return "OpenCL allocated it: there is no faster memory to put in its place.";
    case ObjectKind::Mapping:
      return "The driver chose this memory. With CL_MEM_ALLOC_HOST_PTR it is memory that the devices reach directly.";
    case ObjectKind::Buffer:
    case ObjectKind::Image:
    case ObjectKind::Pipe:
      return "The driver moves it by itself; no memory of the program is involved.";
    default:
      return nobody_tells(*this);
  }
}

}  // namespace gt::analyzer
