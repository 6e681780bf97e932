// SPDX-License-Identifier: BSD-3-Clause
//
// stretto-compile-rules RULES SOURCE: writes the rules of a file as a table in C++ (shipped.hpp), so that no program
// parses them. Part of the build: rules that are wrong end it, with their line.
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <sstream>

#include "select/shipped.hpp"
#include "stretto/error.hpp"

namespace stretto {
namespace {

/// Different texts, numbered as they come.
class Numbered {
 public:
  std::size_t number_of(const std::string& text) {
    const auto [at, is_new] = numbers_.try_emplace(text, numbers_.size());
    if (is_new) list_ += "    {" + text + "},\n";
    return at->second;
  }
  const std::string& list() const { return list_; }

 private:
  std::map<std::string, std::size_t> numbers_;
  std::string list_;
};

class Table {
 public:
  void add(const Rule& r) {
    std::ostringstream out;
    out << "    {" << r.line;
    for (const Between& between : {r.bytes, r.part, r.ranks, r.per_node, r.to_node}) out << ", " << range(between);
    out << ", " << choice(r) << ", " << r.conditions << ", Function{" << static_cast<int>(r.function) << "}},\n";
    rules_ += out.str();
  }

  void write(std::ostream& out) const {
    out << "constexpr Between ranges[] = {\n"
        << ranges_.list() << "};\n\nconstexpr CompactChoice choices[] = {\n"
        << choices_.list() << "};\n\nconstexpr Rank numbers[] = {" << numbers_
        << "0};\n\nconstexpr CompactRule rules[] = {\n"
        << rules_ << "};\n";
  }

 private:
  std::size_t range(const Between& between) {
    return ranges_.number_of(std::to_string(between.low) + ", " + std::to_string(between.high));
  }

  std::size_t choice(const Rule& rule) {
    int algorithm = -1;
    for (std::size_t i = 0; i < all_algorithms().size(); ++i)
      if (all_algorithms()[i] == rule.algorithm) algorithm = static_cast<int>(i);
    const Params& params = rule.params;
    std::ostringstream out;
    out << algorithm << ", " << params.depth << ", " << params.segment << ", " << params.value << ", " << count_ << ", "
        << count_ + params.list.size() << ", " << "Copy::" << name_of(params.copy);
    for (const Rank item : params.list) numbers_ += std::to_string(item) + ", ";
    count_ += params.list.size();
    return choices_.number_of(out.str());
  }

  Numbered ranges_, choices_;
  std::string numbers_, rules_;
  std::size_t count_ = 0;
};

std::string contents(const char* path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string compiled(const std::string& text, const std::string& path) {
  const Rules rules = parse_rules(text, path);
  if (!rules.machine.empty()) throw Error(path + ": these rules are for one machine", "take out the machine line");
  Table table;
  for (const Rule& rule : rules.rules) table.add(rule);
  std::ostringstream out;
  out << "// SPDX-License-Identifier: BSD-3-Clause\n// Made by stretto-compile-rules.\n"
         "#include \"select/shipped.hpp\"\n\nnamespace stretto {\nnamespace {\n\n";
  table.write(out);
  out << "\n}  // namespace\n\nconstinit const CompactRules shipped_table{ranges, choices, numbers, rules};\n"
         "constinit const std::uint64_t shipped_digest = "
      << digest_of_rules(text) << "u;\nconstinit const std::string_view shipped_rules_text = R\"rules(" << text
      << ")rules\";\n\n}  // namespace stretto\n";
  return out.str();
}

}  // namespace
}  // namespace stretto

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: stretto-compile-rules RULES SOURCE\n";
    return 2;
  }
  try {
    const std::string source = stretto::compiled(stretto::contents(argv[1]), argv[1]);
    // What depends on it need not be compiled again where it is the same.
    if (stretto::contents(argv[2]) == source) return 0;
    std::ofstream out(argv[2], std::ios::binary);
    if (out << source << std::flush) return 0;
    std::cerr << "cannot write " << argv[2] << '\n';
  } catch (const stretto::Error& e) {
    std::cerr << e.what() << "\nhint: " << e.hint() << '\n';
  }
  return 1;
}
