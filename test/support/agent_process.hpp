// SPDX-License-Identifier: Apache-2.0
// AgentProcess: runs the real koordetector program with its own configuration and folder, for end-to-end tests. Metrics
// are on a free loopback port, the data API is on a socket in the folder.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "test/support/child_process.hpp"

namespace koord::test {

// A folder that is removed with the object. It belongs to root and is closed to others, as plugin directories must be.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }
  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  std::string path_;
};

// Returns the path of a program or plugin in the build folder, which the environment variable KOORD_BUILD names.
std::string built(std::string_view relative);

class AgentProcess {
 public:
  // `extra`: YAML added after the keys that this class sets (listen, store, the plugins' directories). Plugins in
  // plugins/ and in folders named "own" count as the agent's own, all others as third-party plugins.
  explicit AgentProcess(std::string_view extra = {}, std::vector<std::string> plugin_directories = {});

  TemporaryFolder& folder() { return folder_; }
  std::string plugin_folder() const { return folder_ / "plugins"; }
  std::string config_path() const { return folder_ / "koordetector.yaml"; }
  std::string socket() const { return folder_ / "agent.sock"; }
  std::string store_path() const { return folder_ / "metrics.db"; }
  std::string log() const;
  ChildProcess& process() { return *process_; }

  // Sets a command prefix that starts the agent, for example: "env", "A=b".
  void run_by(std::vector<std::string> words) { run_by_ = std::move(words); }
  // Starts the agent, with prediction files in the folder, and waits until /readyz answers. If it does not answer,
  // prints the log and returns false.
  bool start(const std::vector<std::string>& arguments = {});
  // Starts the agent without waiting.
  void launch(const std::vector<std::string>& arguments = {});
  // Sends SIGTERM. Returns the exit status, or nullopt if the agent does not end within a minute.
  std::optional<int> stop();
  void kill();
  void write_config(std::string_view extra);

  // Returns the body of the agent's answer; empty if the status is not 200.
  std::string get(const std::string& target) const;
  std::string metrics() const { return get("/metrics"); }
  double calls_of_plugin(const std::string& id) const;
  double series_of_plugins() const;  // active series, including series that exporter.detail leaves out
  std::string tcp_address() const;   // address of /metrics
  std::string metrics_over_tcp() const;
  unsigned post_over_tcp(const std::string& target) const;  // returns the status
  unsigned status_of(const std::string& target) const;

  // Runs koordctl against this agent.
  Finished ctl(std::vector<std::string> arguments) const;

 private:
  TemporaryFolder folder_;
  std::vector<std::string> plugin_directories_, run_by_;
  std::unique_ptr<ChildProcess> process_;
};

// Returns the values of a Prometheus text by whole series: `name{label="value"}`.
std::map<std::string, double> parse_metrics(const std::string& text);

// Returns the value of the only series of this family with all of `labels` (`key="value"` texts);
// nullopt if no or several series match.
std::optional<double> find_metric(const std::string& text, std::string_view family,
                                  const std::vector<std::string>& labels = {});

}  // namespace koord::test
