// SPDX-License-Identifier: Apache-2.0
// An author outside of this tree: Workplace is the machine, where koordetector is installed for authors, and Author has
// one example, and builds it with its own Makefile and pkg-config alone.
#pragma once

#include <string>
#include <string_view>

#include "test/support/agent_process.hpp"

namespace koord::test {

// A variable that meson test sets; the test fails without it.
std::string from_environment(const char* name);

// A prefix that koordetector was installed into, and a folder to work in.
class Workplace {
 public:
  Workplace();
  std::string folder() const { return folder_ / "work"; }
  // Runs words of a shell in a folder below folder(), where pkg-config finds the prefix and nothing of this machine's
  // settings gets into what is compiled.
  Finished run(const std::string& words, const std::string& where = {}) const;

 private:
  TemporaryFolder folder_;
};

class Author {
 public:
  // `example`: a folder of examples/; `plugin`: what its Makefile makes.
  Author(std::string_view example, std::string_view plugin);

  Finished make(const std::string& arguments = {}) const;
  std::string plugin() const { return place_.folder() + "/" + plugin_; }
  // Puts it into the agent's plugin folder, as an operator would.
  void install(AgentProcess& agent) const;

 private:
  Workplace place_;
  std::string plugin_;
};

// The complaints of koordctl plugin check; empty: none.
std::string complaints_about(const std::string& plugin);

}  // namespace koord::test
