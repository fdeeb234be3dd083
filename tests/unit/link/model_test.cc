// Random puts, gets and frames over every link, against a model that carries them out at once.
#include <doctest/doctest.h>

#include <random>

#include "tests/unit/link/link_log.h"
#include "tests/unit/link/link_pairs.h"

namespace gt::wire {
namespace {

constexpr size_t Bytes_ = 600'000;

struct Model {
  std::mt19937 random{42};
  Bytes there = Bytes(Bytes_), source = Bytes(Bytes_);

  size_t upto(size_t most) { return std::uniform_int_distribution<size_t>(0, most)(random); }
};

TEST_CASE("random operations give what the model gives") {
  for (const LinkKind& kind : link_kinds()) {
    DOCTEST_SUBCASE(kind.name) {
      LinkLog at_a, at_b;
      LinkPair pair = make_pair(kind);
      REQUIRE(pair.a->start(at_a).ok());
      REQUIRE(pair.b->start(at_b).ok());
      Model m;
      for (uint8_t& b : m.source) b = static_cast<uint8_t>(m.random());
      Bytes plain(Bytes_);
      void* shared = nullptr;
      const SegmentId segments[] = {*pair.b->expose(plain.data(), Bytes_), *pair.b->allocate(Bytes_, &shared)};
      Bytes model[2] = {Bytes(Bytes_), Bytes(Bytes_)};
      std::vector<Notice> notices;
      const int operations = kind.delay_us > 100 ? 100 : 1500;
      for (int i = 0; i < operations; ++i) {
        const size_t which = m.upto(1), bytes = m.upto(m.upto(3) ? 3000 : 200'000);
        const size_t from = m.upto(Bytes_ - bytes), to = m.upto(Bytes_ - bytes);
        if (m.upto(3)) {
          const bool tell = m.upto(1);
          if (tell) notices.push_back(notices.size());
          const uint8_t* const source = m.source.data() + from;
          const Address there{segments[which], to};
          const Ticket t = tell ? pair.a->put(source, there, bytes, notices.back()) : pair.a->put(source, there, bytes);
          std::copy_n(m.source.begin() + static_cast<long>(from), bytes, model[which].begin() + static_cast<long>(to));
          if (!m.upto(9)) REQUIRE(pair.a->wait(t).ok());
        } else {
          REQUIRE(pair.a->flush().ok());
          Bytes got(bytes);
          REQUIRE(pair.a->wait(pair.a->get(got.data(), {segments[which], to}, bytes)).ok());
          REQUIRE(std::equal(got.begin(), got.end(), model[which].begin() + static_cast<long>(to)));
        }
      }
      REQUIRE(pair.a->flush().ok());
      CHECK(plain == model[0]);
      CHECK(std::memcmp(shared, model[1].data(), Bytes_) == 0);
      REQUIRE(at_b.wait_puts(notices.size()));
      const auto puts = at_b.puts();
      for (size_t i = 0; i < notices.size(); ++i) CHECK(puts[i].first == i);
      pair.a->close();
      pair.b->close();
      pair.a.reset();  // before its handler
      pair.b.reset();
    }
  }
}

}  // namespace
}  // namespace gt::wire
