// The parts of the virtual platform that need no executor: what is included, how queries are answered.
#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "optimizer-rt/client/base/info.h"
#include "optimizer-rt/client/programs/includes.h"

namespace gt::virt {
namespace {

namespace fs = std::filesystem;

struct Folder {
  Folder() { fs::create_directories(path / "inner"); }
  ~Folder() { fs::remove_all(path); }
  void write(const char* name, const char* text) const { std::ofstream(path / name) << text; }
  fs::path path = fs::temp_directory_path() / ("gtrace-includes-" + std::to_string(::getpid()));
};

std::vector<std::string> paths(const std::vector<wire::IncludeFile>& files) {
  std::vector<std::string> list;
  for (const wire::IncludeFile& f : files) list.push_back(f.path);
  return list;
}

TEST_CASE("files that a source includes are found as a compiler finds them") {
  const Folder folder;
  folder.write("a.h", "#include \"inner/b.h\"\n  #  include <c.h>\nint a;\n");
  folder.write("inner/b.h", "#include \"d.h\"\n");
  folder.write("inner/d.h", "int inner;\n");
  folder.write("d.h", "int outer;\n");
  folder.write("c.h", "#include \"a.h\"\n");  // a circle
  const std::string options = "-DX -I '" + folder.path.string() + "' -w";
  const auto files = collect_includes("#include \"a.h\"\n// #include \"none\"\n#include \"missing.h\"\n", options);
  CHECK(paths(files) == std::vector<std::string>{"a.h", "inner/b.h", "inner/d.h", "c.h"});
  CHECK(files[2].text == "int inner;\n");
  CHECK(collect_includes("kernel void k() {}", options).empty());
}

TEST_CASE("folders of this machine do not travel in build options") {
  CHECK(portable_options("-DA=1 -cl-fast-relaxed-math") == "-DA=1 -cl-fast-relaxed-math");
  CHECK(portable_options("-I /here -DA=\"x y\" -I/there -w") == "-DA=\"x y\" -w");
  CHECK(portable_options("-I /only").empty());
}

TEST_CASE("queries are answered when there is room, and tell the size either way") {
  char text[8] = "???????";
  size_t size = 0;
  CHECK(Answer(3, text, &size).text("abc") == CL_INVALID_VALUE);
  CHECK(size == 0);
  CHECK(Answer(4, text, &size).text("abc") == CL_SUCCESS);
  CHECK(size == 4);
  CHECK(std::string(text) == "abc");
  CHECK(Answer(0, nullptr, &size).value<cl_ulong>(7) == CL_SUCCESS);
  CHECK(size == 8);
  CHECK(Answer(8, text, nullptr).list(std::vector<cl_uint>{}) == CL_SUCCESS);
}

}  // namespace
}  // namespace gt::virt
