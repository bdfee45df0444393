// SPDX-License-Identifier: Apache-2.0
// The commands for plugin authors, as an author types them, without an agent.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "core/base/unique_fd.hpp"
#include "test/support/agent_process.hpp"
#include "test/support/child_process.hpp"

using namespace koord::test;
namespace fs = std::filesystem;

namespace {

const std::string kBuild = std::getenv("KOORD_BUILD");
const std::string kGauge = kBuild + "/test/core/workshop/gauge.so";

struct AuthorFixture {
  std::string folder = (fs::temp_directory_path() / "koord-test-author-XXXXXX").string();
  AuthorFixture() { REQUIRE(::mkdtemp(folder.data())); }
  ~AuthorFixture() { fs::remove_all(folder); }

  std::string file(const std::string& name) const { return folder + "/" + name; }
};

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

Finished koordctl(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {kBuild + "/core/ctl/koordctl", "plugin"});
  return run_to_end(arguments);
}

// Removes the times of calls, which differ between runs.
std::string without_times(std::string json) { return json.substr(0, json.find("\"calls\"")); }

// An endpoint that gives this answer to each request.
class LargeAnswer {
 public:
  LargeAnswer(const std::string& path, const std::string& answer)
      : listener_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    REQUIRE(::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(::listen(listener_.get(), 8) == 0);
    thread_ = std::thread([this, answer] {
      for (;;) {
        const koord::UniqueFd client(::accept(listener_.get(), nullptr, nullptr));
        if (!client) return;
        char request[4096];
        if (::read(client.get(), request, sizeof request) <= 0) continue;
        for (std::size_t at = 0; at < answer.size();) {
          const ssize_t n = ::send(client.get(), answer.data() + at, answer.size() - at, MSG_NOSIGNAL);
          if (n <= 0) break;
          at += static_cast<std::size_t>(n);
        }
      }
    });
  }
  ~LargeAnswer() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
  }
  LargeAnswer(const LargeAnswer&) = delete;
  LargeAnswer& operator=(const LargeAnswer&) = delete;

 private:
  koord::UniqueFd listener_;
  std::thread thread_;
};

}  // namespace

TEST_CASE("options may precede a command of two words, and the first word alone lists the second words") {
  const auto ctl = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), kBuild + "/core/ctl/koordctl");
    return run_to_end(arguments);
  };
  const std::vector<std::vector<std::string>> before_it = {
      {"-s", "/nowhere.sock"}, {"--socket=/nowhere.sock"}, {"--socket", "/nowhere.sock"}};
  for (std::vector<std::string> arguments : before_it) {
    arguments.insert(arguments.end(), {"plugin", "reload", "some-plugin"});
    const Finished asked = ctl(arguments);
    CHECK(asked.exit_status == 1);
    CHECK(contains(asked.output, "/nowhere.sock"));
  }
  const Finished relative = ctl({"-s", "no/such.sock", "plugins"});
  CHECK(relative.exit_status == 1);
  CHECK_MESSAGE(contains(relative.output, std::filesystem::current_path().string() + "/no/such.sock"), relative.output);
  const Finished help = ctl({"plugin", "--help"});
  CHECK(help.exit_status == 0);
  CHECK(contains(help.output, "plugin info"));
  CHECK_FALSE(contains(help.output, "takeover"));
  const Finished of_new = ctl({"plugin", "new", "--help"});
  CHECK(contains(of_new.output, "Usage: koordctl plugin new KIND NAME --lang LANGUAGE [options]"));
  CHECK_FALSE(contains(of_new.output, "--socket"));  // a command without an agent
  CHECK(contains(ctl({"plugin", "info", "--help"}).output, "--socket"));
  CHECK(ctl({"-s", "/nowhere.sock", "plugin", "explain", "K012"}).exit_status == 0);
  for (const char* command : {"run", "check", "bench", "fuzz"})
    CHECK_MESSAGE(
        contains(ctl({"plugin", command, "--help"}).output, "Runs code of the file with the rights of your user"),
        command);
  CHECK(ctl({"takeover"}).exit_status == 2);
}

TEST_CASE("a wrong word of a command is named, and so is an unreadable file of --config") {
  for (const auto& [words, text] : std::initializer_list<std::pair<std::vector<std::string>, const char*>>{
           {{"plugin", "inof"}, "unknown command 'plugin inof', did you mean 'plugin info'?"},
           {{"takeover", "kubelet"}, "unknown command 'takeover kubelet'"},
           {{"decison"}, "unknown command 'decison', did you mean 'decisions'?"},
           {{"xyzzy"}, "unknown command 'xyzzy'; koordctl --help lists them"}}) {
    std::vector<std::string> arguments = words;
    arguments.insert(arguments.begin(), kBuild + "/core/ctl/koordctl");
    const Finished wrong = run_to_end(arguments);
    CHECK(wrong.exit_status == 2);
    CHECK_MESSAGE(contains(wrong.output, text), wrong.output);
  }
  const Finished check = koordctl({"check", kGauge, "--config", "nix"});
  CHECK(check.exit_status == 1);
  CHECK_MESSAGE(contains(check.output, "--config 'nix'"), check.output);
}

