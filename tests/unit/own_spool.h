// A spool that this process records into and reads itself. A process has one: keep it in a static.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <utility>

#include "tracer/collect/spool_reader.h"
#include "tracer/lib/recorder.h"

namespace gt::tracer {

struct OwnSpool {
  SpoolReader reader;
  explicit OwnSpool(const SpoolReader::Options& options) : reader(create(options)) {
    setenv(SpoolVariable, reader.path().c_str(), 1);
    start_recording();
  }
  ~OwnSpool() { reader.remove(); }

 private:
  static SpoolReader create(const SpoolReader::Options& options) {
    auto created = SpoolReader::create(options);
    REQUIRE(created.ok());
    return std::move(*created);
  }
};

}  // namespace gt::tracer
