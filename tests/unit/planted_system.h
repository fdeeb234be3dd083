// A folder in which /proc and /sys of a system are planted, for code that is told where to look for them.
#pragma once

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

struct PlantedSystem {
  std::string root;

  // `groups`: /proc/self/cgroup.
  explicit PlantedSystem(const std::string& groups) {
    char name[] = "/tmp/planted_system.XXXXXX";
    REQUIRE(::mkdtemp(name));
    root = name;
    put("/proc/self/cgroup", groups);
  }
  ~PlantedSystem() { std::filesystem::remove_all(root); }
  PlantedSystem(const PlantedSystem&) = delete;
  PlantedSystem& operator=(const PlantedSystem&) = delete;

  PlantedSystem& put(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root + path).parent_path());
    std::ofstream(root + path) << text;
    return *this;
  }
};
