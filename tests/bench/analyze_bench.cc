// How ganalyze grows: time and memory on synthetic traces of growing size, as a table.
//   analyze_bench GANALYZE [FOLDER]
// folded     write, three arguments, launch, read, release: the same loop, more and more iterations
// irregular  calls in random order with random values, which do not fold (the folder keeps them as runs)
// nodes      short loops in random order: a tree of that many nodes
#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <random>
#include <string>

#include "traces/api/api.h"
#include "traces/model/fold/fold.h"
#include "traces/store/trace_db.h"

extern char** environ;

namespace {

using namespace gt;
using model::ArgForm;
using model::Effect;
using model::ObjectKind;

constexpr model::ShapeId Shapes = 64;  // of each of the three functions

class Maker {
 public:
  Maker() {
    trace_.processes.push_back({1, 0, "/bin/app", {"app"}, 0, 1'000'000'000, 0, 0});
    trace_.threads.push_back({0, 1});
    trace_.modules.push_back({0, 0, 0, "/nonexistent/app", "abcd"});
    trace_.facts = {{"wall_ns", "1000000000"}};
    const auto queue = new_class(ObjectKind::Queue), buffer = new_class(ObjectKind::Buffer);
    const auto memory = new_class(ObjectKind::Segment), event = new_class(ObjectKind::Event);
    for (model::ShapeId i = 0; i < Shapes; ++i) {
      add("clEnqueueWriteBuffer", i,
          {{0, ArgForm::Object, Effect::Use, queue},
           {1, ArgForm::Object, Effect::UseDef, buffer},
           {2, ArgForm::Int, Effect::None, model::NoIndex},
           {5, ArgForm::Memory, Effect::Use, memory}});
      add("clEnqueueNDRangeKernel", i,
          {{0, ArgForm::Object, Effect::Use, queue},
           {8, ArgForm::Object, Effect::Def, event},
           {model::ParamKernelArg, ArgForm::Object, Effect::UseDef, buffer}});
      add("clEnqueueReadBuffer", i,
          {{0, ArgForm::Object, Effect::Use, queue},
           {1, ArgForm::Object, Effect::Use, buffer},
           {2, ArgForm::Int, Effect::None, model::NoIndex},
           {5, ArgForm::Memory, Effect::UseDef, memory}});
    }
  }

  void write(model::ShapeId i, int64_t buffer, int64_t offset) { call(3 * i, {0, buffer, 0, buffer, offset}); }
  void launch(model::ShapeId i, int64_t buffer) { call(3 * i + 1, {0, 0, buffer}); }
  void read(model::ShapeId i, int64_t buffer, int64_t offset) { call(3 * i + 2, {0, buffer, 1, buffer, offset}); }

  void make_folded(uint64_t calls) {
    for (uint64_t n = 0; n < calls / 3; ++n) {
      const auto offset = static_cast<int64_t>(n * 64);
      write(0, 0, offset), launch(0, 0), read(0, 0, offset);
    }
    nodes_ = folder_.snapshot();
  }
  void make_irregular(uint64_t calls) {
    for (uint64_t n = 0; n < calls; ++n) {
      const auto i = static_cast<model::ShapeId>(draw(Shapes));
      const auto buffer = static_cast<int64_t>(draw(100)), offset = static_cast<int64_t>(draw(1 << 20));
      const uint64_t which = draw(3);
      which == 0 ? write(i, buffer, offset) : which == 1 ? launch(i, buffer) : read(i, buffer, offset);
    }
    nodes_ = folder_.snapshot();
  }
  // A loop node and three calls each.
  void make_nodes(uint64_t nodes) {
    for (uint64_t n = 0; n < nodes / 4; ++n) {
      const auto i = static_cast<model::ShapeId>(draw(Shapes));
      model::Node loop;
      loop.kind = model::Node::Kind::Loop;
      loop.count = model::Series(static_cast<int64_t>(2 + draw(20)));
      const auto buffer = static_cast<int64_t>(draw(100)), offset = static_cast<int64_t>(draw(1 << 20));
      loop.body = {node(3 * i, {0, buffer, 0, buffer, offset}), node(3 * i + 1, {0, 0, buffer}),
                   node(3 * i + 2, {0, buffer, 1, buffer, offset})};
      for (const model::Node& c : loop.body) count(c.shape, static_cast<uint64_t>(loop.count.value));
      nodes_.push_back(std::move(loop));
    }
  }

  Status save(const std::string& path) {
    for (size_t i = 0; i < calls_.size(); ++i) {
      model::ShapeStats& s = trace_.stats[i];
      s.calls = calls_[i];
      s.host_ns.add(3000, calls_[i]);
      s.device_ns.add(10'000, calls_[i]);
      if (i % 3 != 1) s.bytes.add(65'536, calls_[i]);
    }
    trace_.streams = {{0, false, std::move(nodes_), {}}};
    return store::write_trace(path, trace_);
  }

 private:
  model::ClassId new_class(ObjectKind kind) {
    trace_.sites.push_back({0, 16 * trace_.sites.size()});
    trace_.classes.push_back({kind, 0, static_cast<model::SiteId>(trace_.sites.size() - 1), 0, model::NoIndex});
    return static_cast<model::ClassId>(trace_.classes.size() - 1);
  }
  void add(const char* name, model::ShapeId i, std::vector<model::Arg> args) {
    trace_.sites.push_back({0, 4096 + 16 * uint64_t{i}});
    const model::FnId fn = api::find_function(name);
    trace_.shapes.push_back({fn, static_cast<model::SiteId>(trace_.sites.size() - 1), 0, false, std::move(args),
                              api::attributes(fn).transfer});
    trace_.stats.emplace_back();
    calls_.push_back(0);
  }
  void count(model::ShapeId shape, uint64_t calls) { calls_[shape] += calls; }
  void call(model::ShapeId shape, std::vector<int64_t> row) {
    folder_.push(shape, row);
    count(shape, 1);
  }
  static model::Node node(model::ShapeId shape, const std::vector<int64_t>& row) {
    model::Node n;
    n.shape = shape;
    for (const int64_t v : row) n.values.emplace_back(v);
    return n;
  }
  uint64_t draw(uint64_t below) { return random_() % below; }

  model::Trace trace_;
  model::Folder folder_;
  std::vector<model::Node> nodes_;
  std::vector<uint64_t> calls_;
  std::mt19937_64 random_{1};
};

struct Cost {
  int status = -1;
  double seconds = 0;
  long peak_kb = 0;
};

Cost analyze(const std::string& ganalyze, const std::string& path) {
  std::string program = ganalyze, file = path, link = "--link=10GbE,wan", profile = "--profile=" + path + ".gprofile",
              json = "--json";
  char* arguments[] = {program.data(), file.data(), link.data(), profile.data(), json.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  const auto start = std::chrono::steady_clock::now();
  pid_t child = 0;
  Cost cost;
  rusage usage{};
  if (::posix_spawn(&child, ganalyze.c_str(), &actions, nullptr, arguments, environ) == 0) {
    ::wait4(child, &cost.status, 0, &usage);
  }
  posix_spawn_file_actions_destroy(&actions);
  cost.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  cost.peak_kb = usage.ru_maxrss;
  return cost;
}

// In a process of its own: what this one has taken would count as the peak of those that it starts.
int make_apart(void (Maker::*make)(uint64_t), uint64_t size, const std::string& path) {
  const pid_t child = ::fork();
  if (child == 0) {
    Maker maker;
    (maker.*make)(size);
    const Status saved = maker.save(path);
    if (!saved.ok()) std::fprintf(stderr, "%s\n", saved.text().c_str());
    ::_exit(saved.ok() ? 0 : 4);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) return std::fputs("usage: analyze_bench GANALYZE [FOLDER]\n", stderr), 2;
  const std::string folder = argc > 2 ? argv[2] : std::filesystem::temp_directory_path().string();
  ::setenv("XDG_DATA_HOME", folder.c_str(), 1);
  struct Series {
    const char* name;
    void (Maker::*make)(uint64_t);
    std::vector<uint64_t> sizes;
  };
  const Series all[] = {{"folded (calls)", &Maker::make_folded, {1'000, 100'000, 10'000'000}},
                        {"irregular (calls)", &Maker::make_irregular, {10'000, 100'000, 1'000'000}},
                        {"nodes", &Maker::make_nodes, {10'000, 100'000, 1'000'000}}};
  std::printf("| trace | size | file KB | seconds | peak MB |\n|---|---:|---:|---:|---:|\n");
  const std::string path = folder + "/analyze_bench_" + std::to_string(::getpid()) + ".db";
  for (const Series& s : all) {
    for (const uint64_t size : s.sizes) {
      if (make_apart(s.make, size, path) != 0) return 4;
      const Cost cost = analyze(argv[1], path);
      std::printf("| %s | %llu | %ju | %.2f | %ld |\n", s.name, static_cast<unsigned long long>(size),
                  static_cast<uintmax_t>(std::filesystem::file_size(path) / 1024), cost.seconds, cost.peak_kb / 1024);
      std::fflush(stdout);
      std::filesystem::remove(path);
      std::filesystem::remove(path + ".gprofile");
      if (cost.status != 0) return std::fprintf(stderr, "ganalyze ended with status %d\n", cost.status), 5;
    }
  }
  return 0;
}
