// SPDX-License-Identifier: Apache-2.0
// koordctl ui: shows the node, its pods and their interference on a page in the browser. koordctl proxy-stdio: the part
// of koordctl ui that runs in a pod.
#include <unistd.h>

#include <csignal>
#include <memory>
#include <utility>

#include "core/ctl/command.hpp"
#include "core/ui/pod_source.hpp"
#include "core/ui/relay.hpp"
#include "core/ui/serve.hpp"

namespace koord::ctl {
namespace {

void describe_ui(po::options_description& options) {
  options.add_options()("listen,l", po::value<std::string>()->default_value("127.0.0.1:0")->value_name("ADDRESS:PORT"),
                        "the address of loopback to serve the page at; port 0: a free one")(
      "db", po::value<std::string>()->default_value("/var/lib/koordetector/metrics.db")->value_name("FILE"),
      "the metric cache's file, for the view SQL: store.path of the agent's configuration")(
      "pod", po::value<std::string>()->value_name("NAMESPACE/NAME"),
      "show the agent in this pod, through kubectl exec; --socket and --db are paths in the pod")(
      "context", po::value<std::string>()->value_name("CONTEXT"), "with --pod: the context of the kubeconfig")(
      "kubectl", po::value<std::string>()->value_name("PROGRAM"),
      "with --pod: the kubectl to run (default: that in PATH)");
}

Result<std::unique_ptr<ui::Source>> source_in_pod(const Invocation& invocation) {
  ui::PodSourceOptions options;
  options.pod = TRY(ui::parse_pod(invocation.text("pod")));
  options.socket = invocation.socket;
  options.database = invocation.text("db");
  options.context = invocation.text("context");
  if (invocation.has("kubectl")) options.kubectl = invocation.text("kubectl");
  return ui::pod_source(std::move(options));
}

Result<std::unique_ptr<ui::Source>> source_of(const Invocation& invocation) {
  if (invocation.has("pod")) return source_in_pod(invocation);
  for (const char* option : {"context", "kubectl"})
    if (invocation.has(option)) return invalid("--" + std::string(option) + " needs --pod");
  return ui::local_source(invocation.socket, invocation.text("db"));
}

Result<void> run_ui(const Invocation& invocation) {
  if (invocation.output != Output::table) return invalid("ui prints only a link, --output json does not apply");
  TRY(ui::check_loopback(invocation.text("listen")));
  const std::unique_ptr<ui::Source> source = TRY(source_of(invocation));
  // Checks the pod before the link is printed.
  const std::string first = invocation.has("pod") ? "/api/v1/features" : "";
  return ui::serve(invocation.text("listen"), *source, invocation.out, first);
}

Result<void> run_proxy(const Invocation& invocation) {
  if (invocation.output != Output::table) return invalid("proxy-stdio passes bytes on, --output json does not apply");
  std::signal(SIGPIPE, SIG_IGN);
  return ui::relay(STDIN_FILENO, STDOUT_FILENO, invocation.socket);
}

}  // namespace

const Command kUi{"ui", "", "Serve a read-only page of this node on loopback and print a link to it; Ctrl-C ends it.",
                  describe_ui, run_ui};
const Command kProxyStdio{"proxy-stdio", "",
                          "Join standard input and output to the agent's socket: for koordctl ui --pod, in the pod.",
                          no_options, run_proxy};

}  // namespace koord::ctl
