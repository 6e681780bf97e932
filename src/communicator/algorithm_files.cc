// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/algorithm_files.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "observe/packet.hpp"
#include "settings/settings.hpp"
#include "stretto/algorithm_file.hpp"
#include "stretto/sources.hpp"
#include "support/say.hpp"

namespace stretto::mpi {
namespace {

constexpr std::size_t longest_file = std::size_t{64} << 20;

template <typename Each>
void for_each_wish(Each each) {
  for (const Function function : all_functions)
    if (const Override* wanted = override_for(settings().overrides, function); wanted && !wanted->spec.file.empty())
      each(function, *wanted);
}

}  // namespace

std::string read_algorithm_files(bool speak) {
  std::map<std::string, std::optional<Collective>> tried;  // nothing: unusable
  observe::Packet texts;
  for_each_wish([&](Function function, const Override& wanted) {
    const std::string& path = wanted.spec.file;
    if (const auto before = tried.find(path); before == tried.end()) {
      auto& collective = tried[path];
      try {
        const std::string text = text_of_file(path, "a file of schedules", longest_file);
        collective = AlgorithmFile(text, path).algorithm().collective;
        texts.put(path, text);
      } catch (const Error& e) {
        if (speak) say(wanted.text + ": " + e.what() + "; the rules decide", e.hint());
      }
    }
    const auto& collective = tried[path];
    if (speak && collective && *collective != facts(function).collective)
      say(wanted.text + ": that is a file of " + std::string(facts(*collective).name) + "; the rules decide",
          "name a file whose schedules are of " + std::string(facts(facts(function).collective).name));
  });
  return texts.bytes();
}

void add_algorithm_files(std::string_view texts, Rules& rules) {
  std::map<std::string, const AlgorithmFile*> files;
  observe::Packet packet{std::string(texts)};
  while (!packet.at_end()) {
    const auto path = packet.get<std::string>();
    const auto* file = new AlgorithmFile(packet.get<std::string>(), path);
    number_algorithm(file->algorithm());
    files[path] = file;
  }
  for_each_wish([&](Function function, const Override& wanted) {
    const auto found = files.find(wanted.spec.file);
    if (found == files.end()) return;
    Override one = wanted;
    one.spec.algorithm = &found->second->algorithm();
    rules.from_files.emplace_back(function, std::move(one));
  });
}

const Override* variable_for(Function function, const Rules& rules) {
  const Override* wanted = override_for(settings().overrides, function);
  if (!wanted || wanted->spec.file.empty()) return wanted;
  const auto found = std::ranges::find(rules.from_files, function, &std::pair<Function, Override>::first);
  return found == rules.from_files.end() ? nullptr : &found->second;
}

void say_if_refused(const Override* wanted, const Shape& shape) {
  if (!wanted || !wanted->spec.algorithm || !wanted->spec.algorithm->file) return;
  const std::string news = wanted->spec.algorithm->file->news(shape);
  if (!news.empty())
    say(wanted->text + ": refused: " + news + "; the rules decide",
        "ranks and blocks count from 0, rounds from 1; `stretto check --file " + wanted->spec.file +
            "` tries it alone");
}

}  // namespace stretto::mpi
