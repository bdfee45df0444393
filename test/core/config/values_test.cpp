// SPDX-License-Identifier: Apache-2.0
// For each type: accepted values, and the errors for others.
#include <doctest/doctest.h>

#include <string>

#include "core/config/load.hpp"

using namespace koord;
using namespace koord::config;
using namespace std::chrono_literals;

namespace {

std::string error_of(const std::string& key, const std::string& value) {
  const Result<Config> config = parse("", "f", {key + "=" + value});
  if (config) return "";
  const std::string text = config.error().message();
  return text.substr(0, text.find(" at --set"));
}

}  // namespace

TEST_CASE("a size is a Kubernetes quantity") {
  CHECK(parse("store: {maxBytes: 1Gi}", "f")->store.max_bytes == 1u << 30);
  CHECK(parse("store: {maxBytes: 2000000}", "f")->store.max_bytes == 2'000'000);
  CHECK(error_of("store.maxBytes", "64MiB") == "store.maxBytes: expected a size such as '64Mi', found '64MiB'");
  CHECK(error_of("store.maxBytes", "-1Gi") == "store.maxBytes: '-1Gi' is too small, expected at least 1048576 bytes");
}

TEST_CASE("a duration has a unit and a range") {
  CHECK(error_of("store.retention", "3600") ==
        "store.retention: expected a duration such as '250ms' or '1h30m', found '3600'");
  CHECK(error_of("store.retention", "1m") == "store.retention: '1m' is out of range, expected 30m to 2160h");
  CHECK(error_of("store.retention", "9000h") == "store.retention: '9000h' is out of range, expected 30m to 2160h");
}

TEST_CASE("how cgroup files are read has defaults and bounds") {
  CHECK(parse("", "f")->cgroup.memory_stat_period == 5s);
  CHECK(parse("", "f")->cgroup.kept_files == 8192);
  CHECK(parse("cgroup: {memoryStatPeriod: 1s, keptFiles: 0}", "f")->cgroup.memory_stat_period == 1s);
  CHECK(error_of("cgroup.memoryStatPeriod", "0s") ==
        "cgroup.memoryStatPeriod: '0s' is out of range, expected 100ms to 1h");
  CHECK(error_of("cgroup.keptFiles", "-1") == "cgroup.keptFiles: expected an integer, found '-1'");
}

TEST_CASE("an integer has a range and is not a string") {
  CHECK(parse("workers: 64", "f")->workers == 64);
  CHECK(error_of("workers", "0") == "workers: '0' is out of range, expected 1 to 64");
  CHECK(error_of("workers", "65") == "workers: '65' is out of range, expected 1 to 64");
  CHECK(error_of("workers", "-1") == "workers: expected an integer, found '-1'");
  CHECK(error_of("workers", "1.5") == "workers: expected an integer, found '1.5'");
  CHECK(error_of("workers", "\"4\"") == "workers: expected an integer, found the string '4'");
}

TEST_CASE("a boolean is true or false, not yes, 1 or a string") {
  CHECK(parse("plugins: {settings: {x: {required: true}}}", "f")->plugins.of("x").required);
  for (const char* bad : {"yes", "1", "on", "True", "tru"})
    CHECK(error_of("plugins.settings.x.required", bad) ==
          "plugins.settings.x.required: expected true or false, found '" + std::string(bad) + "'");
  CHECK(error_of("plugins.settings.x.required", "'true'") ==
        "plugins.settings.x.required: expected true or false, found the string 'true'");
}

TEST_CASE("a digest is 64 hexadecimal digits, kept in lower case") {
  const std::string digits(63, '0');
  CHECK(parse("plugins: {settings: {x: {sha256: " + digits + "A}}}", "f")->plugins.of("x").sha256 == digits + "a");
  CHECK(error_of("plugins.settings.x.sha256", "") == "");
  for (const std::string& bad : {std::string("0123"), digits, digits + "g"})
    CHECK(error_of("plugins.settings.x.sha256", bad) ==
          "plugins.settings.x.sha256: expected 64 hexadecimal digits, found '" + bad + "'");
}

TEST_CASE("an address is host and port, or empty for off") {
  for (const char* ok : {"127.0.0.1:9316", ":9316", "[::1]:0", "localhost:65535", ""})
    CHECK(error_of("listen.metrics", std::string("'") + ok + "'") == "");
  for (const char* bad : {"9316", "host", "host:", "host:x", "h:65536", "::1:80", "[::1]"})
    CHECK(error_of("listen.metrics", std::string("'") + bad + "'").starts_with("listen.metrics: expected host:port"));
}

TEST_CASE("an object is named with its namespace") {
  CHECK(parse("report: {direct: {lease: ns/koord-manager}}", "f")->report.direct.lease == "ns/koord-manager");
  for (const char* value : {"koord-manager", "/koord-manager", "ns/", "a/b/c", ""}) {
    CAPTURE(value);
    CHECK(error_of("report.direct.lease", value).starts_with("report.direct.lease: expected namespace/name"));
  }
}

TEST_CASE("direct reports are off, and have a period of seconds") {
  const DirectReportSettings direct = parse("", "f")->report.direct;
  CHECK_FALSE(direct.enabled);
  CHECK_FALSE(direct.replace_node_metric);
  CHECK(direct.period == 5s);
  CHECK(direct.window == 10s);
  CHECK(error_of("report.direct.period", "2m") == "report.direct.period: '2m' is out of range, expected 1s to 1m");
}

