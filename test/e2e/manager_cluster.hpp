// SPDX-License-Identifier: Apache-2.0
// A test cluster with replicas of koord-manager that serve the aggregated API, and an aggregator in front of them.
// Requests are sent with curl.
#pragma once

#include <doctest/doctest.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/base/file.hpp"
#include "test/support/agent_process.hpp"
#include "test/support/certificate_folder.hpp"
#include "test/support/eventually.hpp"
#include "test/support/test_cluster.hpp"

namespace koord::test {

inline const std::string kNodeMetricPath = "/apis/metrics.koordetector.sh/v1alpha1/nodemetrics";
inline const std::string kAgentUser = "system:serviceaccount:koordinator-system:koordetector";

inline bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// Returns the line of the log with this text; empty if no line has it.
inline std::string line_with(const std::string& log, std::string_view text) {
  const std::size_t at = log.find(text);
  if (at == log.npos) return {};
  const std::size_t begin = log.rfind('\n', at) + 1;
  return log.substr(begin, log.find('\n', at) - begin);
}

// One replica of koord-manager.
class Replica {
 public:
  Replica(const std::string& name, const std::string& kubeconfig, const CertificateFolder& certificates,
          const TemporaryFolder& folder, const std::vector<std::string>& environment = {},
          const std::vector<std::string>& settings = {})
      : output_(folder / name + ".log"),
        process_(command(name, kubeconfig, certificates, environment, settings), output_) {}

  std::string log() const { return read_file(output_, 16 << 20).value_or(""); }
  bool leads() const {
    const std::string text = log();
    const std::size_t begin = text.rfind("leads now"), end = text.rfind("leads no longer");
    return begin != text.npos && (end == text.npos || end < begin);
  }
  ChildProcess& process() { return process_; }
  std::string metrics_address() const { return "127.0.0.1:" + port_after("serves /healthz"); }
  std::string api_port() const { return port_after("serves the aggregated API"); }

 private:
  static std::vector<std::string> command(const std::string& name, const std::string& kubeconfig,
                                          const CertificateFolder& certificates,
                                          const std::vector<std::string>& environment,
                                          const std::vector<std::string>& settings) {
    std::vector<std::string> words = {"/usr/bin/env", "POD_IP=127.0.0.1", "POD_NAME=" + name};
    words.insert(words.end(), environment.begin(), environment.end());
    words.push_back(built("core/manager/koord-manager"));
    std::vector<std::string> all = {"cluster.kubeconfig=" + kubeconfig,
                                    "listen=127.0.0.1:0",
                                    "lease.namespace=koordetector",
                                    "serve.address=127.0.0.1:0",
                                    "serve.certificateFile=" + certificates.pem("server"),
                                    "serve.keyFile=" + certificates.key("server")};
    all.insert(all.end(), settings.begin(), settings.end());
    for (const std::string& one : all) {
      words.emplace_back("--set");
      words.push_back(one);
    }
    return words;
  }
  std::string port_after(std::string_view line) const {
    std::string text;
    REQUIRE(eventually([&] {
      text = log();
      const std::size_t at = text.find(line);
      return at != text.npos && text.find('\n', at) != text.npos;
    }));
    const std::size_t at = text.find("port ", text.find(line)) + 5;
    return text.substr(at, text.find_first_not_of("0123456789", at) - at);
  }

