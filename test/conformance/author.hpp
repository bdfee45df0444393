// SPDX-License-Identifier: Apache-2.0
// Author: somebody outside of this tree, who has an installed prefix and one example, and builds it with its own
// Makefile and pkg-config alone.
#pragma once

#include <string>
#include <string_view>

#include "test/support/agent_process.hpp"

namespace koord::test {

// A variable that meson test sets; the test fails without it.
std::string from_environment(const char* name);

class Author {
 public:
  // `example`: a folder of examples/; `plugin`: what its Makefile makes.
  Author(std::string_view example, std::string_view plugin);

  Finished make(const std::string& arguments = {}) const;
  std::string plugin() const { return work_ + "/" + plugin_; }
  // Puts it into the agent's plugin folder, as an operator would.
  void install(AgentProcess& agent) const;

 private:
  TemporaryFolder folder_;
  std::string work_;
  std::string plugin_;
};

// What plugin_check.py complains about; empty: nothing.
std::string complaints_about(const std::string& plugin);

}  // namespace koord::test
