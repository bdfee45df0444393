// SPDX-License-Identifier: Apache-2.0
// koordctl mode: shows the mode of each strategy and runtime hook, and overrides it for a while.
#include "core/base/parse.hpp"
#include "core/base/url.hpp"
#include "core/ctl/command.hpp"
#include "core/ctl/decision_view.hpp"

namespace koord::ctl {
namespace {

void describe_mode(po::options_description& options) {
  options.add_options()("for,f", po::value<std::string>()->value_name("TIME"),
                        "duration of the override, 1s to 168h; then the configured mode applies again");
}

Result<void> set_mode(const Invocation& invocation, const std::string& target, const std::string& mode) {
  if (!invocation.has("argument-2")) return invalid("a mode is missing: off, shadow, enforce, or configured");
  if (mode != "configured" && !invocation.has("for"))
    return invalid("--for TIME is missing: an override must have an end");
  if (const std::string time = invocation.text("for"); !time.empty() && !parse_duration(time))
    return invalid("--for '" + time + "' is not a duration, expected 1s to 168h, such as 90s or 1h30m");
  std::string query = "?mode=" + percent_encode(mode);
  if (invocation.has("for")) query += "&for=" + percent_encode(invocation.text("for"));
  const std::string answer = TRY(post_to_agent(invocation, "/api/v1/modes/" + percent_encode(target) + query));
  const std::string text = TRY(render_mode(answer));
  invocation.out << (invocation.output == Output::json ? answer : text);
  return {};
}

Result<void> run_mode(const Invocation& invocation) {
  if (invocation.has("argument"))
    return set_mode(invocation, invocation.text("argument"), invocation.text("argument-2"));
  if (invocation.has("for")) return invalid("--for needs a strategy, or 'node', and a mode");
  const std::string answer = TRY(ask_agent(invocation, "/api/v1/modes"));
  const std::string table = TRY(render_modes(answer));
  invocation.out << (invocation.output == Output::json ? answer : table);
  return {};
}

}  // namespace

const Command kMode{
    "mode", "[STRATEGY] [MODE]",
    "Show the modes of strategies and hooks (off, shadow, enforce); set one for a while, or that of 'node' as a ceiling.",
    describe_mode, run_mode};

}  // namespace koord::ctl
