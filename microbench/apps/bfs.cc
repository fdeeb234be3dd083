// Breadth-first search, level by level: the graph is sent for each search; after each level the host reads one word
// that says whether to go on; the distances are received at the end.
//
// Large transfers and tiny blocking ones alternate. The graph has 2^k nodes: a ring with long-range links, of which
// some are left out, so that degrees differ. It is symmetric, hence distances can be checked node by node.
#include <algorithm>
#include <cstdlib>

#include "microbench/apps/session.h"

namespace gt::apps {
namespace {

constexpr uint32_t Links = 6;
constexpr const char* Source = R"(
kernel void start(global int* distance, uint source) {
  const uint i = get_global_id(0);
  distance[i] = i == source ? 0 : -1;
}
kernel void level(global const uint* first, global const uint* link, global int* distance, int now, global int* more) {
  const uint i = get_global_id(0);
  if (distance[i] != now) return;
  for (uint e = first[i]; e < first[i + 1]; ++e) {
    if (distance[link[e]] != -1) continue;
    distance[link[e]] = now + 1;  // whoever writes it writes the same
    *more = 1;
  }
}
)";

struct Settings : Common {
  Settings() { iterations = 5; }
  int64_t scale = 16;
};

[[gnu::noinline]] uint32_t* allocate_firsts(size_t n) { return checked<uint32_t>(malloc(n * sizeof(uint32_t)), n); }
[[gnu::noinline]] uint32_t* allocate_links(size_t n) { return checked<uint32_t>(malloc(n * sizeof(uint32_t)), n); }
[[gnu::noinline]] int32_t* allocate_distances(size_t n) { return checked<int32_t>(malloc(n * sizeof(int32_t)), n); }

struct Graph {
  uint32_t *first, *link;  // the links of node i: link[first[i]] .. link[first[i + 1]]
  size_t nodes, links;
};

// Node i's k-th far neighbour is i XOR a number of k's, which is symmetric; one in four is left out, on both sides.
bool has_link(uint32_t i, uint32_t far, uint32_t k) {
  return ((std::min(i, far) * 2654435761u + k * 40503u) >> 13 & 3u) != 0;
}

template <class Visit>
void visit_neighbours(uint32_t i, uint32_t mask, Visit visit) {
  visit((i + 1) & mask);
  visit((i - 1) & mask);
  Random random(99);
  for (uint32_t k = 0; k < Links; ++k) {
    const uint32_t far = i ^ ((random.next() & mask) | 1u);
    if (has_link(i, far, k)) visit(far);
  }
}

Graph make_graph(Session& session, uint32_t scale) {
  Graph g{};
  g.nodes = size_t{1} << scale;
  const uint32_t mask = static_cast<uint32_t>(g.nodes - 1);
  g.first = session.memory(g.nodes + 1, allocate_firsts);
  g.link = session.memory(g.nodes * (Links + 2), allocate_links);
  uint32_t at = 0;
  for (uint32_t i = 0; i <= mask; ++i) {
    g.first[i] = at;
    visit_neighbours(i, mask, [&](uint32_t neighbour) { g.link[at++] = neighbour; });
  }
  g.first[g.nodes] = at;
  g.links = at;
  return g;
}

class Search {
 public:
  Search(Session& session, const Graph& graph)
      : session_(session), graph_(graph), start_(session.kernel("start")), level_(session.kernel("level")) {
    first_ = session.buffer(CL_MEM_READ_ONLY, (graph.nodes + 1) * sizeof(uint32_t));
    link_ = session.buffer(CL_MEM_READ_ONLY, graph.links * sizeof(uint32_t));
    distance_ = session.buffer(CL_MEM_READ_WRITE, graph.nodes * sizeof(int32_t));
    more_ = session.buffer(CL_MEM_READ_WRITE, sizeof(int32_t));
  }

  void run(uint32_t source, int32_t* distances) {
    session_.write(first_, graph_.first, (graph_.nodes + 1) * sizeof(uint32_t));
    session_.write(link_, graph_.link, graph_.links * sizeof(uint32_t));
    set_args(start_, distance_, source);
    session_.launch(start_, {graph_.nodes});
    int32_t more = 1;
    for (cl_int now = 0; more != 0; ++now) {
      more = 0;
      session_.write(more_, &more, sizeof more);
      set_args(level_, first_, link_, distance_, now, more_);
      session_.launch(level_, {graph_.nodes});
      session_.read(more_, &more, sizeof more);
    }
    session_.read(distance_, distances, graph_.nodes * sizeof(int32_t));
  }

 private:
  Session& session_;
  const Graph& graph_;
  cl_kernel start_, level_;
  cl_mem first_ = nullptr, link_ = nullptr, distance_ = nullptr, more_ = nullptr;
};

// Distances are right when the source has 0 and every other node is one more than its nearest neighbour. Every node
// of small graphs is looked at, a sample of large ones.
bool verify(const Graph& g, const int32_t* distances, uint32_t source) {
  if (distances[source] != 0) return false;
  const size_t stride = std::max<size_t>(1, g.nodes / (1 << 20)) | 1;
  for (size_t i = 0; i < g.nodes; i += stride) {
    if (i == source) continue;
    int32_t nearest = INT32_MAX;
    for (uint32_t e = g.first[i]; e < g.first[i + 1]; ++e) nearest = std::min(nearest, distances[g.link[e]]);
    if (nearest < 0 || distances[i] != nearest + 1) return false;
  }
  return true;
}

int run(const Settings& s) {
  Session session(Source, s.hand_pinned);
  Graph graph = make_graph(session, static_cast<uint32_t>(s.scale));
  Search search(session, graph);
  int32_t* distances = session.memory(graph.nodes, allocate_distances);
  const auto source_of = [&](int64_t i) { return static_cast<uint32_t>(static_cast<size_t>(i) * 7919 % graph.nodes); };

  const double start = now_s();
  for (int64_t i = 0; i < s.iterations; ++i) search.run(source_of(i), distances);
  const double seconds = now_s() - start;

  const bool correct = verify(graph, distances, source_of(s.iterations - 1));
  const uint64_t sum = checksum_words(distances, graph.nodes * sizeof(int32_t));
  session.give_back(graph.first, free_memory);
  session.give_back(graph.link, free_memory);
  session.give_back(distances, free_memory);
  return finish("bfs", correct, sum, seconds);
}

}  // namespace
}  // namespace gt::apps

int main(int argc, char** argv) {
  gt::apps::Settings s;
  const gt::apps::Option options[] = {
      {.name = "--scale", .help = "the graph has 2^N nodes", .number = &s.scale, .small = 19, .large = 23,
       .least = 4, .most = 27},
      s.iterations_option(30, 60, "searches, each from another node"), s.hand_pinned_option()};
  gt::apps::parse(argc, argv, "Breadth-first search on an OpenCL device; checks the distances.", options);
  return gt::apps::run(s);
}
