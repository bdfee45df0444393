// SPDX-License-Identifier: Apache-2.0
// koordctl plugin info: shows the manifest and facts of a plugin's file, an agent's decision about it, and, if an agent
// answers, its grants on this node. No code of the file runs. An agent is not required.
#include <filesystem>
#include <system_error>

#include "core/base/parse.hpp"
#include "core/ctl/agent_refusal.hpp"
#include "core/ctl/command.hpp"
#include "core/ctl/grant_view.hpp"
#include "core/ctl/json_view.hpp"
#include "core/ctl/table.hpp"
#include "core/host/isolation.hpp"
#include "core/load/manifest.hpp"

namespace koord::ctl {
namespace {

void describe_info(po::options_description& options) {
  options.add_options()("own-directory", po::value<std::string>()->default_value(KOORD_OWN_PLUGIN_DIR),
                        "directory of the agent's own plugins, as plugins.ownDirectories");
}

// Returns the origin of a file as an agent with this own directory would determine it.
load::Origin origin_of(const std::string& path, const std::string& own_directory) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::absolute(path, error).parent_path();
  return std::filesystem::equivalent(folder, own_directory, error) ? load::Origin::host : load::Origin::third_party;
}

std::string runner_of(const load::Manifest& manifest, load::Origin origin) {
  return host::runs_in_child(manifest, origin, config::Isolation::automatic).value_or(true) ? "a process of its own"
                                                                                            : "the agent";
}

json::array strings(const std::vector<std::string>& list) {
  json::array array;
  for (const std::string& item : list) array.emplace_back(item);
  return array;
}

json::object as_json(const load::Manifest& manifest, load::Origin origin, const std::string& refused) {
  const config::GateSpec gate = manifest.gate_specs(origin).front();
  return {{"id", manifest.id},
          {"version", manifest.version},
          {"abi", std::to_string(manifest.abi_major) + "." + std::to_string(manifest.abi_minor)},
          {"kinds", strings(manifest.kinds)},
          {"gate", join(manifest.gates, ",")},
          {"stage", to_string(gate.stage)},
          {"default", gate.default_on},
          {"requires", strings(manifest.required_services)},
          {"optional", strings(manifest.optional_services)},
          {"annotations", strings(manifest.annotations)},
          {"runtime", to_string(manifest.runtime)},
          {"isolation", runner_of(manifest, origin)},
          {"license", manifest.license},
          {"description", manifest.description},
          {"refused", refused}};
}

// Returns a list as words, and a flag as on or off.
std::string in_words(const json::value& value) {
  if (value.is_bool()) return value.as_bool() ? "on" : "off";
  if (value.is_null()) return {};
  if (!value.is_array()) return std::string(value.as_string());
  std::vector<std::string> words;
  for (const json::value& word : value.as_array()) words.emplace_back(word.as_string());
  return join(words, ", ");
}

std::string as_table(const json::object& about) {
  Table table({{"KEY"}, {"VALUE"}});
  for (const auto& [key, value] : about)
    if (std::string words = in_words(value); !words.empty()) table.add({std::string(key), std::move(words)});
  return table.render();
}

Result<void> run_plugin_info(const Invocation& invocation) {
  const std::string path = invocation.text("argument");
  Result<load::Manifest> manifest = load::read_manifest(path);
  if (!manifest) return std::move(manifest).error().context("'" + path + "'");
  const std::string refused = agent_refusal(path, *manifest);
  const GrantedHere here = granted_here(ask_agent(invocation, "/api/v1/plugins"), manifest->id);
  const load::Origin origin = origin_of(path, invocation.text("own-directory"));
  const bool needs_grants = origin == load::Origin::third_party;
  json::object about = as_json(*manifest, origin, refused);
  if (invocation.output == Output::table) {
    about["granted here"] = here.text;
    about["plugins.minimumIsolation"] = here.minimum_isolation;
    invocation.out << as_table(about) << "\n"
                   << grants_table(*manifest) << (needs_grants ? needed_settings_table(*manifest) : "");
  } else {
    about["services"] = grants_json(*manifest);
    about["neededSettings"] = needs_grants ? needed_settings_json(*manifest) : json::array();
    about["grantedHere"] = here.grants;
    about["minimumIsolation"] = here.minimum_isolation;
    invocation.out << json::serialize(about) << "\n";
  }
  if (!refused.empty()) return invalid("an agent refuses '" + path + "': " + refused);
  return {};
}

}  // namespace

const Command kPluginInfo{
    "plugin info", "FILE",
    "Show the manifest and facts of a plugin's file, without running it, the services that it gets, the settings "
    "that it needs, and its grants by the agent on --socket, if one answers; exits with 1 if an agent would refuse the file.",
    describe_info, run_plugin_info};

}  // namespace koord::ctl
