// SPDX-License-Identifier: Apache-2.0
// koordctl plugin reload: makes the agent load a plugin's file again. The new version starts beside the running one.
#include "core/config/plugin_id.hpp"
#include "core/ctl/command.hpp"
#include "core/ctl/json_view.hpp"

namespace koord::ctl {
namespace {

Result<void> run_reload(const Invocation& invocation) {
  const std::string id = invocation.text("argument");
  if (!config::is_plugin_id(id))
    return invalid("'" + id + "' is not a plugin id, expected " + std::string(config::kPluginIdForm));
  const std::string answer = TRY(post_to_agent(invocation, "/api/v1/plugins/" + id + "/reload"));
  if (invocation.output == Output::json) {
    invocation.out << answer;
    return {};
  }
  const json::value plugin = TRY(parse_object(answer));
  invocation.out << id << " " << json_text(plugin, "version") << " is " << json_text(plugin, "state") << ", from "
                 << json_text(plugin, "path") << "\n";
  return {};
}

}  // namespace

const Command kPluginReload{"plugin reload", "ID", "Replace a running plugin by its new file, without a gap.",
                            no_options, run_reload};

}  // namespace koord::ctl
