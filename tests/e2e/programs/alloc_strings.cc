// A parser of scripts: texts of sections, lines and nested arguments, cut into tokens and made a tree of nodes with
// names, attributes and labels; the tree is walked, a path at each node, and freed. Millions of short strings, pieces
// of vectors and nodes of maps, of irregular sizes in irregular order. The texts are made here at random, in every run
// the same.
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "microbench/apps/harness.h"

using namespace gt::apps;

namespace {

// --- the text

void add_word(std::string& text, Random& random) {
  for (uint32_t left = 1 + random.below(3) * random.below(14); left > 0; --left) {
    text += static_cast<char>('a' + random.below(26));
  }
}

void add_argument(std::string& text, Random& random, int depth) {
  switch (random.below(depth < 4 ? 6 : 4)) {
    case 0:
      text += std::to_string(random.next());
      break;
    case 1:
    case 2:
      add_word(text, random);
      break;
    case 3:
      text += '"';
      add_word(text, random);
      text += ' ';
      add_word(text, random);
      text += '"';
      break;
    case 4:
      add_word(text, random);
      text += '=';
      add_word(text, random);
      break;
    default:
      text += "( ";
      for (uint32_t left = 1 + random.below(5); left > 0; --left) add_argument(text, random, depth + 1);
      text += ')';
  }
  text += ' ';
}

std::string make_text(size_t bytes, Random& random) {
  std::string text;
  text.reserve(bytes + 65536);
  while (text.size() < bytes) {
    if (random.below(12) == 0) text += "[ ";
    add_word(text, random);
    text += ' ';
    for (uint32_t left = random.below(7); left > 0; --left) add_argument(text, random, 0);
    text += '\n';
  }
  return text;
}

// --- the parser

std::vector<std::string> tokens_of(std::string_view line) {
  std::vector<std::string> tokens;
  for (size_t at = 0; at < line.size();) {
    const bool quoted = line[at] == '"';
    const size_t end = line.find(quoted ? '"' : ' ', at + 1);
    const size_t stop = end == line.npos ? line.size() : end + (quoted ? 1 : 0);
    if (line[at] != ' ') tokens.emplace_back(line.substr(at, stop - at));
    at = stop == at ? at + 1 : stop;
    while (at < line.size() && line[at] == ' ') ++at;
  }
  return tokens;
}

struct Node {
  explicit Node(const std::string& text) : name(text), label(strdup(text.c_str())) {}
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  ~Node() { std::free(label); }

  std::string name;
  char* label;
  std::map<std::string, std::string> attributes;
  std::vector<std::unique_ptr<Node>> children;
};

// The arguments from `at` on become children of `node`, up to its closing parenthesis.
void add_arguments(Node& node, const std::vector<std::string>& tokens, size_t& at) {
  while (at < tokens.size()) {
    const std::string& token = tokens[at++];
    if (token == ")") return;
    const size_t equals = token.find('=');
    if (equals != token.npos) {
      node.attributes[token.substr(0, equals)] = token.substr(equals + 1);
    } else {
      node.children.push_back(std::make_unique<Node>(token));
      if (token == "(") add_arguments(*node.children.back(), tokens, at);
    }
  }
}

std::unique_ptr<Node> parse_script(std::string_view text) {
  auto script = std::make_unique<Node>("script");
  Node* section = script.get();
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::vector<std::string> tokens = tokens_of(text.substr(0, end));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    if (tokens.empty()) continue;
    const bool heading = tokens[0] == "[";
    if (heading) section = script.get();
    section->children.push_back(std::make_unique<Node>(tokens[heading ? 1 : 0]));
    Node& line = *section->children.back();
    for (size_t at = heading ? 2 : 1; at < tokens.size();) add_arguments(line, tokens, at);
    if (heading) section = &line;
  }
  return script;
}

// --- the walk

// Counts the nodes, and mixes every path and attribute into `sum`.
size_t walk(const Node& node, const std::string& above, uint64_t& sum) {
  const std::string path = above + "/" + node.label;
  for (const char c : path) sum = (sum ^ static_cast<unsigned char>(c)) * 1099511628211u;
  for (const auto& [name, value] : node.attributes) {
    const std::string line = name + " = " + value;
    sum = (sum ^ line.size()) * 1099511628211u;
  }
  size_t nodes = 1;
  for (const auto& child : node.children) nodes += walk(*child, path, sum);
  return nodes;
}

}  // namespace

int main(int argc, char** argv) {
  int64_t scripts = 100, bytes = 20000;
  const Option options[] = {{"--scripts", "scripts", &scripts, nullptr, 0, 0, 1},
                            {"--bytes", "the longest; the shortest is half of it", &bytes, nullptr, 0, 0, 100,
                             1 << 26}};
  parse(argc, argv, "A parser of scripts.", options);
  Device device = open_device();
  Random random(5);
  uint64_t sum = 1469598103934665603u;
  size_t nodes = 0;
  double seconds = 0;
  for (int64_t i = 0; i < scripts; ++i) {
    const auto half = static_cast<uint32_t>(bytes / 2);
    const std::string text = make_text(half + random.below(half), random);
    const double begin = now_s();
    nodes += walk(*parse_script(text), "", sum);
    seconds += now_s() - begin;
  }
  close_device(device);
  return finish("alloc_strings", nodes > static_cast<size_t>(scripts), sum, seconds);
}
