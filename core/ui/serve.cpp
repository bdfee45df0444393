// SPDX-License-Identifier: Apache-2.0
#include "core/ui/serve.hpp"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/in.h>

#include <csignal>
#include <optional>
#include <thread>
#include <utility>

#include "core/event/loop.hpp"
#include "core/event/worker_pool.hpp"
#include "core/http/server.hpp"
#include "core/http/socket_address.hpp"
#include "core/ui/access.hpp"
#include "core/ui/viewer.hpp"

namespace koord::ui {
namespace {

constexpr std::size_t kWorkers = 4;
constexpr Duration kStopPatience = std::chrono::seconds(1);

bool is_loopback(const http::SocketAddress& address) {
  if (address.family() == AF_INET)
    return (ntohl(reinterpret_cast<const sockaddr_in&>(address.storage).sin_addr.s_addr) >> 24) == IN_LOOPBACKNET;
  const in6_addr& host = reinterpret_cast<const sockaddr_in6&>(address.storage).sin6_addr;
  return IN6_IS_ADDR_LOOPBACK(&host);
}

// Returns the address with the port that the kernel chose instead of 0.
std::string with_port(const std::string& address, std::uint16_t port) {
  return address.substr(0, address.rfind(':') + 1) + std::to_string(port);
}

// Sends a request to the source while the loop waits for signals, which may close the source.
Result<void> reach(event::Loop& loop, Source& source, const std::string& target) {
  Result<void> reached;
  std::thread asking([&] {
    if (Result<http::ClientResponse> answer = source.get(target); !answer) reached = std::move(answer).error();
    loop.post([&loop] { loop.stop(); });
  });
  loop.run();
  asking.join();
  return reached;
}

}  // namespace

Result<void> check_loopback(const std::string& address) {
  const http::SocketAddress parsed = TRY(http::parse_tcp_address(address));
  if (is_loopback(parsed)) return {};
  return invalid("'" + address + "' is not an address of loopback, expected one as '127.0.0.1:9317' or '[::1]:0'");
}

Result<void> serve(const std::string& address, Source& source, std::ostream& out, const std::string& first) {
  TRY(check_loopback(address));
  event::Loop loop;
  event::WorkerPool workers(kWorkers);
  std::optional<Access> admission;
  std::string authority;
  const auto print_link = [&](const char* before) -> Result<void> {
    const std::string token = TRY(admission->new_token());
    out << before << fmt::format("http://{}/?token={}", authority, token) << std::endl;
    return {};
  };
  http::Routes routes = viewer_routes(source, [&](const http::Request& request) {
    const std::uint64_t before = admission->sessions_started();
    std::optional<http::Response> refusal = admission->check(request);
    if (admission->sessions_started() != before) (void)print_link("opened; for another browser: ");
    return refusal;
  });
  http::Server server(loop, workers, std::move(routes));
  const std::uint16_t port = TRY(server.listen_tcp(address));
  admission.emplace(port);  // must be set before the loop runs
  authority = with_port(address, port);
  bool ends = false;
  for (int signal : {SIGHUP, SIGTERM, SIGINT})
    TRY(loop.on_signal(signal, [&] {
      ends = true;
      source.close();
      server.stop(kStopPatience, [&loop] { loop.stop(); });
    }));
  const Result<void> reached = first.empty() ? Result<void>() : reach(loop, source, first);
  if (ends) return {};
  TRY(reached);
  TRY(print_link(""));
  loop.run();
  return {};
}

}  // namespace koord::ui