  std::string output_;
  ChildProcess process_;
};

struct Answer {
  int status = 0;
  std::string text;  // including headers
};

class ManagerCluster {
 public:
  explicit ManagerCluster(std::vector<std::string> nodes = {}) : nodes_(std::move(nodes)) {
    for (const char* authority : {"ca", "other-ca"}) certificates_.authority(authority);
    certificates_.issue("ca", "server", "/CN=koord-manager", "subjectAltName=DNS:koord-manager.koordetector.svc");
    certificates_.issue("other-ca", "forged", "/CN=front-proxy-client", "extendedKeyUsage=clientAuth");
    nodes_.push_back("test-node");
    for (const std::string& node : nodes_) add_node(node);
    // The users of the kubeconfigs; the first is the user of agents.
    for (const char* name : {"system:serviceaccount:koordinator-system:koordetector", "koordetector"}) {
      const std::string user = name;
      cluster.command("allow", R"({"user":")" + user + R"(","verbs":["*"],"paths":["*"]})");
      cluster.command("allow", R"({"user":")" + user +
                                   R"(","verbs":["*"],"resources":["nodemetrics.metrics.koordetector.sh",
                                      "nodemetrics.metrics.koordetector.sh/status"]})");
    }
    cluster.command("register_api", R"({"group":"metrics.koordetector.sh","version":"v1alpha1",
      "namespace":"koordetector","service":"koord-manager","ca_file":")" +
                                        certificates_.pem("ca") + "\"}");
  }

  // `environment`: "NAME=value" texts; `settings`: "KEY=VALUE" texts.
  std::unique_ptr<Replica> start(const std::string& name, bool with_certificate = false,
                                 const std::vector<std::string>& environment = {},
                                 const std::vector<std::string>& settings = {}) {
    return std::make_unique<Replica>(name,
                                     with_certificate ? cluster.kubeconfig_with_certificate() : cluster.kubeconfig(),
                                     certificates_, folder_, environment, settings);
  }
  // Waits until the APIService is available.
  void wait_until_available() {
    cluster.wait_for_object("APIService", "v1alpha1.metrics.koordetector.sh",
                            R"({"pointer":"/status/conditions/0/reason","equals":"Passed"})");
  }

  const std::vector<std::string>& nodes() const { return nodes_; }
  const CertificateFolder& certificates() const { return certificates_; }
  static std::string token_of(const std::string& node) { return "Authorization: Bearer token-of-" + node; }

  // Sends a request through the aggregator. `options`: of curl.
  Answer ask(const std::vector<std::string>& options, const std::string& path) const {
    return curl({"--cacert", cluster.service_account() + "/ca.crt"}, options,
                "https://127.0.0.1:" + std::to_string(cluster.api_port()) + path);
  }
  // Sends a request directly to a replica.
  Answer ask(const Replica& replica, const std::vector<std::string>& options, const std::string& path) const {
    return curl({"--cacert", certificates_.pem("ca"), "--connect-to",
                 "koord-manager.koordetector.svc:443:127.0.0.1:" + replica.api_port()},
                options, "https://koord-manager.koordetector.svc" + path);
  }
  // Sends many requests at the same time, each with a different unknown token. Returns their statuses. [any]
  std::vector<std::string> flood(const Replica& replica, int requests) const {
    return ask_at_once(replica, requests, [](int number) {
      return Request{kNodeMetricPath, "Authorization: Bearer unknown-" + std::to_string(number)};
    });
  }
  struct Request {
    std::string path, header;
  };
  std::vector<std::string> ask_at_once(const Replica& replica, int requests,
                                       const std::function<Request(int number)>& make) const {
    std::string config;
    for (int i = 0; i < requests; ++i) {
      const Request request = make(i);
      config += (i == 0 ? "" : "next\n") + std::string("url = \"https://koord-manager.koordetector.svc") +
                request.path + "\"\noutput = /dev/null\nsilent\ncacert = \"" + certificates_.pem("ca") +
                "\"\nconnect-to = \"koord-manager.koordetector.svc:443:127.0.0.1:" + replica.api_port() +
                "\"\nheader = \"" + request.header + "\"\nwrite-out = \"%{http_code} \"\n";
    }
    const std::string file = folder_ / "requests.curl";
    if (!write_file_atomically(file, config)) return {};
    const std::string text = run_to_end({"curl", "--parallel", "--parallel-immediate", "--parallel-max", "300",
                                         "--no-progress-meter", "--config", file},
                                        std::chrono::minutes(5))
                                 .output;
    std::vector<std::string> statuses;
    std::istringstream words(text);
    for (std::string word; words >> word;) statuses.push_back(word);
    return statuses;
  }
  // `more`: members of the status.
  static std::vector<std::string> report_of(const std::string& node, int milli, const std::string& token_of_node = {},
                                            const std::string& more = {}) {
    return {"-X",
            "PUT",
            "-H",
            "Content-Type: application/json",
            "-H",
            token_of(token_of_node.empty() ? node : token_of_node),
            "-d",
            R"({"kind":"NodeMetric","apiVersion":"metrics.koordetector.sh/v1alpha1","metadata":{"name":")" + node +
                R"("},"status":{"updateTime":"2026-01-02T03:04:05Z",)" + more +
                R"("nodeMetric":{"nodeUsage":{"resources":{"cpu":")" + std::to_string(milli) + R"(m"}}}}})"};
  }
  Answer report(const std::string& node, int milli) const {
    return ask(report_of(node, milli), kNodeMetricPath + "/" + node + "/status");
  }
  static std::optional<double> metric(const Replica& replica, std::string_view family,
                                      const std::vector<std::string>& labels = {}) {
    return find_metric(
        run_to_end({"curl", "-s", "-m", "30", "http://" + replica.metrics_address() + "/metrics"}).output, family,
        labels);
  }

  TestCluster cluster;

 private:
  void add_node(const std::string& name) {
    if (name != cluster.node_name())
      cluster.put(R"({"kind":"Node","apiVersion":"v1","metadata":{"name":")" + name + R"("},"spec":{},"status":{}})");
    cluster.command("set_token", R"({"token":"token-of-)" + name + R"(","username":")" + kAgentUser +
                                     R"(","groups":["system:serviceaccounts"],"login":true,
        "extra":{"authentication.kubernetes.io/node-name":[")" +
                                     name + R"("]}})");
  }
  static Answer curl(std::vector<std::string> command, const std::vector<std::string>& options,
                     const std::string& url) {
    command.insert(command.begin(), {"curl", "-s", "-i", "-m", "30", "-w", "\n%{http_code}"});
    command.insert(command.end(), options.begin(), options.end());
    command.push_back(url);
    Answer answer;
    answer.text = run_to_end(command, std::chrono::minutes(1)).output;
    const std::size_t line = answer.text.rfind('\n');
    if (line == answer.text.npos) return answer;
    answer.status = std::atoi(answer.text.c_str() + line);
    answer.text.resize(line);
    return answer;
  }

  CertificateFolder certificates_;
  TemporaryFolder folder_;
  std::vector<std::string> nodes_;
};

// Sends reports for all nodes through the aggregator repeatedly, as agents do.
class Reporter {
 public:
  explicit Reporter(const ManagerCluster& cluster) : thread_([this, &cluster] { run(cluster); }) {}
  ~Reporter() {
    ends_ = true;
    thread_.join();
  }
  Reporter(const Reporter&) = delete;
  Reporter& operator=(const Reporter&) = delete;

 private:
  void run(const ManagerCluster& cluster) {
    for (int milli = 1; !ends_; ++milli)
      for (const std::string& node : cluster.nodes()) cluster.report(node, milli);
  }

  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

}  // namespace koord::test
