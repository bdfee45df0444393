// SPDX-License-Identifier: Apache-2.0
#include "core/config/manager_config.hpp"

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "core/config/manager_schema.hpp"
#include "core/config/overrides.hpp"
#include "core/config/reference_writer.hpp"
#include "core/config/yaml.hpp"

namespace koord::config {
namespace {

// Checks the rules for the Lease: two replicas must not lead at the same time, and one slow request must not end the
// leadership.
void check_lease(const ManagerConfig::Lease& lease, Report& report) {
  const auto add = [&](std::string_view key, Duration found, const std::string& expected) {
    report.add(invalid(std::string(key) + ": expected " + expected + ", found '" + format_duration(found) + "'"));
  };
  if (lease.renew >= lease.duration)
    add("lease.renew", lease.renew, "less than lease.duration, " + format_duration(lease.duration));
  if (2 * lease.retry >= lease.renew)
    add("lease.retry", lease.retry, "less than half of lease.renew, " + format_duration(lease.renew));
  if (lease.duration % std::chrono::seconds(1) != Duration::zero())
    add("lease.duration", lease.duration, "whole seconds, as a Lease states it");
}

void check_serve(const ManagerConfig::Serve& serve, Report& report) {
  if (serve.address.empty()) return;
  const auto require = [&](std::string_view key, const std::string& file) {
    if (file.empty())
      report.add(
          invalid(std::string(key) + ": expected a file, since serve.address is '" + serve.address + "'; found \"\""));
  };
  require("serve.certificateFile", serve.certificate_file);
  require("serve.keyFile", serve.key_file);
}

}  // namespace

Result<ManagerConfig> parse_manager(std::string_view text, const std::string& name,
                                    const std::vector<std::string>& overrides) {
  Report report;
  Node root = TRY(read_yaml(text, name, report));
  for (const std::string& override_text : overrides) apply_override(root, override_text, report);
  ManagerConfig config;
  apply_defaults(manager_schema(), config, report);
  apply_document(manager_schema(), root, "", config, report);
  check_lease(config.lease, report);
  check_serve(config.serve, report);
  if (!report.empty()) return report.to_error();
  return config;
}

Result<ManagerConfig> load_manager(const std::string& path, const std::vector<std::string>& overrides) {
  if (path.empty()) return parse_manager("", "no file", overrides);
  Result<std::string> text = read_file(path, YamlLimits().bytes);
  if (!text) return std::move(text).error().context("--config");
  return parse_manager(*text, path, overrides);
}

std::string manager_reference_yaml() {
  ReferenceWriter writer;
  for (const Key<ManagerConfig>& key : manager_schema()) writer.add(key.path, key.type, key.default_value, key.help);
  return writer.take();
}

}  // namespace koord::config
