// SPDX-License-Identifier: Apache-2.0
// hostile-kit write FOLDER DEADLINE [KEY=VALUE…] ATTACK…: writes the bystander and the plugin of each attack into the
// folder, and prints the agent's configuration for them. KEY=VALUE: a path of the node that attacks use. hostile-kit
// judge LOG ATTACK…: prints a line for each attack. Exit status 1: an attack has not answered, or was not refused. It
// serves agents that another program starts: in a container, or by systemd. KOORD_BUILD: the build folder.
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/file.hpp"
#include "test/hostile/answers.hpp"
#include "test/hostile/attacks.hpp"
#include "test/hostile/configuration.hpp"
#include "test/support/agent_process.hpp"

using namespace koord::hostile;

namespace {

const Attack* attack_named(const std::string& name) {
  for (const Attack& attack : attacks())
    if (attack.name == name) return &attack;
  throw std::runtime_error("'" + name + "': no such attack");
}

int write_kit(const std::string& folder, const std::string& deadline, const std::vector<std::string>& rest) {
  Words words;
  std::vector<const Attack*> wanted;
  for (const std::string& word : rest) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos)
      wanted.push_back(attack_named(word));
    else
      words.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  std::filesystem::copy_file(koord::test::built("test/hostile/bystander.so"), folder + "/bystander.so");
  for (const Attack* attack : wanted) write_plugin(*attack, koord::test::built("test/hostile/hostile.so"), folder);
  std::printf("plugins:\n  cpuBudget: 0\n  settings:\n%s", settings_of(wanted, deadline, words).c_str());
  std::printf("featureGates:\n%s", gates_of(wanted).c_str());
  return 0;
}

int judge(const std::string& log, const std::vector<std::string>& names) {
  int bad = 0;
  for (const std::string& name : names) {
    const std::string answer = answer_in(log, attack_named(name)->name);
    const std::vector<std::string> steps = steps_not_refused(answer);
    const bool is_refused = !answer.empty() && steps.empty();
    std::printf("%s %s:%s\n", is_refused ? "green" : "RED  ", name.c_str(),
                answer.empty() ? " no answer" : answer.c_str());
    bad += !is_refused;
  }
  return bad > 0;
}

}  // namespace

int main(int count, char** arguments) try {
  const std::vector<std::string> words(arguments + 1, arguments + count);
  if (words.size() > 3 && words[0] == "write") return write_kit(words[1], words[2], {words.begin() + 3, words.end()});
  if (words.size() > 2 && words[0] == "judge")
    return judge(koord::read_file(words[1]).value_or(""), {words.begin() + 2, words.end()});
  std::fputs("usage: hostile-kit write FOLDER DEADLINE [KEY=VALUE…] ATTACK… | judge LOG ATTACK…\n", stderr);
  return 2;
} catch (const std::exception& problem) {
  std::fprintf(stderr, "hostile-kit: %s\n", problem.what());
  return 2;
}
