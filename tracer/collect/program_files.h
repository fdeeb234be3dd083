// --capture full: the files that programs include of the machine's, through the -I of their options.
//
// Found as a compiler would when a build has returned: beside the including file, in the folders of -I, in the
// program's working folder. Conditions are not evaluated: there may be a few too many. Names that are nowhere are
// counted.
// Thread safety: none. Cost: of a build that includes something, the reading of its files; once for each program and
// its options.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "tracer/collect/kept_contents.h"
#include "tracer/collect/program_texts.h"
#include "tracer/collect/trace_tables.h"
#include "tracer/collect/traced_thread.h"

namespace gt::tracer {

class ProgramFiles {
 public:
  // All must outlive it.
  ProgramFiles(const TraceTables& tables, const ProgramTexts& texts, KeptContents& contents)
      : tables_(tables), texts_(texts), contents_(contents) {}

  // The thread's call has returned, which may have built a program.
  void after_call(const TracedThread& thread);
  // Of names that are in no folder, and where relative paths began (`folder.PROCESS`).
  void add_facts(std::vector<std::pair<std::string, std::string>>& facts) const;

 private:
  const TraceTables& tables_;
  const ProgramTexts& texts_;
  KeptContents& contents_;
  std::set<std::tuple<uint32_t, uint32_t, model::BlobId>> looked_at_;  // process, program, options
  std::map<uint32_t, std::string> folders_;                            // by process
  uint64_t not_found_ = 0;
};

struct IncludedFiles {
  struct File {
    std::string path;  // from the root
    std::string text;
  };
  std::vector<File> files;
  uint64_t not_found = 0;
};
// What `source` includes, directly or not. `folder`: that relative paths begin at.
IncludedFiles included_files(std::string_view source, std::string_view options, const std::string& folder);

}  // namespace gt::tracer
