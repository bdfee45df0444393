// SPDX-License-Identifier: Apache-2.0
// koordctl plugin check, koordctl plugin explain: checks a plugin's file against the numbered rules, and explains each
// rule. No agent is needed.
#include <array>
#include <vector>

#include "core/base/parse.hpp"
#include "core/ctl/agent_refusal.hpp"
#include "core/ctl/command.hpp"
#include "core/ctl/grant_view.hpp"
#include "core/ctl/json_view.hpp"
#include "core/ctl/plugin_options.hpp"
#include "core/ctl/table.hpp"
#include "core/load/manifest.hpp"
#include "core/workshop/check/check.hpp"

namespace koord::ctl {
namespace {

using check::Outcome;
using check::Rule;

void describe_check(po::options_description& options) {
  const check::Floor floor;
  options.add_options()("json", "the same as --output json")("file-only",
                                                             "only the rules that run nothing of the file")(
      "glibc", po::value<std::string>()->default_value(floor.glibc)->value_name("VERSION"),
      "the newest GLIBC it may need")(
      "glibcxx", po::value<std::string>()->default_value(floor.glibcxx)->value_name("VERSION"), "the newest GLIBCXX")(
      "cxxabi", po::value<std::string>()->default_value(floor.cxxabi)->value_name("VERSION"), "the newest CXXABI");
  describe_configuration(options);
}

struct Findings {
  Table table{{{"RULE"}, {"RESULT"}, {"TITLE"}, {"DETAIL"}}};
  json::array rows;
  std::array<unsigned, 3> count = {};
  std::vector<std::string> failed;

  void add(const Rule& rule, const Outcome& outcome) {
    ++count[static_cast<std::size_t>(outcome.kind)];
    if (outcome.kind == Outcome::Kind::failed) failed.push_back(rule.name());
    table.add({rule.name(), std::string(to_string(outcome.kind)), std::string(rule.title), outcome.detail});
    rows.push_back({{"rule", rule.name()},
                    {"result", to_string(outcome.kind)},
                    {"severity", to_string(rule.severity)},
                    {"title", rule.title},
                    {"detail", outcome.detail}});
  }
};

Result<std::string> version_option(const Invocation& invocation, const char* name) {
  std::string version = invocation.text(name);
  for (const std::string& part : split(version, '.'))
    if (!parse_uint(part))
      return invalid("--" + std::string(name) + " '" + version + "' is not a version, expected one such as 2.31");
  return version;
}

Result<check::CheckOptions> options_of(const Invocation& invocation) {
  check::CheckOptions options;
  options.floor.glibc = TRY(version_option(invocation, "glibc"));
  options.floor.glibcxx = TRY(version_option(invocation, "glibcxx"));
  options.floor.cxxabi = TRY(version_option(invocation, "cxxabi"));
  options.file_only = invocation.has("file-only");
  return options;
}

std::string sum_of(const Findings& findings) {
  return std::to_string(findings.count[0]) + " passed, " + std::to_string(findings.count[1]) + " failed, " +
         std::to_string(findings.count[2]) + " not applicable\n";
}

Result<void> run_plugin_check(const Invocation& invocation) {
  const std::string path = invocation.text("argument");
  check::CheckOptions options = TRY(options_of(invocation));
  const Result<load::Manifest> manifest = load::read_manifest(path);
  if (manifest) options.config_json = TRY(configuration_of(invocation, manifest->id));
  Findings findings;
  TRY(check::check_plugin(path, options,
                          [&](const Rule& rule, const Outcome& outcome) { findings.add(rule, outcome); }));
  // This is not one of the rules, because path and mode of the file may differ on the node.
  const std::string refused = manifest ? agent_refusal(path, *manifest) : std::string();
  if (invocation.output == Output::json || invocation.has("json"))
    invocation.out << json::serialize(
                          json::object{{"file", path},
                                       {"passed", findings.count[0]},
                                       {"failed", findings.count[1]},
                                       {"not_applicable", findings.count[2]},
                                       {"services", manifest ? grants_json(*manifest) : json::array()},
                                       {"neededSettings", manifest ? needed_settings_json(*manifest) : json::array()},
                                       {"refused", refused},
                                       {"rules", std::move(findings.rows)}})
                   << "\n";
  else
    invocation.out << findings.table.render() << sum_of(findings)
                   << (refused.empty() ? "" : "refused by an agent: " + refused + "\n")
                   << (manifest ? "\n" + grants_table(*manifest) + needed_settings_table(*manifest) : "");
  if (findings.failed.empty()) return {};
  return invalid("'" + path + "' breaks " + join(findings.failed, ", ") + "; koordctl plugin explain " +
                 findings.failed.front() + " says more");
}

Result<void> run_plugin_explain(const Invocation& invocation) {
  const std::string name = invocation.text("argument");
  std::vector<std::string> known;
  for (const Rule& rule : check::rules()) known.push_back(rule.name());
  const Rule* rule = check::find_rule(name);
  if (!rule) return invalid("no rule is called '" + name + "'; there are " + join(known, " "));
  if (invocation.output == Output::json)
    invocation.out << json::serialize(json::object{{"rule", name},
                                                   {"severity", to_string(rule->severity)},
                                                   {"title", rule->title},
                                                   {"text", trim(rule->text)}})
                   << "\n";
  else
    invocation.out << name << ": a plugin " << rule->title << " (" << to_string(rule->severity) << ")\n\n"
                   << trim(rule->text) << "\n";
  return {};
}

}  // namespace

const Command kPluginCheck{
    "plugin check",
    "FILE",
    "Check a plugin's file against the rules for plugins; exits with 1 if one is broken. Runs code of the "
    "file with the rights of your user, unless --file-only is given.",
    describe_check,
    run_plugin_check,
    true};
const Command kPluginExplain{"plugin explain",
                             "RULE",
                             "Explain a rule such as K012: its meaning, its reason, and how to fix a violation.",
                             no_options,
                             run_plugin_explain,
                             true};

}  // namespace koord::ctl