TEST_CASE("a path is absolute, a socket's short enough for the kernel") {
  CHECK(error_of("roots.proc", "proc") == "roots.proc: expected an absolute path, found 'proc'");
  CHECK(error_of("roots.proc", "''") == "roots.proc: expected an absolute path, found the string ''");
  CHECK(error_of("store.path", "''") == "");
  CHECK(error_of("listen.socket", "/" + std::string(107, 's')) ==
        "listen.socket: expected a path of at most 107 bytes, found 108");
}

TEST_CASE("a list names the item that is wrong") {
  CHECK(error_of("plugins.directories", "[/a, b]") == "plugins.directories[1]: expected an absolute path, found 'b'");
  CHECK(error_of("plugins.directories", "/a") == "plugins.directories: expected a list of absolute path, found '/a'");
  CHECK(error_of("plugins.directories", "[/a, ]") == "");
  CHECK(error_of("plugins.directories", "[/a, null]") ==
        "plugins.directories[1]: expected an absolute path, found nothing");
}

TEST_CASE("a choice names what may be chosen") {
  CHECK(error_of("state.source", "docker") ==
        "state.source: expected one of auto, kubelet, apiserver, file, cgroup, found 'docker'");
}

TEST_CASE("a long value is cut in the error") {
  CHECK(error_of("workers", std::string(1000, 'x')) ==
        "workers: expected an integer, found '" + std::string(64, 'x') + "…'");
}

TEST_CASE("a granted file is a path below one of the node's roots") {
  const auto config =
      parse("plugins: {settings: {x: {files: [proc/*/io, run/acme/**], cgroups: [acme.slice, /]}}}", "f");
  REQUIRE(config);
  CHECK(config->plugins.of("x").files == std::vector<std::string>{"proc/*/io", "run/acme/**"});
  CHECK(config->plugins.of("x").cgroups == std::vector<std::string>{"acme.slice", "/"});
  for (const char* bad : {"/etc/passwd", "etc/passwd", "proc", "proc/", "proc/../etc/passwd", "run/./x", "''"}) {
    CAPTURE(bad);
    CHECK(parse("plugins: {settings: {x: {files: [" + std::string(bad) + "]}}}", "f")
              .error()
              .text.starts_with("plugins.settings.x.files[0]: expected a path as"));
  }
  for (const char* bad : {"/acme.slice", "acme.slice/", "../x", "''"}) {
    CAPTURE(bad);
    CHECK(parse("plugins: {settings: {x: {cgroups: [" + std::string(bad) + "]}}}", "f")
              .error()
              .text.starts_with("plugins.settings.x.cgroups[0]: expected a cgroup as"));
  }
}

TEST_CASE("a file that is never read for a plugin cannot be granted") {
  const auto problem = [](const std::string& file) {
    const auto config = parse("plugins: {settings: {x: {files: [" + file + "]}}}", "f");
    return config ? std::string() : config.error().text;
  };
  CHECK(problem("proc/*/environ")
            .starts_with("plugins.settings.x.files[0]: 'proc/*/environ' is never read for a plugin"));
  for (const char* never :
       {"proc/*/map_files/*", "proc/self/io", "proc/kcore", "proc/1/root/**", "proc/sys/net/ipv4/tcp_fastopen_key"}) {
    CAPTURE(never);
    CHECK(problem(never).find("is never read for a plugin") != std::string::npos);
  }
  for (const char* fine : {"proc/**", "proc/*/io", "proc/sys/kernel/modules", "run/fd/state", "sys/kernel/mm/keys"}) {
    CAPTURE(fine);
    CHECK(problem(fine).empty());
  }
}

TEST_CASE("kinds of sockets are a list of their names, and an unknown one is an error") {
  const auto config = parse("plugins: {settings: {x: {network: [tcp, unix]}}}", "f");
  REQUIRE(config);
  CHECK(config->plugins.of("x").network == (kNetworkTcp | kNetworkUnix));
  CHECK(config->plugins.of("y").network == 0);
  CHECK(parse("plugins: {settings: {x: {network: [http]}}}", "f").error().text ==
        "plugins.settings.x.network: 'http' is not a kind of socket at f:1:35, expected unix, tcp, udp or netlink");
  CHECK(parse("plugins: {settings: {x: {network: tcp}}}", "f").error().text.find("expected a list") !=
        std::string::npos);
}

TEST_CASE("the least isolation is a list of layers, and an unknown one is an error") {
  const auto config = parse("plugins: {minimumIsolation: [uid, landlock]}", "f");
  REQUIRE(config);
  CHECK(config->plugins.minimum_isolation == std::vector{IsolationLayer::uid, IsolationLayer::landlock});
  CHECK(parse("plugins: {minimumIsolation: [vm]}", "f").error().text ==
        "plugins.minimumIsolation: 'vm' is not a layer at f:1:29, expected uid, landlock, seccomp or cgroup");
}

TEST_CASE("capabilities are a list of their names, and an unknown one is reported with the nearest") {
  const auto config = parse("plugins: {settings: {x: {capabilities: [CAP_BPF, CAP_CHOWN]}}}", "f");
  REQUIRE(config);
  CHECK(format_capabilities(config->plugins.of("x").capabilities) == "CAP_CHOWN,CAP_BPF");
  CHECK(config->plugins.of("y").capabilities == 0);
  CHECK(parse("plugins: {settings: {x: {capabilities: [CAP_BFP]}}}", "f").error().text ==
        "plugins.settings.x.capabilities: 'CAP_BFP' is not a Linux capability at f:1:40, did you mean 'CAP_BPF'?");
  CHECK(parse("plugins: {settings: {x: {capabilities: [bpf]}}}", "f")
            .error()
            .text.ends_with("expected a name such as 'CAP_BPF'"));
  CHECK(parse("plugins: {settings: {x: {capabilities: CAP_BPF}}}", "f").error().text.find("expected a list") !=
        std::string::npos);
}
