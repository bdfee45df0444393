// SPDX-License-Identifier: Apache-2.0
#include "core/criproxy/program.hpp"

#include <csignal>
#include <thread>

#include "core/base/version.hpp"
#include "core/criproxy/cri.pb.h"
#include "core/criproxy/hooked_call.hpp"
#include "core/criproxy/listener.hpp"
#include "core/criproxy/proxy.hpp"
#include "core/criproxy/proxy_log.hpp"
#include "core/event/loop.hpp"
#include "core/http/server.hpp"

namespace koord::criproxy {
namespace {

constexpr std::size_t kHookThreads = 8;
constexpr auto kRuntimeWait = std::chrono::seconds(2);
constexpr auto kProbeWait = std::chrono::milliseconds(500);

class CountedCalls final : public CallObserver {
 public:
  explicit CountedCalls(Counters& counters) : counters_(counters) {}
  void begun() override { counters_.call_begun(); }
  void ended(const std::string&, int status) override { counters_.call_ended(status); }

 private:
  Counters& counters_;
};

// Removes checkpoints of pods and containers that ended while no proxy ran.
void remove_stale(Checkpoints& checkpoints, Proxy& proxy, Checkpoints::Kind kind, const std::string& method) {
  const std::vector<std::string> known = checkpoints.ids(kind);  // read before the list, so that new entries are kept
  const std::optional<std::string> answer = proxy.ask_runtime("/runtime.v1.RuntimeService/" + method, "", kRuntimeWait);
  wire::Listed listed;
  if (!answer || !listed.ParseFromString(*answer)) return;
  std::set<std::string> ids;
  for (const wire::Id& item : listed.items()) ids.insert(item.id());
  std::size_t removed = 0;
  for (const std::string& id : known) {
    if (ids.contains(id)) continue;
    checkpoints.remove(kind, id);
    ++removed;
  }
  if (removed > 0) log::info(proxy_log, "removed {} checkpoints of pods or containers that are gone", removed);
}

http::Routes routes_of(Proxy& proxy, Counters& counters, const std::string& runtime) {
  http::Routes routes;
  routes.get("/healthz", [&proxy, runtime](const http::Request&) {
    if (proxy.runtime_answers(kProbeWait)) return http::plain_text(200, "ok");
    return http::plain_text(503, "the container runtime at '" + runtime + "' is unavailable");
  });
  routes.get("/metrics", [&counters](const http::Request&) {
    return http::Response{200, std::string(http::kPrometheusText), counters.text()};
  });
  return routes;
}

struct Program {
  Options options;
  Counters counters;
  CountedCalls calls{counters};
  event::Loop loop;
  event::WorkerPool hook_workers{kHookThreads};
  event::WorkerPool http_workers{2};
  UniqueFd listener;
  std::unique_ptr<Checkpoints> checkpoints;

  explicit Program(const Options& given) : options(given) {}

  Result<void> open_checkpoints() {
    std::vector<std::string> problems;
    checkpoints = TRY(Checkpoints::open(options.state, problems));
    for (const std::string& problem : problems) {
      counters.checkpoint_damaged();
      log::warn(proxy_log, "{}", problem);
    }
    return {};
  }

  Result<void> listen() {
    listener = inherited_socket();
    if (listener) return {};
    listener = TRY(replace_socket(options.listen));
    return {};
  }

  Result<void> serve() {
    TRY(open_checkpoints());
    AgentClient agent(options.agent, options.agent_wait, counters);
    HookServers servers(options.hook_servers, options.hook_server_wait, counters);
    HookParts parts{agent, servers, *checkpoints, counters, hook_workers};
    Proxy proxy(
        options.runtime, [&](const std::string& method) { return hook_of(method, parts); }, calls);
    http::Server health(loop, http_workers, routes_of(proxy, counters, options.runtime));
    if (!options.health.empty()) TRY(health.listen_tcp(options.health));
    TRY(listen());
    auto watch = TRY(loop.on_readable(listener.get(), [&] {
      while (UniqueFd connection = accept_connection(listener.get())) proxy.serve(std::move(connection));
    }));
    for (int signal : {SIGTERM, SIGINT}) TRY(loop.on_signal(signal, [&] { loop.stop(); }));
    hook_workers.post([&] {
      remove_stale(*checkpoints, proxy, Checkpoints::Kind::pod, "ListPodSandbox");
      remove_stale(*checkpoints, proxy, Checkpoints::Kind::container, "ListContainers");
    });
    log::info(proxy_log, "koord-cri-proxy {} serves '{}' for the runtime at '{}', knows {} pods and {} containers",
              kVersion, options.listen, options.runtime, checkpoints->ids(Checkpoints::Kind::pod).size(),
              checkpoints->ids(Checkpoints::Kind::container).size());
    loop.run();
    watch.reset();
    log::info(proxy_log, "ending; calls in flight get {} ms",
              std::chrono::duration_cast<std::chrono::milliseconds>(options.drain).count());
    proxy.stop(options.drain);
    drain_hooks(parts);
    return {};
  }

  // Waits for the tasks on the pool, because they use the parts.
  static void drain_hooks(const HookParts& parts) {
    while (parts.waiting > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
};

}  // namespace

int run(const Options& options) {
  std::signal(SIGPIPE, SIG_IGN);
  log::set_up(options.log_level, options.log_format);
  Program program(options);
  if (Result<void> served = program.serve(); !served) {
    log::error(proxy_log, "{}", served.error().message());
    return 1;
  }
  return 0;
}

}  // namespace koord::criproxy
