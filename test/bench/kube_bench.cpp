// SPDX-License-Identifier: Apache-2.0
// kube::Client on loopback. Compares requests over a kept connection with a new connection for each, in CPU time of
// this process and in wall time, which includes the test server's time (KC1, KC2). Compares a list of 32 MB with the
// blocking client, which reads it in one piece (KC3, wall time, openssl s_server).
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "core/base/clock.hpp"
#include "core/http/client.hpp"
#include "core/http/socket_address.hpp"
#include "core/kube/client.hpp"
#include "measure.hpp"
#include "test/support/child_process.hpp"
#include "test/support/loop_here.hpp"
#include "test/support/test_cluster.hpp"

using namespace koord;
using namespace std::chrono_literals;

namespace {

constexpr int kRounds = 7;
constexpr int kRequests = 100;
constexpr std::size_t kListBytes = 32 << 20;

bool all_met = true;

void print(const std::string& name, double ours, const char* reference_name, double reference, double target) {
  all_met = all_met && ours / reference <= target * 1.1;
  bench::print_ratio(name, ours, reference_name, reference, "ms", target);
}

template <class Work>
double wall_ms(Work&& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

void fail(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::exit(1);
}

struct Asking : test::LoopHere {
  Asking(kube::ConnectionConfig config, std::size_t kept)
      : client(loop, workers, clock, std::move(config),
               {.requests_per_second = 1e6, .burst = 1'000'000, .kept_connections = kept}) {}

  std::size_t bytes_of(const std::string& target) {
    std::size_t bytes = 0;
    const auto pending =
        client.send({.target = target, .timeout = 60s, .max_body = 2 * kListBytes}, [&](Result<kube::Reply> reply) {
          if (!reply || !reply->ok()) fail(reply ? std::to_string(reply->status) : reply.error().message());
          bytes = reply->body.size();
          loop.stop();
        });
    loop.run();
    return bytes;
  }

  SystemClock clock;
  kube::Client client;
};

void measure_requests() {
  test::TestCluster cluster;
  const auto config = kube::find_config(cluster.kubeconfig());
  if (!config) fail(config.error().message());
  Asking keeping(*config, 1), not_keeping(*config, 0);
  std::vector<double> kept_cpu, new_cpu, kept_wall, new_wall;
  const auto ask = [](Asking& asking) {
    for (int i = 0; i < kRequests; ++i) asking.bytes_of("/api/v1/nodes/test-node");
  };
  for (int round = 0; round < kRounds; ++round) {
    kept_wall.push_back(
        wall_ms([&] { kept_cpu.push_back(bench::cpu_seconds_of([&] { ask(keeping); }) * 1e3 / kRequests); }) /
        kRequests);
    new_wall.push_back(
        wall_ms([&] { new_cpu.push_back(bench::cpu_seconds_of([&] { ask(not_keeping); }) * 1e3 / kRequests); }) /
        kRequests);
  }
  print("KC1 CPU of a request, kept connection", bench::median(kept_cpu), "new one", bench::median(new_cpu), 0.25);
  print("KC2 time of a request, kept connection", bench::median(kept_wall), "new one", bench::median(new_wall), 0.5);
  std::printf("    %.0f requests per second over a kept connection, %.0f over new ones\n",
              1e3 / bench::median(kept_wall), 1e3 / bench::median(new_wall));
}

// Runs openssl s_server, which answers "/list" with this many bytes.
struct ListServer {
  ListServer() {
    std::string pattern = (std::filesystem::temp_directory_path() / "koord-test-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) fail("cannot make a folder");
    folder = pattern;
    std::ofstream(folder + "/list") << "HTTP/1.1 200 OK\r\nContent-Length: " << kListBytes << "\r\n\r\n"
                                    << std::string(kListBytes, 'x');
    const auto made =
        test::run_to_end({"/bin/sh", "-c",
                          "cd " + folder +
                              " && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
                              "-subj /CN=x -addext subjectAltName=IP:127.0.0.1 -keyout key -out pem"});
    if (made.exit_status != 0) fail(made.output);
    port = http::local_port(http::open_tcp_listener("127.0.0.1:0")->get()).value();
    process = std::make_unique<test::ChildProcess>(
        std::vector<std::string>{"/bin/sh", "-c",
                                 "cd " + folder + " && exec openssl s_server -quiet -HTTP -accept 127.0.0.1:" +
                                     std::to_string(port) + " -cert pem -key key"},
        "/dev/null");
  }
  ~ListServer() { std::filesystem::remove_all(folder); }
  http::ClientOptions options() const {
    return {.timeout = 60s, .tls = http::TlsOptions{.ca_file = folder + "/pem", .server_name = "127.0.0.1"}};
  }
  std::string address() const { return "127.0.0.1:" + std::to_string(port); }

  std::string folder;
  std::uint16_t port = 0;
  std::unique_ptr<test::ChildProcess> process;
};

void measure_list() {
  const ListServer server;
  if (!test::eventually([&] { return http::get(server.address(), "/list", server.options()).has_value(); }))
    fail("openssl s_server does not answer");
  Asking asking({.host = "127.0.0.1", .port = server.port, .ca = {.file = server.folder + "/pem"}}, 1);
  std::vector<double> ours, blocking;
  for (int round = 0; round < kRounds; ++round) {
    ours.push_back(wall_ms([&] {
      if (asking.bytes_of("/list") != kListBytes) fail("a short list");
    }));
    blocking.push_back(wall_ms([&] { (void)http::get(server.address(), "/list", server.options()); }));
  }
  print("KC3 a list of 32 MB", bench::median(ours), "blocking client", bench::median(blocking), 1.2);
  std::printf("    %.0f MB per second\n", kListBytes / 1e3 / bench::median(ours));
}

}  // namespace

int main() {
  measure_requests();
  measure_list();
  return all_met ? 0 : 1;
}
