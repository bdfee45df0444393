// SPDX-License-Identifier: Apache-2.0
// koordctl interference and koordctl interference matrix: which containers are held up, which others cause it, and how
// much.
#include <poll.h>

#include <chrono>
#include <set>

#include "core/base/url.hpp"
#include "core/ctl/command.hpp"
#include "core/ctl/format.hpp"
#include "core/ctl/interference_view.hpp"
#include "core/ctl/json_view.hpp"

namespace koord::ctl {
namespace {

constexpr int kWatchPeriodMs = 1000;

po::typed_value<std::string>* word(const char* name) { return po::value<std::string>()->value_name(name); }

void describe_interference(po::options_description& options) {
  options.add_options()("namespace", word("NAMESPACE"), "about pods of this namespace")(
      "container", word("NAME"), "about containers of this name")("resource", word("RESOURCE"),
                                                                  "waits for this resource: cpu, blkio, memory, cache")(
      "kind", word("KIND"),
      "of this kind: interfered, self-quota, self-threads, self-memory-limit, shared-parent, unknown")(
      "since", word("TIME"), "also ended ones, not before: how long ago, as 10m, or Unix seconds")(
      "until", word("TIME"), "also ended ones, not after")("state", word("STATE"),
                                                           "standing, ended or any; default standing, with a time any")(
      "limit,n", word("COUNT"), "show at most this many of the newest; default 100")(
      "watch,w", po::bool_switch(), "print each verdict when it is confirmed and when it ends, until interrupted");
}

void describe_matrix(po::options_description& options) {
  options.add_options()("pod,p", word("POD"), "waits of this pod: its uid, NAMESPACE/NAME or NAME")(
      "namespace", word("NAMESPACE"), "waits of pods in this namespace")("container", word("NAME"),
                                                                         "waits of containers with this name")(
      "resource", word("RESOURCE"), "waits for this resource: cpu, blkio, memory, cache")(
      "limit,n", word("COUNT"), "show at most this many pairs of a resource; default 100");
}

// Appends a parameter for each of these options that is set.
std::string with_options(const Invocation& invocation, std::string target, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (!invocation.has(name)) continue;
    const std::string parameter = std::string(name) == "argument" ? "pod" : name;
    target +=
        (target.find('?') == std::string::npos ? '?' : '&') + parameter + "=" + percent_encode(invocation.text(name));
  }
  return target;
}

std::string verdicts_target_of(const Invocation& invocation) {
  return with_options(invocation, "/api/v1/interference",
                      {"argument", "namespace", "container", "resource", "kind", "since", "until", "state", "limit"});
}

// Prints new changes of verdicts, ordered by their start time.
void print_changes(const Invocation& invocation, const json::value& answer, std::set<std::string>& printed) {
  const json::array& verdicts = json_list(answer, "verdicts");
  for (auto verdict = verdicts.rbegin(); verdict != verdicts.rend(); ++verdict) {
    // Ids restart at 1 with the agent, so the key also has the start time.
    const std::string change = format_number(json_number(*verdict, "id")) + " " +
                               format_number(json_number(*verdict, "since")) + " " + json_text(*verdict, "state");
    if (!printed.insert(change).second) continue;
    if (invocation.output == Output::json)
      invocation.out << json::serialize(*verdict) << "\n";
    else
      invocation.out << render_verdict(*verdict, invocation.output == Output::wide) << "\n";
  }
  invocation.out << std::flush;
}

Result<void> print_verdicts(const Invocation& invocation) {
  const std::string answer = TRY(ask_agent(invocation, verdicts_target_of(invocation)));
  const std::string text = TRY(render_interference(answer, invocation.output == Output::wide));
  invocation.out << (invocation.output == Output::json ? answer : text);
  return {};
}

Result<void> watch(const Invocation& invocation) {
  std::string target = verdicts_target_of(invocation);
  if (!invocation.has("since")) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    target += (target.find('?') == std::string::npos ? "?since=" : "&since=") +
              std::to_string(std::chrono::duration_cast<std::chrono::seconds>(now).count());
  }
  std::set<std::string> printed;
  for (bool is_first = true; invocation.out; is_first = false) {
    const std::string answer = TRY(ask_agent(invocation, target));
    const json::value parsed = TRY(parse_object(answer));
    if (is_first && json_list(parsed, "verdicts").empty() && invocation.output != Output::json)
      TRY(print_verdicts(invocation));
    print_changes(invocation, parsed, printed);
    ::poll(nullptr, 0, kWatchPeriodMs);
  }
  return {};
}

Result<void> run_interference(const Invocation& invocation) {
  return invocation.options["watch"].as<bool>() ? watch(invocation) : print_verdicts(invocation);
}

Result<void> run_matrix(const Invocation& invocation) {
  const std::string target =
      with_options(invocation, "/api/v1/interference/matrix", {"pod", "namespace", "container", "resource", "limit"});
  const std::string answer = TRY(ask_agent(invocation, target));
  const std::string text = TRY(render_matrix(answer));
  invocation.out << (invocation.output == Output::json ? answer : text);
  return {};
}

}  // namespace

const Command kInterference{.name = "interference",
                            .arguments = "[POD]",
                            .summary = "Show which containers are held up, by which others, how much, and how sure.",
                            .describe = describe_interference,
                            .run = run_interference,
                            .has_wide = true};
const Command kInterferenceMatrix{.name = "interference matrix",
                                  .arguments = "",
                                  .summary = "List the pairs of the last second: which container waited for which.",
                                  .describe = describe_matrix,
                                  .run = run_matrix};

}  // namespace koord::ctl
