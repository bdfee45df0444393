// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/end_plugins.hpp"

#include "core/cgroup/layout.hpp"
#include "core/child/orphans.hpp"
#include "core/config/load.hpp"

namespace koord::agentd {

int end_plugins(const CommandLine& line, std::ostream& out) {
  const Result<config::Config> config = config::load(line.config_path, line.overrides);
  if (!config) {
    out << config.error().message() << "\n";
    return 2;
  }
  const Result<cgroup::Layout> layout = cgroup::Layout::detect(config->roots);
  if (!layout) {
    out << layout.error().message() << "\n";
    return 1;
  }
  out << "killed " << child::end_orphans(*layout) << " processes of plugins left behind by an agent that has ended\n";
  return 0;
}

}  // namespace koord::agentd
