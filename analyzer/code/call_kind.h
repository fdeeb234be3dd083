// How a call instruction names what it calls.
#pragma once

#include <cstdint>

namespace gt::analyzer {

enum class CallKind : uint8_t {
  Unknown,   // there was nothing to look at, or this machine's instructions are not ours to read
  NotACall,  // the bytes before the address are no call instruction: the trace and the file do not
             // belong together
  Direct,    // call f
  Library,   // through the PLT or the GOT
  Indirect,  // through a register or a table
};

}  // namespace gt::analyzer
