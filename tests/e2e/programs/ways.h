// Programs that use memory in one of several ways, which their argument names.
#pragma once

#include <initializer_list>
#include <string_view>

struct Way {
  std::string_view name;
  void (*run)();
};

// The exit status: 2 when there is no such way. `after`: what is said of all.
inline int go_one_way(int argc, char** argv, std::initializer_list<Way> ways, void (*after)()) {
  const std::string_view wanted = argc > 1 ? argv[1] : "";
  for (const Way& way : ways) {
    if (way.name != wanted) continue;
    way.run();
    after();
    return 0;
  }
  return 2;
}
