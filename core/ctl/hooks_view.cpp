// SPDX-License-Identifier: Apache-2.0
#include "core/ctl/hooks_view.hpp"

#include <algorithm>

#include "core/ctl/format.hpp"
#include "core/ctl/json_view.hpp"
#include "core/ctl/table.hpp"

namespace koord::ctl {
namespace {

std::string hook_count(const json::value& object, const char* key) { return format_number(json_number(object, key)); }

std::string hook_moment(const json::value& object, const char* key) {
  const std::optional<double> time = json_number(object, key);
  return time ? format_wall_time(*time) : "never";
}

std::string connection_text(const json::value& nri) {
  const std::string socket = json_text(nri, "socket"), state = json_text(nri, "state");
  if (state == "off") return "NRI: off, hooks.nri.socket is empty\n";
  if (state == "unused") return "NRI: '" + socket + "' is not used yet, no hook runs\n";
  std::string text = "NRI: " + state + " at '" + socket + "' since " + hook_moment(nri, "since") +
                     ", connections: " + hook_count(nri, "connections") + "\n";
  if (const std::string runtime = json_text(nri, "runtime"); !runtime.empty())
    text += "  runtime: " + runtime + " " + json_text(nri, "version") + "\n";
  if (const std::string error = json_text(nri, "lastError"); !error.empty()) text += "  last error: " + error + "\n";
  return text;
}

std::string stages_text(const json::array& stages) {
  if (stages.empty()) return "";
  Table table({{"EVENT"},
               {"CALLS", true},
               {"REFUSED", true},
               {"TIMED OUT", true},
               {"LATE", true},
               {"INVALID", true},
               {"P50 <=", true},
               {"P99 <=", true}});
  for (const json::value& stage : stages)
    table.add({json_text(stage, "stage"), hook_count(stage, "calls"), hook_count(stage, "refused"),
               hook_count(stage, "timedOut"), hook_count(stage, "late"), hook_count(stage, "invalid"),
               format_seconds(json_number(stage, "p50Seconds")), format_seconds(json_number(stage, "p99Seconds"))});
  return "\n" + table.render();
}

std::string proxy_text(const json::value& proxy) {
  if (json_number(proxy, "asked").value_or(0) == 0) return "koord-cri-proxy: no question yet\n";
  std::string text = "koord-cri-proxy: " + hook_count(proxy, "asked") + " questions, the last at " +
                     hook_moment(proxy, "last") + "; answers: " + hook_count(proxy, "changed") + " changed, " +
                     hook_count(proxy, "unchanged") + " unchanged, " + hook_count(proxy, "rejected") + " rejected, " +
                     hook_count(proxy, "invalid") + " invalid\n";
  if (const std::string problem = json_text(proxy, "lastProblem"); !problem.empty())
    text += "  last invalid question: " + problem + "\n";
  return text;
}

// Returns the plugin's name, with the class if the plugin has several.
std::string name_of_hook(const json::value& hook, const json::array& hooks) {
  const std::string plugin = json_text(hook, "plugin"), name = json_text(hook, "hook");
  const bool is_one_of_several = std::any_of(hooks.begin(), hooks.end(), [&](const json::value& other) {
    return json_text(other, "plugin") == plugin && json_text(other, "hook") != name;
  });
  return is_one_of_several ? plugin + "/" + name : plugin;
}

std::string last_error_of(const json::value& hook) {
  const std::string error = json_text(hook, "lastError");
  return error.empty() ? "-" : hook_moment(hook, "lastErrorTime") + " " + error;
}

std::string hooks_text(const json::array& hooks) {
  if (hooks.empty()) return "\nNo runtime hook runs; koordctl features lists their gates.\n";
  Table table({{"HOOK"},
               {"STAGE"},
               {"MODE"},
               {"ASKED", true},
               {"LATE", true},
               {"FAILED", true},
               {"REJECTED", true},
               {"CONFLICTS", true},
               {"P50 <=", true},
               {"P99 <=", true},
               {"LAST ERROR"}});
  for (const json::value& hook : hooks)
    table.add({name_of_hook(hook, hooks), json_text(hook, "stage"),
               json_text(hook, "mode") + (json_flag(hook, "running") ? "" : " (not running)"),
               hook_count(hook, "asked"), hook_count(hook, "late"), hook_count(hook, "failed"),
               hook_count(hook, "rejected"), hook_count(hook, "conflicts"),
               format_seconds(json_number(hook, "p50Seconds")), format_seconds(json_number(hook, "p99Seconds")),
               last_error_of(hook)});
  return "\n" + table.render();
}

}  // namespace

Result<std::string> render_hooks(const std::string& answer) {
  const json::value parsed = TRY(parse_object(answer));
  const json::value& nri = json_mapping(parsed, "nri");
  return connection_text(nri) + proxy_text(json_mapping(parsed, "proxy")) + stages_text(json_list(nri, "stages")) +
         hooks_text(json_list(parsed, "hooks"));
}

}  // namespace koord::ctl
