// SPDX-License-Identifier: Apache-2.0
// koordctl ui: a page in the browser with the node, its pods and what holds them up.
#include "core/ctl/command.hpp"
#include "core/ui/serve.hpp"

namespace koord::ctl {
namespace {

void describe_ui(po::options_description& options) {
  options.add_options()("listen,l", po::value<std::string>()->default_value("127.0.0.1:0")->value_name("ADDRESS:PORT"),
                        "the address of loopback to serve the page at; port 0: a free one")(
      "db", po::value<std::string>()->default_value("/var/lib/koordetector/metrics.db")->value_name("FILE"),
      "the metric cache's file, for the view SQL: store.path of the agent's configuration");
}

Result<void> run_ui(const Invocation& invocation) {
  if (invocation.output != Output::table) return invalid("ui prints only a link, --output json does not apply");
  return ui::serve(invocation.text("listen"), {.socket = invocation.socket, .database = invocation.text("db")},
                   invocation.out);
}

}  // namespace

const Command kUi{"ui", "", "Serve a read-only page of this node on loopback and print a link to it; Ctrl-C ends it.",
                  describe_ui, run_ui};

}  // namespace koord::ctl
