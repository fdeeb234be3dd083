// The relay as a program, for tests that are scripts: relay PORT. Prints the port that it listens at; each line of its
// input is a fault (cut, swallow, heal, garbage, delay US, rate BYTES_PER_S) and is answered by "ok". Its end is ours.
#include <cstdlib>
#include <iostream>
#include <string>

#include "tests/relay/relay.h"

namespace {

bool obey(gt::relay::Relay& relay, const std::string& what, uint64_t number) {
  if (what == "cut") relay.cut();
  else if (what == "swallow") relay.swallow();
  else if (what == "heal") relay.heal();
  else if (what == "garbage") relay.garbage();
  else if (what == "delay") relay.delay_us(number);
  else if (what == "rate") relay.rate(number);
  else return false;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  gt::relay::Relay relay(static_cast<uint16_t>(std::atoi(argv[1])));
  std::cout << relay.port() << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    const size_t space = line.find(' ');
    const uint64_t number = space == std::string::npos ? 0 : std::strtoull(line.c_str() + space, nullptr, 10);
    std::cout << (obey(relay, line.substr(0, space), number) ? "ok" : "no such fault") << std::endl;
  }
}
