// SPDX-License-Identifier: Apache-2.0
// koordctl manager status: queries the API server, not an agent.
#include <limits>

#include "core/base/clock.hpp"
#include "core/base/parse.hpp"
#include "core/ctl/command.hpp"
#include "core/ctl/manager_status.hpp"
#include "core/event/loop.hpp"
#include "core/event/worker_pool.hpp"
#include "core/kube/client.hpp"

namespace koord::ctl {
namespace {

constexpr Duration kClusterTimeout = std::chrono::seconds(5);
constexpr std::size_t kMostClusterBytes = 4u << 20;

// A client of the API server. Each request blocks until its response.
class Cluster {
 public:
  explicit Cluster(const kube::ConnectionConfig& config) : client_(loop_, workers_, clock_, config, {}) {}

  Result<kube::Reply> get(const std::string& target) {
    Result<kube::Reply> answer = not_found("no answer");
    const auto pending = client_.send(
        {.verb = kube::Verb::get, .target = target, .timeout = kClusterTimeout, .max_body = kMostClusterBytes},
        [&](Result<kube::Reply> reply) {
          answer = std::move(reply);
          loop_.stop();
        });
    loop_.run();
    return answer;
  }

 private:
  event::Loop loop_;
  event::WorkerPool workers_{1};
  SystemClock clock_;
  kube::Client client_;
};

void describe_manager(po::options_description& options) {
  options.add_options()("kubeconfig", po::value<std::string>()->default_value("")->value_name("FILE"),
                        "of the cluster; default: $KUBECONFIG, else the pod's service account")(
      "lease", po::value<std::string>()->default_value("koordetector/koord-manager")->value_name("NAMESPACE/NAME"),
      "the Lease of koord-manager")("metrics-port", po::value<std::string>()->default_value("9320")->value_name("PORT"),
                                    "port of koord-manager's /metrics");
}

// Puts the option in front of an error about its value.
template <class T>
Result<T> of_option(std::string_view option, Result<T> value) {
  if (value) return value;
  return std::move(value).error().context(option);
}

Result<std::uint16_t> parse_port(const std::string& text) {
  const Result<std::uint64_t> port = parse_uint(text);
  if (!port || *port == 0 || *port > std::numeric_limits<std::uint16_t>::max())
    return invalid("expected a port, 1 to 65535, found '" + text + "'");
  return static_cast<std::uint16_t>(*port);
}

Result<void> run_manager_status(const Invocation& invocation) {
  const kube::LeasePlace place = TRY(of_option("--lease", kube::parse_lease_place(invocation.text("lease"))));
  const std::uint16_t port = TRY(of_option("--metrics-port", parse_port(invocation.text("metrics-port"))));
  const std::string kubeconfig = invocation.text("kubeconfig");
  Result<kube::ConnectionConfig> found = kube::find_config(kubeconfig);
  if (!kubeconfig.empty()) found = of_option("--kubeconfig", std::move(found));
  const kube::ConnectionConfig config = TRY(std::move(found));
  Cluster cluster(config);
  const ManagerStatus status = TRY(read_manager_status(
      place, port, SystemClock().wall_ns(), [&cluster](const std::string& target) { return cluster.get(target); }));
  invocation.out << (invocation.output == Output::json ? manager_status_json(status) : render_manager_status(status));
  if (!status.no_leader.empty()) return invalid("no replica leads: " + status.no_leader);
  return {};
}

}  // namespace

const Command kManagerStatus{
    "manager status",
    "",
    "Show the leader and the replicas of koord-manager: nodes with fresh and stale reports, failed writes, problems.",
    describe_manager,
    run_manager_status,
    true};

}  // namespace koord::ctl
