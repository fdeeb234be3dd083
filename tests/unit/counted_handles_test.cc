// What is known of handles lives exactly as long as the program's references, whatever else comes and goes.
#include "optimizer-rt/cl/counted_handles.h"

#include <doctest/doctest.h>

#include <map>
#include <random>

namespace gt::opt {
namespace {

using Handle = const char*;
using Handles = CountedHandles<Handle, int, 50>;

TEST_CASE("a random life of handles equals a map's") {
  static Handles handles;
  static const char names[60] = {};
  std::map<Handle, std::pair<int, unsigned>> model;
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i) {
    Handle h = &names[random() % 60];
    const auto known = model.find(h);
    const bool is_known = known != model.end();
    int fact = 0;
    switch (random() % 4) {
      case 0:
        if (is_known) break;  // as a driver: a handle is given out again only when it is gone
        CHECK(handles.add(h, i) == (model.size() < 50));
        if (model.size() < 50) model[h] = {i, 1};
        break;
      case 1:
        CHECK(handles.retain(h) == is_known);
        if (is_known) ++known->second.second;
        break;
      default:
        const bool is_last = is_known && known->second.second == 1;
        CHECK(handles.release(h, &fact) == is_last);
        if (is_last) CHECK(fact == known->second.first);
        if (is_last)
          model.erase(known);
        else if (is_known)
          --known->second.second;
    }
    CHECK(handles.size() == model.size());
  }
  for (const auto& [h, facts] : model) {
    Handles::Entry e;
    REQUIRE(handles.look_up(h, &e));
    CHECK(e.facts == facts.first);
    CHECK(e.references == facts.second);
  }
}

TEST_CASE("a change is seen, and nothing is known of strangers") {
  static Handles handles;
  Handles::Entry e;
  int unused = 0;
  CHECK(handles.is_empty());
  CHECK_FALSE(handles.look_up("a", &e));
  CHECK_FALSE(handles.release("a", &unused));
  static const char name = 'x';
  CHECK(handles.add(&name, 1));
  CHECK(handles.change(&name, [](Handles::Entry& entry) { entry.facts = 5; }));
  CHECK(handles.look_up(&name, &e));
  CHECK(e.facts == 5);
}

}  // namespace
}  // namespace gt::opt