TEST_CASE_FIXTURE(AuthorFixture, "a recorded node is replayed with the same result in both isolations") {
  const Finished recorded = koordctl({"record", file("here.tar.gz"), "--frames", "2", "--interval", "100ms"});
  REQUIRE_MESSAGE(recorded.exit_status == 0, recorded.output);
  CHECK_MESSAGE(contains(recorded.output, "here.tar.gz: 2 frames of "), recorded.output);
  const Finished child = koordctl({"run", kGauge, "--node", file("here.tar.gz"), "-o", "json"});
  const Finished here = koordctl({"run", kGauge, "--node", file("here.tar.gz"), "-o", "json", "--inprocess"});
  REQUIRE_MESSAGE(child.exit_status == 0, child.output);
  CHECK(contains(child.output, "\"metric\":\"gauge_load\""));
  CHECK(without_times(child.output) == without_times(here.output));
}

TEST_CASE_FIXTURE(AuthorFixture, "a run prints what the plugin did, and a trace of its calls") {
  const Finished run = koordctl(
      {"run", kGauge, "--ticks", "2", "--period", "10ms", "--set", "capAbove=1000", "--trace", file("trace.json")});
  REQUIRE_MESSAGE(run.exit_status == 0, run.output);
  for (const char* part :
       {"METRIC", "gauge_load", "SCRAPES", "http://127.0.0.1:9100/metrics", "collect       2       0"})
    CHECK_MESSAGE(contains(run.output, part), run.output);
  std::ifstream trace(file("trace.json"));
  const std::string text{std::istreambuf_iterator<char>(trace), {}};
  for (const char* part : {"\"traceEvents\":[", "\"name\":\"collect\"", "\"ph\":\"X\"", "\"thread_name\""})
    CHECK(contains(text, part));
}

TEST_CASE_FIXTURE(AuthorFixture, "a scrape above maxScrapeMemory fails as in an agent") {
  std::string answer = "HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\n";
  for (int i = 0; i < 5000; ++i) answer += "large{n=\"" + std::to_string(i) + "\"} 1\n";
  const LargeAnswer endpoint(file("large.sock"), answer);
  std::ofstream(file("scrapes.yaml")) << "plugins: {settings: {com.example.gauge: {maxScrapeMemory: 64Ki}}}\n";
  const auto run = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{
        "run", kGauge,     "--class", "node-exporter", "--ticks",
        "1",   "--period", "5s",      "--set",         "url=\"unix:" + file("large.sock") + ":/metrics\""};
    words.insert(words.end(), more.begin(), more.end());
    return koordctl(words).output;
  };
  const std::string limited = run({"--config", file("scrapes.yaml")});
  CHECK_MESSAGE(contains(limited, "(maxScrapeMemory)"), limited);
  const std::string usual = run({});
  CHECK_MESSAGE(!contains(usual, "(maxScrapeMemory)"), usual);
}

TEST_CASE("endpoints of an external advisor are scraped on this machine") {
  AgentProcess agent;
  REQUIRE(agent.start());
  const Finished run = koordctl({"run", kGauge, "--class", "node-exporter", "--ticks", "1", "--period", "500ms",
                                 "--set", "url=\"unix:" + agent.socket() + ":/metrics\""});
  REQUIRE_MESSAGE(run.exit_status == 0, run.output);
  CHECK_MESSAGE(contains(run.output, "koordetector_host_"), run.output);
  const Finished unanswered = koordctl({"run", kGauge, "--class", "node-exporter", "--ticks", "1", "--period", "50ms",
                                        "--set", "url=\"unix:/no/such.sock:/metrics\""});
  CHECK(unanswered.exit_status == 0);
  CHECK_MESSAGE(contains(unanswered.output, "unix:/no/such.sock:/metrics        0  "), unanswered.output);
}

TEST_CASE("errors of a plugin are reported, and the command fails") {
  const Finished refused = koordctl({"run", kGauge, "--set", "capAbov=1"});
  CHECK(refused.exit_status == 1);
  CHECK_MESSAGE(contains(refused.output, "capAbov"), refused.output);
  const Finished missing = koordctl({"run", "/no/such.so"});
  CHECK(missing.exit_status == 1);
  CHECK_MESSAGE(contains(missing.output, "'/no/such.so': No such file or directory"), missing.output);
  const Finished crashed = koordctl(
      {"run", kBuild + "/test/core/child/actor.so", "--class", "actor", "--set", "part=segv", "--period", "10ms"});
  CHECK(crashed.exit_status == 1);
  CHECK_MESSAGE(contains(crashed.output, "ended by signal 11"), crashed.output);
}

