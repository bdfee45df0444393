// SPDX-License-Identifier: Apache-2.0
#include "plugins/external-prometheus/settings.hpp"

#include <chrono>
#include <cmath>
#include <optional>

#include "plugins/shared/sdk/scrape_limits.hpp"

namespace koord::external_prometheus {
namespace {

using plugin::Config;

constexpr double kPeriodSeconds = 15, kTimeoutSeconds = 10;

std::chrono::nanoseconds seconds(double value) { return std::chrono::nanoseconds(std::llround(value * 1e9)); }

std::vector<std::string> texts(const Config& config, const std::string& at) {
  std::vector<std::string> list;
  while (std::optional<std::string> text = config.string(at + "/" + std::to_string(list.size())))
    list.push_back(*std::move(text));
  return list;
}

std::vector<std::pair<std::string, std::string>> pairs(const Config& config, const std::string& at, const char* first,
                                                       const char* second) {
  std::vector<std::pair<std::string, std::string>> list;
  for (;;) {
    const std::string item = at + "/" + std::to_string(list.size());
    std::optional<std::string> from = config.string(item + "/" + first);
    if (!from) return list;
    list.emplace_back(*std::move(from), config.string(item + "/" + second).value_or(""));
  }
}

plugin::ScrapeTarget where_of(const Config& config, const std::string& at) {
  auto text = [&](const char* key) { return config.string(at + key).value_or(""); };
  plugin::ScrapeTarget target{text("/name"), text("/url")};
  target.ca_file = text("/tls/caFile");
  target.certificate_file = text("/tls/certificateFile");
  target.key_file = text("/tls/keyFile");
  target.server_name = text("/tls/serverName");
  target.token_file = text("/tokenFile");
  target.period = seconds(config.f64(at + "/periodSeconds").value_or(kPeriodSeconds));
  target.timeout = seconds(config.f64(at + "/timeoutSeconds").value_or(kTimeoutSeconds));
  settings::read_scrape_limits(config, at, target);
  return target;
}

Labelling labelling_of(const Config& config, const std::string& at) {
  auto text = [&](const char* key) { return config.string(at + "/subject" + key).value_or(""); };
  Labelling rules{texts(config, at + "/labels/keep"), texts(config, at + "/labels/drop"),
                  pairs(config, at + "/labels/add", "name", "value")};
  rules.subject = {text("/podUid"), text("/namespace"), text("/pod"), text("/container"), text("/containerId")};
  rules.subject.keep_unknown = text("/unknown") == "node";
  return rules;
}

}  // namespace

std::vector<Target> read_targets(const Config& config) {
  std::vector<Target> targets;
  for (;;) {
    const std::string at = "/targets/" + std::to_string(targets.size());
    if (!config.string(at + "/name")) return targets;
    targets.push_back({where_of(config, at),
                       {texts(config, at + "/metrics"), config.string(at + "/rename/prefix").value_or(""),
                        pairs(config, at + "/rename/names", "from", "to")},
                       labelling_of(config, at)});
  }
}

}  // namespace koord::external_prometheus
