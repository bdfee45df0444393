// SPDX-License-Identifier: Apache-2.0
// A plugin author outside of this tree. Workplace is a machine with koordetector installed for authors. Author has one
// example and builds it only with its Makefile and pkg-config.
#pragma once

#include <string>
#include <string_view>

#include "test/support/agent_process.hpp"

namespace koord::test {

// Returns a variable that meson test sets. The test fails if it is not set.
std::string from_environment(const char* name);

// A prefix with an installed koordetector, and a folder to work in.
class Workplace {
 public:
  Workplace();
  std::string folder() const { return folder_ / "work"; }
  // Runs shell words in a folder below folder(). pkg-config finds the prefix, and settings of this machine do not
  // affect the build.
  Finished run(const std::string& words, const std::string& where = {}) const;

 private:
  TemporaryFolder folder_;
};

class Author {
 public:
  // `example`: a folder of examples/; `plugin`: the file that its Makefile makes.
  Author(std::string_view example, std::string_view plugin);

  Finished make(const std::string& arguments = {}) const;
  std::string plugin() const { return place_.folder() + "/" + plugin_; }
  // Copies the plugin into the agent's plugin folder, as an operator would.
  void install(AgentProcess& agent) const;

 private:
  Workplace place_;
  std::string plugin_;
};

// Returns the complaints of koordctl plugin check; empty if it has no complaints.
std::string complaints_about(const std::string& plugin);

}  // namespace koord::test
