// Modules as libdw sees them.
#include "analyzer/code/call_site.h"

#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "analyzer/code/call_instruction.h"

namespace gt::analyzer {
namespace {

struct Free {
  void operator()(void* p) const { std::free(p); }
};

std::string demangled(const char* name) {
  if (!name) return {};
  int status = 0;
  const std::unique_ptr<char, Free> text(abi::__cxa_demangle(name, nullptr, nullptr, &status));
  return status == 0 && text ? text.get() : name;
}

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// A demangled name without its parameters: "Buffer::Buffer(Context const&, int)" is Buffer::Buffer here.
std::string_view without_parameters(std::string_view name) {
  const size_t close = name.rfind(')');
  if (close == std::string_view::npos || (close + 1 < name.size() && name[close + 1] == ':')) return name;
  size_t depth = 0;
  for (size_t i = close + 1; i-- > 0;) {
    depth += name[i] == ')';
    if (name[i] == '(' && --depth == 0) return i > 0 ? name.substr(0, i) : name;
  }
  return name;
}

std::string frame_text(const Frame& f) {
  return std::string(without_parameters(f.function)) + " (" + file_name(f.file) + ":" + std::to_string(f.line) + ")";
}

std::string hex(const unsigned char* bytes, int size) {
  constexpr char Digits[] = "0123456789abcdef";
  std::string out;
  for (int i = 0; i < size; ++i) {
    out += Digits[bytes[i] >> 4];
    out += Digits[bytes[i] & 15];
  }
  return out;
}

std::string function_of(Dwarf_Die* die) {
  Dwarf_Attribute memory;
  for (const unsigned name : {unsigned{DW_AT_linkage_name}, unsigned{DW_AT_MIPS_linkage_name}}) {
    if (Dwarf_Attribute* a = dwarf_attr_integrate(die, name, &memory)) {
      return demangled(dwarf_formstring(a));
    }
  }
  return demangled(dwarf_diename(die));
}

// Where an inlined function was called, in the function around it.
Frame call_of(Dwarf_Die* inlined, Dwarf_Die* unit) {
  Frame f;
  Dwarf_Attribute memory;
  Dwarf_Word file = 0, line = 0;
  Dwarf_Files* files = nullptr;
  size_t count = 0;
  if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &memory), &line) == 0) {
    f.line = static_cast<int>(line);
  }
  if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &memory), &file) == 0 &&
      dwarf_getsrcfiles(unit, &files, &count) == 0 && file < count) {
    const char* name = dwarf_filesrc(files, file, nullptr, nullptr);
    if (name) f.file = name;
  }
  return f;
}

}  // namespace

// Never asks a server for debug information: the analysis works with what is on this machine.
struct CallSites::Search {
  std::string path;
  char* where = path.data();
  Dwfl_Callbacks callbacks = {dwfl_build_id_find_elf, dwfl_standard_find_debuginfo, dwfl_offline_section_address,
                              &where};

  explicit Search(const std::string& debug_path) : path(debug_path) {}
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;
};

class CallSites::OpenModule {
 public:
  OpenModule(const std::string& path, const Search& search) : dwfl_(dwfl_begin(&search.callbacks)) {
    there_ = ::access(path.c_str(), R_OK) == 0;
    if (!dwfl_ || !there_) return;
    dwfl_report_begin(dwfl_.get());
    module_ = dwfl_report_offline(dwfl_.get(), file_name(path).c_str(), path.c_str(), -1);
    dwfl_report_end(dwfl_.get(), nullptr, nullptr);
    if (module_) elf_ = dwfl_module_getelf(module_, &bias_);
  }

  bool there() const { return there_; }
  bool readable() const { return elf_ != nullptr; }

  std::string build_id() const {
    const unsigned char* bits = nullptr;
    GElf_Addr where = 0;
    const int size = dwfl_module_build_id(module_, &bits, &where);
    return size > 0 ? hex(bits, size) : std::string();
  }

  // REQUIRES: readable().
  void explain(CallSite& site) const {
    const CallInstruction call = find_call(elf_, site.offset);
    site.call = call.kind;
    site.target = call.kind == CallKind::Indirect ? call.through : demangled(call.library_fn.c_str());
    if (call.kind == CallKind::Direct) {
      site.target = demangled(dwfl_module_addrname(module_, bias_ + call.target));
    }
    if (site.offset == 0) return;
    const Dwarf_Addr address = bias_ + site.offset - 1;  // inside the call, not after it
    add_frames(address, site.frames);
    if (!site.frames.empty()) {
      site.named_by = NamedBy::DebugInfo;
    } else if (const char* name = dwfl_module_addrname(module_, address)) {
      site.frames.push_back({demangled(name), {}, 0});
      site.named_by = NamedBy::Symbols;
    }
  }

