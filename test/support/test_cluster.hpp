// SPDX-License-Identifier: Apache-2.0
// TestCluster: an API server and a kubelet for tests. A client cannot distinguish them from real ones: they have TLS,
// credentials that change, resourceVersions and watches, and the test can cause faults by name. They run as a separate
// process (test/support/cluster; its README lists the faults and the conditions to wait for), which ends with the
// object. JSON is passed as text. Failures and timeouts throw std::runtime_error with the observed state.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "test/support/child_process.hpp"

namespace koord::test {

// One request to either server, as the request log has it.
struct ClusterRequest {
  std::int64_t index = 0;
  double seconds = 0;  // since the servers started
  std::string server;  // "api" or "kubelet"
  std::string verb;    // "get", "list", "watch", "create", "update", "patch", "delete", "handshake"
  std::string path;    // path with the query
  std::string kind, namespace_, name, subresource;
  std::string user_agent;
  int token = 0;                // generation of the token, from 1; 0: no token; -1: a refused token
  unsigned status = 0;          // 0: not answered yet
  bool open = false;            // the answer has not ended
  std::int64_t connection = 0;  // a number per connection
};

class TestCluster {
 public:
  struct Options {
    std::string node_name = "test-node";  // the Node that exists from the beginning on, with the kubelet's address and
                                          // port
    int minor = 30;                       // Kubernetes 1.minor
  };

  TestCluster();
  explicit TestCluster(const Options& options);
  ~TestCluster();
  TestCluster(const TestCluster&) = delete;
  TestCluster& operator=(const TestCluster&) = delete;

  std::uint16_t api_port() const { return api_port_; }
  std::uint16_t kubelet_port() const { return kubelet_port_; }
  const std::string& node_name() const { return options_.node_name; }
  const std::string& folder() const { return folder_; }
  std::string kubeconfig() const { return folder_ + "/kubeconfig"; }  // uses the token's file
  // uses a client certificate
  std::string kubeconfig_with_certificate() const { return folder_ + "/kubeconfig-certificate"; }
  // The folder with token, ca.crt and namespace, mounted and replaced as in a pod.
  std::string service_account() const { return folder_ + "/serviceaccount"; }
  std::string kubelet_ca() const { return folder_ + "/pki/kubelet-ca.pem"; }
  // Returns the environment variables of a pod of the DaemonSet.
  std::map<std::string, std::string> environment() const;

  // Creates or replaces an object, including its status. Returns the stored object.
  std::string put(std::string_view object);
  // Applies a merge patch, which may change the status, too.
  std::string merge(std::string_view kind, std::string_view name, std::string_view patch);
  std::optional<std::string> get(std::string_view kind, std::string_view name, std::string_view namespace_ = {});
  void remove(std::string_view kind, std::string_view name, std::string_view namespace_ = {});
  // These set the kubelet's answers: a list of Pods, and changes of its configuration.
  void set_pods(std::string_view list);
  void set_kubelet_config(std::string_view changes);

  void fault(std::string_view name, std::string_view arguments = "{}");
  void clear_faults();
  void clear_fault(std::string_view name);

  // Returns the requests that match `wanted`: {"verb": "list", "kind": "NodeSLO", "after": 12, …}.
  std::vector<ClusterRequest> requests(std::string_view wanted = "{}");
  // Waits until "count" requests match (1 if not given), and returns them.
  std::vector<ClusterRequest> wait_for_requests(std::string_view wanted,
                                                std::chrono::seconds timeout = std::chrono::seconds(60));
  // Waits until `condition` holds, and returns the object: {"pointer": "/status/updateTime", "equals": …} or "differs"
  // or "exists".
  std::string wait_for_object(std::string_view kind, std::string_view name, std::string_view condition = "{}",
                              std::chrono::seconds timeout = std::chrono::seconds(60));

  // Sends any command of the control endpoint.
  std::string command(std::string_view name, std::string_view arguments = "{}",
                      std::chrono::seconds timeout = std::chrono::seconds(60));
  ChildProcess& process() { return *process_; }

 private:
  Options options_;
  std::string folder_;
  std::unique_ptr<ChildProcess> process_;
  std::uint16_t api_port_ = 0, kubelet_port_ = 0;
};

}  // namespace koord::test
