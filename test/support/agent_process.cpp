// SPDX-License-Identifier: Apache-2.0
#include "test/support/agent_process.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "core/http/client.hpp"

namespace koord::test {
namespace {

using namespace std::chrono_literals;

// Long enough for a busy machine.
constexpr auto kStart = 90s, kEnd = 60s;

std::string list(const std::vector<std::string>& paths) {
  return paths.empty() ? "[]" : "[\"" + join(paths, "\", \"") + "\"]";
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  // The folder is not below /tmp, where other users may write, because a plugin directory and all its parents must
  // belong to root.
  std::string path = built("test") + "/koord-test-XXXXXX";
  if (!::mkdtemp(path.data())) throw std::runtime_error("cannot make a folder like '" + path + "'");
  path_ = path;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string built(std::string_view relative) {
  const char* build = std::getenv("KOORD_BUILD");
  if (!build) throw std::runtime_error("KOORD_BUILD is not set: run the test with meson test");
  return std::string(build) + "/" + std::string(relative);
}

AgentProcess::AgentProcess(std::string_view extra, std::vector<std::string> plugin_directories)
    : plugin_directories_(std::move(plugin_directories)) {
  ::mkdir(plugin_folder().c_str(), 0755);
  plugin_directories_.push_back(plugin_folder());
  write_config(extra);
}

void AgentProcess::write_config(std::string_view extra) {
  std::vector<std::string> own, others;
  for (const std::string& directory : plugin_directories_)
    (directory.starts_with(built("plugins/")) || directory.ends_with("/own") ? own : others).push_back(directory);
  std::ofstream config(config_path());
  config << "nodeName: test-node\nlisten: {metrics: \"127.0.0.1:0\", socket: \"" << socket() << "\"}\nstore: {path: \""
         << store_path() << "\"}\nplugins:\n  childProgram: \"" << built("core/plugin_host/koord-plugin-host")
         << "\"\n  ownDirectories: " << list(own) << "\n  directories: " << list(others) << "\n"
         << extra << "\n";
}

std::string AgentProcess::log() const { return read_file(folder_ / "log").value_or(""); }

void AgentProcess::launch(const std::vector<std::string>& arguments) {
  ::setenv("KOORD_SHARED_CGROUP_TREE", "1", 0);  // tests run at the same time, each with its own cgroups
  std::vector<std::string> command = run_by_;
  command.insert(command.end(),
                 {built("core/agentd/koordetector"), "--config", config_path(), "--set",
                  "predict.directory=" + folder_ / "predictions", "--set", "qos.directory=" + folder_ / "qos"});
  command.insert(command.end(), arguments.begin(), arguments.end());
  process_ = std::make_unique<ChildProcess>(command, folder_ / "log");
}

bool AgentProcess::start(const std::vector<std::string>& arguments) {
  launch(arguments);
  bool ready = eventually([this] { return !process_->running() || status_of("/readyz") == 200; }, kStart);
  if (ready && process_->running()) return true;
  std::fprintf(stderr, "the agent did not become ready:\n%s\n", log().c_str());
  return false;
}

std::optional<int> AgentProcess::stop() {
  process_->signal(SIGTERM);
  std::optional<int> status = process_->wait(kEnd);
  if (!status || !WIFEXITED(*status)) return std::nullopt;
  return WEXITSTATUS(*status);
}

void AgentProcess::kill() {
  process_->signal(SIGKILL);
  process_->wait(kEnd);
}

std::string AgentProcess::get(const std::string& target) const {
  auto response = http::get(socket(), target);
  return response && response->status == 200 ? response->body : "";
}

double AgentProcess::calls_of_plugin(const std::string& id) const {
  const std::string text = get("/api/v1/plugins"), key = "\"calls\":";
  const std::size_t at = text.find(key, text.find("\"id\":\"" + id + "\""));
  return at == text.npos ? 0 : std::strtod(text.c_str() + at + key.size(), nullptr);
}

double AgentProcess::series_of_plugins() const {
  const std::string text = get("/api/v1/plugins"), key = "\"series\":";
  double series = 0;
  for (std::size_t at = text.find(key); at != text.npos; at = text.find(key, at + 1))
    series += std::strtod(text.c_str() + at + key.size(), nullptr);
  return series;
}

unsigned AgentProcess::status_of(const std::string& target) const {
  auto response = http::get(socket(), target);
  return response ? response->status : 0;
}

std::string AgentProcess::tcp_address() const {
  std::string text = log();
  std::size_t at = text.find(", port ");
  if (at == std::string::npos) return "";
  return "127.0.0.1:" + text.substr(at + 7, text.find('\n', at) - at - 7);
}

std::string AgentProcess::metrics_over_tcp() const {
  auto response = http::get(tcp_address(), "/metrics");
  return response ? response->body : "";
}

unsigned AgentProcess::post_over_tcp(const std::string& target) const {
  auto response = http::post(tcp_address(), target, "");
  return response ? response->status : 0;
}

Finished AgentProcess::ctl(std::vector<std::string> arguments) const {
  arguments.insert(arguments.begin(), built("core/ctl/koordctl"));
  arguments.insert(arguments.end(), {"--socket", socket()});
  return run_to_end(arguments);
}

std::map<std::string, double> parse_metrics(const std::string& text) {
  std::map<std::string, double> values;
  for (const std::string& line : split(text, '\n')) {
    if (line.empty() || line.starts_with('#')) continue;
    std::size_t space = line.rfind(' ');
    values[line.substr(0, space)] = std::strtod(line.c_str() + space + 1, nullptr);
  }
  return values;
}

std::optional<double> find_metric(const std::string& text, std::string_view family,
                                  const std::vector<std::string>& labels) {
  std::optional<double> found;
  for (const auto& [series, value] : parse_metrics(text)) {
    if (series.substr(0, series.find('{')) != family) continue;
    bool matches = true;
    for (const std::string& label : labels) matches = matches && series.find(label) != std::string::npos;
    if (!matches) continue;
    if (found) return std::nullopt;
    found = value;
  }
  return found;
}

}  // namespace koord::test
