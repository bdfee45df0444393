// SPDX-License-Identifier: Apache-2.0
#include "core/criproxy/hook_servers.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>

#include "core/base/file.hpp"
#include "core/base/problem_tracker.hpp"
#include "core/criproxy/cri.pb.h"
#include "core/criproxy/hook_message.hpp"
#include "core/criproxy/proxy_log.hpp"
#include "core/criproxy/unary_call.hpp"

namespace koord::criproxy {
namespace {

using Steady = std::chrono::steady_clock;
constexpr auto kReadAgainAfter = std::chrono::seconds(1);
constexpr std::size_t kMaxServers = 32;

struct Connection {
  std::string socket;
  grpc::GenericStub stub;
  explicit Connection(const std::string& path) : socket(path), stub(local_channel(path)) {}
};

Result<Changes> ask_server(grpc::GenericStub& stub, std::string_view stage, const wire::Checkpoint& about,
                           Duration wait) {
  const std::string response = TRY(call_unary(stub, hook_method(stage), hook_request(stage, about), wait));
  return read_hook_response(stage, about, response);
}

double seconds_since(Steady::time_point begin) { return std::chrono::duration<double>(Steady::now() - begin).count(); }

}  // namespace

struct HookServers::State {
  std::string directory;
  Duration wait{};
  Counters& counters;

  std::mutex mutex;
  std::optional<Steady::time_point> read;
  std::vector<HookServer> servers;
  std::map<std::string, std::shared_ptr<Connection>, std::less<>> connections;  // key: socket
  ProblemTracker files, answers;

  State(std::string dir, Duration limit, Counters& counts) : directory(std::move(dir)), wait(limit), counters(counts) {}

  void read_directory() {
    if (read && Steady::now() - *read < kReadAgainAfter) return;
    read = Steady::now();
    servers.clear();
    std::vector<std::string> problems;
    const Result<std::vector<std::string>> names = list_directory(directory);
    if (!names && !names.error().is(std::errc::no_such_file_or_directory)) problems.push_back(names.error().message());
    for (const std::string& name : names ? *names : std::vector<std::string>{})
      if (name.ends_with(".json")) read_server(name, problems);
    for (const std::string& problem : files.begun(problems))
      log::warn(proxy_log, "{}, ignoring this hook server", problem);
    std::erase_if(connections, [this](const auto& entry) {
      return std::none_of(servers.begin(), servers.end(), [&](const auto& s) { return s.socket == entry.first; });
    });
  }

  void read_server(const std::string& name, std::vector<std::string>& problems) {
    const std::string path = directory + "/" + name;
    auto server = [&]() -> Result<HookServer> {
      const std::string text = TRY(read_file(path, 64 << 10));
      return read_hook_server(name, text);
    }();
    if (!server)
      problems.push_back("'" + path + "': " + server.error().message());
    else if (servers.size() < kMaxServers)
      servers.push_back(*std::move(server));
    else
      problems.push_back("'" + path + "': more than " + std::to_string(kMaxServers) + " hook servers");
  }

  std::vector<std::pair<HookServer, std::shared_ptr<Connection>>> servers_of(std::string_view stage) {
    const std::lock_guard lock(mutex);
    read_directory();
    std::vector<std::pair<HookServer, std::shared_ptr<Connection>>> found;
    for (const HookServer& server : servers) {
      if (!server.stages.contains(stage)) continue;
      auto& connection = connections[server.socket];
      if (!connection) connection = std::make_shared<Connection>(server.socket);
      found.emplace_back(server, connection);
    }
    return found;
  }

  void report(const HookServer& server, const std::string& problem) {
    const std::lock_guard lock(mutex);
    switch (answers.update(server.name, problem)) {
      case ProblemTracker::Change::begun:
        log::warn(proxy_log, "hook server '{}' ({}) does not answer: {}; failure policy {}", server.name, server.socket,
                  problem, server.fail ? "Fail: calls fail" : "Ignore: calls pass without it");
        break;
      case ProblemTracker::Change::over:
        log::info(proxy_log, "hook server '{}' answers again", server.name);
        break;
      case ProblemTracker::Change::none:
        break;
    }
  }
};

HookServers::HookServers(std::string directory, Duration wait, Counters& counters)
    : state_(std::make_unique<State>(std::move(directory), wait, counters)) {}

HookServers::~HookServers() = default;

std::vector<HookAnswer> HookServers::ask(std::string_view stage, const wire::Checkpoint& about) {
  std::vector<HookAnswer> answers;
  for (const auto& [server, connection] : state_->servers_of(stage)) {
    const auto begin = Steady::now();
    const Result<Changes> changes = ask_server(connection->stub, stage, about, state_->wait);
    state_->report(server, changes ? "" : changes.error().message());
    HookResult result = HookResult::failed;
    if (changes) {
      result = changes->empty() ? HookResult::unchanged : HookResult::changed;
      answers.push_back({{}, *changes});
    } else if (server.fail) {
      answers.push_back({"hook server " + server.name + ": " + changes.error().message(), {}});
    }
    state_->counters.hook_asked(HookSource::hook_server, result, seconds_since(begin));
  }
  return answers;
}

}  // namespace koord::criproxy