TEST_CASE_FIXTURE(
    AuthorFixture,
    "a confined run has the layers of a third party's plugin in an agent, and the grants of the configuration") {
  if (::geteuid() != 0) {
    MESSAGE("SKIPPED: needs root");
    return;
  }
  const std::vector<std::string> run{"run", kBuild + "/test/core/child/prober.so", "--ticks", "1", "--period", "10ms"};
  const auto with = [&](std::vector<std::string> options) {
    options.insert(options.begin(), run.begin(), run.end());
    return koordctl(options);
  };
  const auto probed = [](const std::string& json, const std::string& what) {
    const std::size_t at = json.find("\"metric\":\"probe_" + what + "\"");
    const std::size_t value = json.find("\"value\":", at);
    return at == std::string::npos || value == std::string::npos ? -1 : std::strtod(json.c_str() + value + 8, nullptr);
  };
  const Finished confined = with({"--confined", "-o", "json"}), plain = with({"-o", "json"});
  REQUIRE_MESSAGE(confined.exit_status == 0, confined.output);
  REQUIRE_MESSAGE(plain.exit_status == 0, plain.output);
  CHECK(probed(confined.output, "uid") >= 2'000'000'000);
  CHECK(probed(plain.output, "uid") == 0);
  CHECK(probed(confined.output, "read_shadow") == EACCES);
  CHECK(probed(confined.output, "socket_tcp") == EPERM);
  CHECK(probed(confined.output, "in_state") == 0);
  std::ofstream(file("grants.yaml")) << "plugins: {settings: {com.example.prober: {network: [tcp]}}}\n";
  CHECK(probed(with({"--confined", "-o", "json", "--config", file("grants.yaml")}).output, "socket_tcp") == 0);
  const Finished shown = with({"--confined"});
  CHECK_MESSAGE(contains(shown.output, "confined by uid+"), shown.output);
  CHECK_MESSAGE(contains(shown.output, "not by cgroup"), shown.output);
  CHECK_MESSAGE(with({}).output.starts_with("not confined as in an agent: the plugin's process has your user"),
                with({}).output);
  CHECK_MESSAGE(with({"--inprocess"}).output.starts_with("not confined: the plugin runs in this process"),
                with({"--inprocess"}).output);
  const Finished both = with({"--confined", "--inprocess"});
  CHECK(both.exit_status == 1);
}

TEST_CASE_FIXTURE(AuthorFixture, "a confined run scrapes an endpoint only with a grant of the configuration") {
  if (::geteuid() != 0) {
    MESSAGE("SKIPPED: needs root");
    return;
  }
  AgentProcess agent;
  REQUIRE(agent.start());
  const auto run_with = [&](const std::string& grants) {
    std::ofstream(file("grants.yaml")) << "plugins: {settings: {com.example.gauge: {" + grants + "}}}\n";
    return koordctl({"run", kGauge, "--confined", "--class", "node-exporter", "--ticks", "1", "--period", "500ms",
                     "--config", file("grants.yaml"), "--set", "url=\"unix:" + agent.socket() + ":/metrics\""})
        .output;
  };
  CHECK_MESSAGE(contains(run_with(""), "network: [unix] in the plugin's settings allows it"), run_with(""));
  CHECK_MESSAGE(
      contains(run_with("network: [unix]"), "writePaths: [" + agent.socket() + "] in the plugin's settings allows it"),
      run_with("network: [unix]"));
  CHECK_MESSAGE(contains(run_with("network: [unix], writePaths: [" + agent.socket() + "]"), "koordetector_host_"),
                agent.socket());
}

TEST_CASE("bench shows both isolations side by side") {
  const Finished bench = koordctl({"bench", kGauge, "--ticks", "20"});
  REQUIRE_MESSAGE(bench.exit_status == 0, bench.output);
  for (const char* part : {"ISOLATION", "in process", "\nprocess ", "ALLOCATIONS", "20 ticks."})
    CHECK_MESSAGE(contains(bench.output, part), bench.output);
  const Finished crashed = koordctl({"bench", kBuild + "/test/core/child/actor.so", "--set", "part=segv"});
  CHECK(crashed.exit_status == 1);
  CHECK_MESSAGE(contains(crashed.output, "in process: the plugin ended its process by Segmentation fault"),
                crashed.output);
}
