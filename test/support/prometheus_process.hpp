// SPDX-License-Identifier: Apache-2.0
// PrometheusProcess: Debian's prometheus, which scrapes targets on loopback every three seconds. A program that
// includes this header is built with -DKOORD_PROMETHEUS="PATH". Header-only.
#pragma once

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "core/base/url.hpp"
#include "core/http/client.hpp"
#include "core/http/socket_address.hpp"
#include "test/support/agent_process.hpp"

namespace koord::test {

class PrometheusProcess {
 public:
  static constexpr int kIntervalSeconds = 3;

  explicit PrometheusProcess(const std::string& target) : PrometheusProcess(std::vector{target}) {}
  // `rules`: a file of rules, which are evaluated every three seconds, too.
  explicit PrometheusProcess(const std::vector<std::string>& targets, const std::string& rules = {}) {
    auto free_port = http::open_tcp_listener("127.0.0.1:0");
    address_ = "127.0.0.1:" + std::to_string(*http::local_port(free_port->get()));
    free_port = UniqueFd();
    const std::string interval = std::to_string(kIntervalSeconds) + "s";
    std::ofstream(folder_ / "prometheus.yml")
        << "global: {scrape_interval: " << interval << ", scrape_timeout: " << interval
        << ", evaluation_interval: " << interval << "}\nrule_files: [" << (rules.empty() ? "" : "'" + rules + "'")
        << "]\nscrape_configs:\n- job_name: agent\n  static_configs: [{targets: ['" << join(targets, "', '")
        << "']}]\n";
    process_ = std::make_unique<ChildProcess>(
        std::vector<std::string>{KOORD_PROMETHEUS, "--config.file=" + (folder_ / "prometheus.yml"),
                                 "--storage.tsdb.path=" + (folder_ / "data"), "--web.listen-address=" + address_},
        folder_ / "log");
  }
  // Returns the JSON of the answer; empty if Prometheus does not answer yet.
  std::string query(const std::string& expression) const {
    return get("/api/v1/query?query=" + percent_encode(expression));
  }
  std::string get(const std::string& target) const {
    auto response = http::get(address_, target);
    return response && response->status == 200 ? response->body : "";
  }
  // Returns the number of a query with exactly one result.
  std::optional<double> value(const std::string& expression) const {
    const std::string answer = query(expression);
    const std::size_t at = answer.find("\"value\":[");
    const std::size_t comma = answer.find(",\"", at == std::string::npos ? answer.size() : at + 8);
    if (comma == std::string::npos) return std::nullopt;
    return std::strtod(answer.c_str() + comma + 2, nullptr);
  }
  // Returns the times in seconds of the successful scrapes of the target in the last ten minutes, in order.
  std::vector<double> scrapes() const {
    std::vector<double> times;
    const std::string answer = query("up[10m]");
    // "values":[[1700000000.1,"1"],[1700000003.1,"0"]]
    std::size_t at = answer.find("\"values\":[");
    if (at == std::string::npos) return times;
    for (at = answer.find('[', at + 10); at != std::string::npos; at = answer.find('[', at + 1)) {
      char* end = nullptr;
      const double time = std::strtod(answer.c_str() + at + 1, &end);
      if (std::string_view(end).starts_with(",\"1\"")) times.push_back(time);
    }
    return times;
  }
  std::string log() const { return read_file(folder_ / "log").value_or(""); }

 private:
  TemporaryFolder folder_;
  std::string address_;
  std::unique_ptr<ChildProcess> process_;
};

}  // namespace koord::test
