// SPDX-License-Identifier: Apache-2.0
// A program with the client of core/hook/nri, for tests with a real runtime. It prints a line for each event, and reads
// requests from stdin.
//
// usage: nri-plugin SOCKET CONTAINER FILE...
//   Adjusts the container of this name. Before its program starts, it prints each FILE, in which {} is the container's
//   cgroup: "file PATH CONTENT".
//   stdin: "shares ID NUMBER" updates a container: "updated" or "failed ID…"; "status" prints a line with the status;
//   the end of stdin ends the program.
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "core/base/backoff.hpp"
#include "core/base/clock.hpp"
#include "core/hook/nri/client.hpp"

namespace {

using namespace koord;
using namespace koord::nri;

void print(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

std::string read_file(const std::string& path) {
  std::ifstream in(path);
  if (!in) return "missing";
  std::string text(std::istreambuf_iterator<char>(in), {});
  return text.substr(0, text.find('\n'));
}

class Hook final : public Events {
 public:
  Hook(std::string container, std::vector<std::string> files)
      : container_(std::move(container)), files_(std::move(files)) {}

  void connected(const Runtime& runtime) override { print("connected " + runtime.name + " " + runtime.version); }
  void disconnected(const Error&) override { print("disconnected"); }

  void synchronize(std::vector<Pod> pods, std::vector<Container> containers, Done<UpdateAnswer> done) override {
    print("Synchronize " + std::to_string(pods.size()) + " " + std::to_string(containers.size()));
    done({});
  }

  void run_pod_sandbox(const Pod& pod, Done<PodAnswer> done) override {
    print("RunPodSandbox " + pod.name + " " + pod.cgroup_parent + " annotations " +
          std::to_string(pod.annotations.size()));
    done({});
  }

  void create_container(const Pod& pod, const Container& container, Done<CreateAnswer> done) override {
    print("CreateContainer " + pod.name + " " + container.name + " shares " + shares_of(container.resources));
    CreateAnswer answer;
    if (container.name == container_) answer.adjustment = adjustment();
    if (const auto value = pod.annotations.find("koord.test/refuse"); value != pod.annotations.end())
      answer.refusal = Refusal{value->second};
    // With this annotation the handler never answers, and the client answers at its deadline.
    if (!pod.annotations.contains("koord.test/silent")) done(std::move(answer));
  }

  void update_container(const Pod&, const Container& container, const Resources& resources,
                        Done<UpdateAnswer> done) override {
    print("UpdateContainer " + container.name + " shares " + shares_of(resources) + " quota " +
          (resources.cpu_quota_us ? std::to_string(*resources.cpu_quota_us) : "unset"));
    done({.updates = {{.container_id = container.id, .resources = {.cpu_shares = 999}}}});
  }

  void stop_container(const Pod&, const Container& container, Done<UpdateAnswer> done) override {
    print("StopContainer " + container.name);
    done({});
  }

  // The runtime starts the program of a container when this has returned.
  void notify(Stage stage, const Pod& pod, const Container& container) override {
    if (stage == Stage::start_container && container.name == container_)
      for (const std::string& file : files_) print_file(file, container.cgroups_path);
    print(std::string(to_string(stage)) + " " + (container.id.empty() ? pod.name : container.name));
  }

 private:
  static std::string shares_of(const Resources& resources) {
    return resources.cpu_shares ? std::to_string(*resources.cpu_shares) : "unset";
  }

  static Adjustment adjustment() {
    return {.env = {{"FROM_HOOK", "adjusted"}}, .resources = {.cpu_shares = 345, .cpus = "0"}};
  }

  static void print_file(std::string path, const std::string& cgroup) {
    path.replace(path.find("{}"), 2, cgroup);
    print("file " + path + " " + read_file(path));
  }

  const std::string container_;
  const std::vector<std::string> files_;
};

void print_status(const Status& status) {
  print("status " + std::string(to_string(status.state)) + " connections " + std::to_string(status.connections) +
        " reconnects " + std::to_string(status.reconnects()) + " timed_out " +
        std::to_string(status.of(Stage::create_container).timed_out) + " refused " +
        std::to_string(status.of(Stage::create_container).refused));
}

void update_shares(Client& client, const std::string& id, std::uint64_t shares) {
  client.update_containers({{.container_id = id, .resources = {.cpu_shares = shares}}},
                           [](Result<std::vector<std::string>> failed) {
                             if (!failed) return print("failed " + failed.error().message());
                             print(failed->empty() ? "updated" : "failed " + failed->front());
                           });
}

void serve(Client& client, const std::string& line) {
  std::istringstream words(line);
  std::string word, id;
  std::uint64_t shares = 0;
  words >> word;
  if (word == "status") print_status(client.status());
  if (word == "shares" && words >> id >> shares) update_shares(client, id, shares);
}

// Calls serve() for each line of stdin.
std::unique_ptr<event::FdWatch> read_requests(event::Loop& loop, Client& client) {
  return *loop.on_readable(STDIN_FILENO, [&loop, &client, rest = std::string()]() mutable {
    std::array<char, 4096> block;
    const ssize_t n = ::read(STDIN_FILENO, block.data(), block.size());
    if (n <= 0) return loop.stop();
    rest.append(block.data(), static_cast<std::size_t>(n));
    for (std::size_t end; (end = rest.find('\n')) != std::string::npos; rest.erase(0, end + 1))
      serve(client, rest.substr(0, end));
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("usage: nri-plugin SOCKET CONTAINER FILE...\n", stderr);
    return 2;
  }
  Options options;
  options.socket_path = argv[1];
  options.keep_annotation = [](std::string_view key) { return key.starts_with("koord.test/"); };
  options.seed = random_seed();
  event::Loop loop;
  SystemClock clock;
  Hook hook(argv[2], {argv + 3, argv + argc});
  Client client(loop, clock, options, hook);
  const auto requests = read_requests(loop, client);
  client.start();
  loop.run();
  return 0;
}