 private:
  struct End {
    void operator()(Dwfl* d) const { dwfl_end(d); }
  };

  Frame line_at(Dwarf_Addr address) const {
    Frame f;
    Dwfl_Line* line = dwfl_module_getsrc(module_, address);
    if (!line) return f;
    const char* file = dwfl_lineinfo(line, nullptr, &f.line, nullptr, nullptr, nullptr);
    if (file) f.file = file;
    return f;
  }

  void add_frames(Dwarf_Addr address, std::vector<Frame>& frames) const {
    Dwarf_Addr bias = 0;
    Dwarf_Die* unit = dwfl_module_addrdie(module_, address, &bias);
    Dwarf_Die* found = nullptr;
    if (!unit || dwarf_getscopes(unit, address - bias, &found) <= 0) return;
    const std::unique_ptr<Dwarf_Die, Free> innermost(found);
    Dwarf_Die* chain = nullptr;
    const int n = dwarf_getscopes_die(innermost.get(), &chain);
    const std::unique_ptr<Dwarf_Die, Free> scopes(n > 0 ? chain : nullptr);
    Frame next = line_at(address);
    for (int i = 0; i < n; ++i) {
      Dwarf_Die* scope = &scopes.get()[i];
      const int tag = dwarf_tag(scope);
      if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram) continue;
      next.function = function_of(scope);
      frames.push_back(next);
      if (tag == DW_TAG_subprogram) return;
      next = call_of(scope, unit);
    }
  }

  bool there_ = false;
  std::unique_ptr<Dwfl, End> dwfl_;
  Dwfl_Module* module_ = nullptr;
  Elf* elf_ = nullptr;
  GElf_Addr bias_ = 0;  // from the file's addresses to libdwfl's
};

CallSites::CallSites(const std::string& debug_path) : search_(std::make_unique<Search>(debug_path)) {}
CallSites::~CallSites() = default;
CallSites::CallSites(CallSites&&) noexcept = default;

CallSite CallSites::find(const model::Module& module, uint64_t offset) {
  CallSite site;
  site.module = module.path;
  site.build_id = module.build_id;
  site.offset = offset;
  auto& open = modules_[module.path];
  if (!open) open = std::make_unique<OpenModule>(module.path, *search_);
  if (!open->there()) {
    site.problem = "the file is gone or cannot be read";
  } else if (!open->readable()) {
    site.problem = "the file is damaged or no ELF file";
  } else if (open->build_id() != module.build_id) {
    site.problem = "the file has changed since the trace was made";
  } else {
    open->explain(site);
  }
  return site;
}

CallSite CallSites::find(const model::Trace& trace, model::SiteId id) {
  CallSite site = find_one(trace, id);
  if (id >= trace.sites.size()) return site;
  for (model::SiteId at = trace.sites[id].outer; at != model::NoIndex; at = trace.sites[at].outer) {
    site.around.push_back(find_one(trace, at));
  }
  return site;
}

CallSite CallSites::find_one(const model::Trace& trace, model::SiteId id) {
  const bool known = id < trace.sites.size() && trace.sites[id].module < trace.modules.size();
  if (known) return find(trace.modules[trace.sites[id].module], trace.sites[id].offset);
  CallSite site;
  site.module = "?";
  site.offset = id < trace.sites.size() ? trace.sites[id].offset : 0;
  site.problem = "the address lies in no module";
  return site;
}

std::string CallSite::module_name() const { return file_name(module); }

std::string CallSite::places() const {
  std::string out = place();
  for (const CallSite& s : around) out += " < " + s.place();
  return out;
}

// An inlined function, of a header often, says little without the one that holds it.
std::string CallSite::place() const {
  char text[32];
  std::snprintf(text, sizeof text, "+0x%llx", static_cast<unsigned long long>(offset));
  const std::string bare = module_name() + text;
  if (frames.empty() || frames[0].function.empty()) return bare;
  const Frame& f = frames[0];
  if (f.line == 0) return std::string(without_parameters(f.function)) + " (" + bare + ")";
  const Frame& whole = frames.back();
  const bool inlined = frames.size() > 1 && whole.line != 0 && !whole.function.empty();
  return frame_text(f) + (inlined ? " in " + frame_text(whole) : "");
}

}  // namespace gt::analyzer
