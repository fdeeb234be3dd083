// What stands at a return address of a module: function, source line, inlined frames, the call
// instruction.
//
// Works offline, on the files that the trace names: ELF and DWARF through libdw, the instruction
// before the return address through Capstone. Debug information may be in a file of its own: the one that
// .gnu_debuglink names, beside the module or in .debug there, or by build-id under /usr/lib/debug. A file that is gone,
// or is another than the one traced (its build-id tells), gives module and offset only, and says why. Thread safety:
// none. Cost: a module is opened once, on the first question about it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/code/call_kind.h"
#include "traces/model/fold/event.h"

namespace gt::analyzer {

struct Frame {
  std::string function;  // demangled; empty when not known
  std::string file;
  int line = 0;  // 0: not known
};

enum class NamedBy : uint8_t {  // where `frames` come from
  Nothing,    // the module is stripped: there is only the offset, which the optimizer understands as well
  Symbols,    // function names without lines
  DebugInfo,  // DWARF, in the module or in a file of its own
};

struct CallSite {
  std::string module;  // path
  std::string build_id;
  uint64_t offset = 0;  // return address minus load bias
  std::vector<Frame>
      frames;  // innermost first; inlined ones come before the function that holds them
  CallKind call = CallKind::Unknown;
  std::string target;  // name of what is called, where the code tells; Indirect: the register or memory that has it
  NamedBy named_by = NamedBy::Nothing;
  std::vector<CallSite> around;  // the calls around it, innermost first, where this place is a wrapper's
  std::string problem;  // why the file tells nothing: it is gone, damaged, or another than was traced; else empty

  std::string module_name() const;  // without directories
  // "allocate (harness.cc:63)", "finish (cl2.hpp:870) in copy (stream.cc:21)" where inlined, or "app+0x2e19".
  std::string place() const;
  std::string places() const;       // with the calls around it: "xmalloc (mem.c:9) < read_image (main.c:40)"
};

class CallSites {
 public:
  // `debug_path`: where separate debug files are, as in libdwfl: folders, those not absolute beside the module; an
  // absolute one also holds .build-id.
  explicit CallSites(const std::string& debug_path = ":.debug:/usr/lib/debug");
  ~CallSites();
  CallSites(CallSites&&) noexcept;

  CallSite find(const model::Module& module, uint64_t offset);
  // REQUIRES: a checked trace. NoIndex and sites outside every module give "?" as module.
  CallSite find(const model::Trace& trace, model::SiteId site);

 private:
  class OpenModule;
  struct Search;  // how debug files are found
  CallSite find_one(const model::Trace& trace, model::SiteId site);
  std::unique_ptr<Search> search_;
  std::map<std::string, std::unique_ptr<OpenModule>> modules_;  // by path
};

}  // namespace gt::analyzer
