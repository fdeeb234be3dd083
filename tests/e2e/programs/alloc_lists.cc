// Neighbour lists, as programs of molecular dynamics make them: for every atom the nearest others, in two lists that
// are kept in order of distance; who is farther away than the farthest of a full list is forgotten. The lists' lengths
// and the order of their nodes are random: no loop of memory calls is like another.
#include <list>
#include <vector>

#include "microbench/apps/harness.h"

using namespace gt::apps;

namespace {

struct Atom {
  float x, y, z;
};

float distance(const Atom& a, const Atom& b) {
  const float x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
  return x * x + y * y + z * z;
}

// Invariant: both lists are of one length, at most `most`; distances ascend.
class Neighbours {
 public:
  explicit Neighbours(size_t most) : most_(most) {}

  void meet(float distance, int atom) {
    if (distances_.size() == most_ && distance >= distances_.back()) return;
    auto place = distances_.begin();
    auto same_place = atoms_.begin();
    while (place != distances_.end() && *place < distance) ++place, ++same_place;
    distances_.insert(place, distance);
    atoms_.insert(same_place, atom);
    if (distances_.size() <= most_) return;
    distances_.pop_back();
    atoms_.pop_back();
  }

  bool in_order() const {
    float last = 0;
    for (const float d : distances_) {
      if (d < last) return false;
      last = d;
    }
    return distances_.size() == atoms_.size() && distances_.size() <= most_;
  }

  // Into `sum`, which depends on the order, too.
  void add_to(uint64_t& sum) const {
    for (const int atom : atoms_) sum = (sum ^ static_cast<uint64_t>(atom)) * 1099511628211u;
  }

 private:
  size_t most_;
  std::list<float> distances_;
  std::list<int> atoms_;
};

}  // namespace

int main(int argc, char** argv) {
  int64_t count = 4096, most = 128;
  const Option options[] = {{"--atoms", "atoms", &count, nullptr, 0, 0, 2, 1 << 24},
                            {"--neighbours", "the longest list; the shortest is half of it", &most, nullptr, 0, 0, 2,
                             1 << 20}};
  parse(argc, argv, "Neighbour lists in order of distance.", options);
  Device device = open_device();
  Random random(11);
  std::vector<Atom> atoms(count);
  for (Atom& atom : atoms) atom = {random.unit(), random.unit(), random.unit()};
  uint64_t sum = 1469598103934665603u;
  bool right = true;
  const double begin = now_s();
  for (int64_t i = 0; i < count; ++i) {
    Neighbours near(static_cast<size_t>(most / 2 + random.below(static_cast<uint32_t>(most / 2 + 1))));
    for (int64_t j = 0; j < count; ++j) {
      if (j != i) near.meet(distance(atoms[i], atoms[j]), static_cast<int>(j));
    }
    near.add_to(sum);
    right = right && near.in_order();
  }
  const double seconds = now_s() - begin;
  close_device(device);
  return finish("alloc_lists", right, sum, seconds);
}
