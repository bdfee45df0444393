// SPDX-License-Identifier: Apache-2.0
#include "core/config/load.hpp"

#include <unistd.h>

#include <array>
#include <cstdlib>

#include "core/base/file.hpp"
#include "core/config/overrides.hpp"
#include "core/config/report.hpp"
#include "core/config/schema.hpp"
#include "core/config/yaml.hpp"

namespace koord::config {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

std::string default_node_name() {
  const char* name = std::getenv("NODE_NAME");
  return name && *name ? name : host_name();
}

// Checks that originals are stored if values may be written, because a value that cannot be reverted must not be
// written.
void check_modes(const Config& config, Report& report) {
  if (!config.qos.directory.empty()) return;
  constexpr std::string_view kWhy = ": 'enforce' needs qos.directory, where is kept what knobs had before";
  if (config.qos.mode == Mode::enforce) report.add(invalid("qos.mode" + std::string(kWhy)));
  for (const auto& [id, settings] : config.plugins.settings)
    if (settings.mode == Mode::enforce) report.add(invalid("plugins.settings." + id + ".mode" + std::string(kWhy)));
}

void check_tls(const ListenSettings::Tls& tls, Report& report) {
  if (tls.certificate_file.empty() != tls.key_file.empty())
    report.add(invalid("listen.tls: certFile and keyFile need each other"));
  if (!tls.certificate_file.empty()) return;
  if (!tls.client_ca_file.empty()) report.add(invalid("listen.tls.clientCaFile: needs listen.tls.certFile"));
  if (tls.authorization != Authorization::none)
    report.add(
        invalid("listen.tls.authorization: 'kubernetes' needs listen.tls.certFile, or tokens could be read by others"));
}

// Makes checks that involve several keys.
void check_together(const Config& config, Report& report) {
  const StateSettings::File& file = config.state.file;
  if (config.state.source == StateSource::file && file.pods.empty() && file.node.empty() && file.node_slo.empty())
    report.add(invalid("state.source: 'file' needs one of state.file.pods, state.file.node, state.file.nodeSLO"));
  if (config.plugins.trust == Trust::signature && config.plugins.trusted_keys.empty())
    report.add(invalid("plugins.trust: 'signed' needs plugins.trustedKeys"));
  check_tls(config.listen.tls, report);
  check_modes(config, report);
}

Config fill(const Node& root, Report& report) {
  Config config;
  apply_defaults(config_schema(), config, report);
  apply_defaults(plugin_schema(), config.plugins.defaults, report);
  apply_document(config_schema(), root, "", config, report);
  if (config.node_name.empty()) config.node_name = default_node_name();
  check_together(config, report);
  return config;
}

}  // namespace

Result<Config> parse(std::string_view text, const std::string& name, const std::vector<std::string>& overrides) {
  Report report;
  Node root = TRY(read_yaml(text, name, report));
  for (const std::string& text_of_override : overrides) apply_override(root, text_of_override, report);
  Config config = fill(root, report);
  if (!report.empty()) return report.to_error();
  return config;
}

Result<Config> load(const std::string& path, const std::vector<std::string>& overrides) {
  if (path.empty()) return parse("", "no file", overrides);
  return parse(TRY(read_file(path, YamlLimits().bytes)), path, overrides);
}

}  // namespace koord::config
