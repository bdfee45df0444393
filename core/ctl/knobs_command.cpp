// SPDX-License-Identifier: Apache-2.0
// koordctl knobs and koordctl why: knobs that are set or proposed, for all pods or for one pod.
#include "core/base/url.hpp"
#include "core/ctl/command.hpp"
#include "core/ctl/decision_view.hpp"

namespace koord::ctl {
namespace {

Result<void> print(const Invocation& invocation, const std::string& target,
                   Result<std::string> (*render)(const std::string&)) {
  const std::string answer = TRY(ask_agent(invocation, target));
  const std::string text = TRY(render(answer));
  invocation.out << (invocation.output == Output::json ? answer : text);
  return {};
}

Result<void> run_knobs(const Invocation& invocation) { return print(invocation, "/api/v1/knobs", render_knobs); }

Result<void> run_why(const Invocation& invocation) {
  return print(invocation, "/api/v1/why?pod=" + percent_encode(invocation.text("argument")), render_why);
}

}  // namespace

const Command kKnobs{"knobs", "",
                     "List the knobs that strategies set or propose: value, original, strategy, reason, composition.",
                     no_options, run_knobs};
const Command kWhy{"why", "POD", "Explain the knob values of a pod, given as NAMESPACE/NAME, NAME or uid.", no_options,
                   run_why};

}  // namespace koord::ctl
