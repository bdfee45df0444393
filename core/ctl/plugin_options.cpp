// SPDX-License-Identifier: Apache-2.0
#include "core/ctl/plugin_options.hpp"

#include <utility>

#include "core/base/file.hpp"
#include "core/config/load.hpp"
#include "core/workshop/run_node.hpp"
#include "core/workshop/sample_node.hpp"

namespace koord::ctl {

void describe_state(po::options_description& options) {
  options.add_options()("pods", po::value<std::string>()->value_name("FILE"),
                        "a PodList, YAML or JSON; default: the pods found in cgroups")(
      "node-object", po::value<std::string>()->value_name("FILE"), "a Node")(
      "node-slo", po::value<std::string>()->value_name("FILE"), "a NodeSLO");
}

Result<workshop::StateTexts> read_state(const Invocation& invocation) {
  workshop::StateTexts texts;
  const std::pair<const char*, std::string*> files[] = {
      {"pods", &texts.pods}, {"node-object", &texts.node}, {"node-slo", &texts.node_slo}};
  for (const auto& [option, text] : files)
    if (invocation.has(option)) *text = TRY(read_file(invocation.text(option)));
  return texts;
}

void describe_node(po::options_description& options) {
  describe_state(options);
  options.add_options()("node,n", po::value<std::string>()->default_value("live")->value_name("live|sample|FIXTURE"),
                        "this machine, a small made-up node, or a recording of koordctl plugin record");
}

Result<std::unique_ptr<workshop::RunNode>> open_node(const Invocation& invocation,
                                                     std::unique_ptr<workshop::RunNode> (*live)(workshop::StateTexts)) {
  const std::string node = invocation.text("node");
  if (node == "live") return live(TRY(read_state(invocation)));
  if (node == "sample") return workshop::make_replayed_node(workshop::sample_node());
  return workshop::make_replayed_node(TRY(workshop::read_fixture(node)));
}

void describe_configuration(po::options_description& options) {
  options.add_options()("set", po::value<std::vector<std::string>>()->value_name("KEY=VALUE")->composing(),
                        "a part of the plugin's configuration; may be repeated")(
      "config", po::value<std::string>()->value_name("FILE"),
      "take the plugin's settings from this agent configuration");
}

Result<config::Config> configuration_for(const Invocation& invocation, const std::string& plugin_id) {
  std::vector<std::string> overrides;
  if (invocation.has("set"))
    for (const std::string& set : invocation.options["set"].as<std::vector<std::string>>())
      overrides.push_back("plugins.settings.\"" + plugin_id + "\".config." + set);
  const std::string file = invocation.text("config");
  if (invocation.has("config"))
    if (Result<std::string> text = read_file(file); !text)
      return std::move(text).error().context("--config '" + file + "'");
  return config::load(file, overrides);
}

Result<std::string> configuration_of(const Invocation& invocation, const std::string& plugin_id) {
  const config::Config config = TRY(configuration_for(invocation, plugin_id));
  const std::string& json = config.plugins.of(plugin_id).config_json;
  return json.empty() ? "{}" : json;
}

}  // namespace koord::ctl
