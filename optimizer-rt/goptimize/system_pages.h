// How this system gives huge pages to programs (/sys/kernel/mm/transparent_hugepage/enabled).
#pragma once

#include <string>

namespace gt::opt {

enum class SystemPages {
  OnRequest,  // to who asks: there is something to gain
  Always,     // to everybody
  Never,      // to nobody, or not to this process (prctl), or it cannot be found out; or Linux is older than 5.8, where
              // a child that changes one byte of a huge page that it inherited copies all of it
};
// `root`: the folder in which /sys and /proc are looked for; "": the system's own.
SystemPages system_pages(const std::string& root = "");

}  // namespace gt::opt
