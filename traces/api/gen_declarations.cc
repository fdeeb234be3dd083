// gen_declarations: adds what OpenCL headers declare to gen/declarations.txt.
//
//   gen_declarations INCLUDE_DIRECTORY NAME DECLARATIONS
//
// NAME says which headers they are. DECLARATIONS is made when it is not there. What the headers declare otherwise than
// the file does is said, a line each, and left out.
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "traces/api/gen_headers.h"
#include "traces/base/command.h"

namespace gt::api::gen {
namespace {

Status write(const std::string& path, const std::string& text) {
  std::ofstream out(path);
  out << text;
  return out.flush() ? Status() : Status(Kind::System, "cannot write " + path);
}

int run(int argc, char** argv) {
  constexpr const char* Us = "gen_declarations";
  if (argc != 4) return fail(Us, Status(Kind::Invalid, "usage: gen_declarations INCLUDE_DIRECTORY NAME DECLARATIONS"));
  Result<Declarations> newer = read_headers(argv[1]);
  if (!newer) return fail(Us, newer.status());
  newer->sources = {argv[2]};
  Result<Declarations> all = Declarations();
  if (std::filesystem::exists(argv[3])) all = read_declarations(argv[3]);
  if (!all) return fail(Us, all.status());
  for (const std::string& line : add_newer(*all, *newer)) std::printf("left out: %s\n", line.c_str());
  if (Status s = write(argv[3], text_of(*all)); !s) return fail(Us, s);
  return ExitOk;
}

}  // namespace
}  // namespace gt::api::gen

int main(int argc, char** argv) { return gt::api::gen::run(argc, argv); }
