// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/latency/slot_config.hpp"

namespace koord::latency {

SlotOptions slot_options(const plugin::Config& config) {
  SlotOptions options;
  options.btf = config.string("/btf").value_or("");
  options.slots = static_cast<std::uint32_t>(config.i64("/slots").value_or(0));
  options.only = config.string("/source").value_or("");
  return options;
}

Levels levels(const plugin::Config& config, std::string_view setting) {
  const std::string which = config.string(setting).value_or("node");
  Levels levels;
  levels.node = which != "none";
  levels.pod = which == "pods" || which == "all";
  levels.container = which == "all";
  return levels;
}

void log_source(const koord_host* host, std::string_view what, std::string_view source,
                const std::vector<Refusal>& refused) {
  const auto log = [host](const std::string& line) { host->log(host, KOORD_LOG_INFO, plugin::str(line)); };
  for (const Refusal& refusal : refused)
    log("source '" + std::string(refusal.source) + "' is not available: " + refusal.why);
  log("reading " + std::string(what) + " from '" + std::string(source) + "'");
}

}  // namespace koord::latency
