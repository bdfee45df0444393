// SPDX-License-Identifier: Apache-2.0
// AgentProcess: the real koordetector binary with a configuration and a folder of its own, for end-to-end tests.
// Metrics on a free loopback port, the data API on a socket in the folder.
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

// A folder that is removed with the object; root-owned and closed to others, as plugin directories must be.
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

// Where meson put the programs and plugins: the environment variable KOORD_BUILD.
std::string built(std::string_view relative);

class AgentProcess {
 public:
  // `extra`: YAML that is put behind our own keys (listen, store, the plugins' directories are taken). Plugins of
  // plugins/ and of folders named "own" are the agent's own, all others those of third parties.
  explicit AgentProcess(std::string_view extra = {}, std::vector<std::string> plugin_directories = {});

  TemporaryFolder& folder() { return folder_; }
  std::string plugin_folder() const { return folder_ / "plugins"; }
  std::string config_path() const { return folder_ / "koordetector.yaml"; }
  std::string socket() const { return folder_ / "agent.sock"; }
  std::string store_path() const { return folder_ / "metrics.db"; }
  std::string log() const;
  ChildProcess& process() { return *process_; }

  // The words before the agent's own in its command line, which must end in starting it: "env", "A=b".
  void run_by(std::vector<std::string> words) { run_by_ = std::move(words); }
  // Starts it, with predictions in the folder, and waits until /readyz answers; false with the log printed when it does
  // not.
  bool start(const std::vector<std::string>& arguments = {});
  // Starts it and waits for nothing.
  void launch(const std::vector<std::string>& arguments = {});
  // SIGTERM; the exit status, or nullopt when it does not end within a minute.
  std::optional<int> stop();
  void kill();
  void write_config(std::string_view extra);

  // The body that it answers with; empty when it does not answer with 200.
  std::string get(const std::string& target) const;
  std::string metrics() const { return get("/metrics"); }
  double calls_of_plugin(const std::string& id) const;
  double series_of_plugins() const;  // living ones, also those that exporter.detail leaves out
  std::string tcp_address() const;   // of /metrics
  std::string metrics_over_tcp() const;
  unsigned post_over_tcp(const std::string& target) const;  // its status
  unsigned status_of(const std::string& target) const;

  // Runs koordctl against it.
  Finished ctl(std::vector<std::string> arguments) const;

 private:
  TemporaryFolder folder_;
  std::vector<std::string> plugin_directories_, run_by_;
  std::unique_ptr<ChildProcess> process_;
};

// The values in a Prometheus text, by whole series: `name{label="value"}`.
std::map<std::string, double> parse_metrics(const std::string& text);

// The one series of this family with labels that contain all of `labels` (`key="value"` texts); nullopt if none or
// several.
std::optional<double> find_metric(const std::string& text, std::string_view family,
                                  const std::vector<std::string>& labels = {});

}  // namespace koord::test
