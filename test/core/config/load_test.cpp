// SPDX-License-Identifier: Apache-2.0
#include "core/config/load.hpp"

#include <doctest/doctest.h>
#include <stdlib.h>
#include <unistd.h>

#include <string>

#include "core/base/file.hpp"

using namespace koord;
using namespace koord::config;
using namespace std::chrono_literals;

namespace {

Config good(std::string_view text) {
  Result<Config> config = parse(text, "f.yaml");
  INFO((config ? "" : config.error().message()));
  REQUIRE(config);
  return *std::move(config);
}

std::string error_of(std::string_view text) {
  const Result<Config> config = parse(text, "f.yaml");
  return config ? "" : config.error().message();
}

}  // namespace

TEST_CASE("without file and overrides every key has its default") {
  const Config config = *load("");
  CHECK(config.roots.cgroup == "/sys/fs/cgroup");
  CHECK(config.log.level == log::Level::info);
  CHECK(config.listen.metrics == "127.0.0.1:9316");
  CHECK(config.store.retention == 12h);
  CHECK(config.store.max_bytes == 64u << 20);
  CHECK(config.store.journal_period == 1s);
  CHECK(config.state.source == StateSource::automatic);
  CHECK(config.state.resync_period == 3s);
  CHECK(config.plugins.directories.empty());
}

TEST_CASE("a hook with fields that only a creation can set fails a request that it does not answer by default") {
  const Config config = good("plugins: {settings: {hook-gpu: {}, hook-rdma: {onTimeout: ignore}, hook-cpuset: {}}}");
  CHECK(config.plugins.of("hook-gpu").on_timeout == OnTimeout::fail);
  CHECK(config.plugins.of("hook-rdma").on_timeout == OnTimeout::ignore);
  CHECK(config.plugins.of("hook-cpuset").on_timeout == OnTimeout::ignore);
}

TEST_CASE("the default roots are those of NodeRoots") {
  const NodeRoots roots;
  const Config config = *load("");
  CHECK(config.roots.proc == roots.proc);
  CHECK(config.roots.sys == roots.sys);
  CHECK(config.roots.cgroup == roots.cgroup);
  CHECK(config.roots.resctrl == roots.resctrl);
  CHECK(config.roots.run == roots.run);
  CHECK(config.roots.kubelet == roots.kubelet);
}

TEST_CASE("a file sets what it names and leaves the rest at its default") {
  const Config config = good(R"(
nodeName: worker-7
log: {level: debug, format: json}
store:
  maxBytes: 128Mi
  retention: 6h
state:
  file: {pods: pods.yaml}
)");
  CHECK(config.node_name == "worker-7");
  CHECK(config.log.level == log::Level::debug);
  CHECK(config.log.format == log::Format::json);
  CHECK(config.store.max_bytes == 128u << 20);
  CHECK(config.store.retention == 6h);
  CHECK(config.store.journal_period == 1s);
  CHECK(config.state.file.pods == "pods.yaml");
}

TEST_CASE("the node's name comes from $NODE_NAME, else from the host") {
  ::setenv("NODE_NAME", "from-env", 1);
  CHECK(load("")->node_name == "from-env");
  ::unsetenv("NODE_NAME");
  char host[256] = {};
  REQUIRE(::gethostname(host, sizeof host - 1) == 0);
  CHECK(load("")->node_name == host);
}

TEST_CASE("an empty file, comments only and empty sections are all defaults") {
  for (const char* text : {"", "\n", "# nothing\n", "---\n", "store:\nlog: {}\n", "{}", "nodeName:\n"})
    CHECK(good(text).store.retention == 12h);
}

TEST_CASE("an unknown key is an error with its place and the nearest known key") {
  CHECK(error_of("log: {level: info}\n\nnodName: x\n") ==
        "unknown key 'nodName' at f.yaml:3:1, did you mean 'nodeName'?");
  CHECK(error_of("store:\n  maxByte: 1Gi\n") ==
        "unknown key 'store.maxByte' at f.yaml:2:3, did you mean 'store.maxBytes'?");
}

TEST_CASE("the error of an unknown key without a similar known key lists the known keys") {
  CHECK(error_of("log: {zzzzzzzzz: 1}") == "unknown key 'log.zzzzzzzzz' at f.yaml:1:7, expected one of level, format");
}

TEST_CASE("a dot in a key's name is no path") {
  CHECK(error_of("log.level: debug").starts_with("unknown key 'log.level' at f.yaml:1:1"));
}

TEST_CASE("a wrong type is an error that says what was expected and found") {
  CHECK(error_of("listen:\n  metrics: {a: b}\n") ==
        "listen.metrics: expected host:port, found a mapping at f.yaml:2:12");
  CHECK(error_of("nodeName: [a]") == "nodeName: expected a string, found a sequence at f.yaml:1:11");
  CHECK(error_of("store: 5") == "store: expected a mapping, found '5' at f.yaml:1:8");
  CHECK(error_of("[1]") == "expected a mapping, found a sequence at f.yaml:1:1");
}

TEST_CASE("all errors of a file are reported, in the order of its lines") {
  CHECK(error_of("workers: many\nstore: {retention: 5, path: rel}\nlog:\n  level: loud\nstat: 1\n") ==
        "workers: expected an integer, found 'many' at f.yaml:1:10\n"
        "store.retention: expected a duration such as '250ms' or '1h30m', found '5' at f.yaml:2:20\n"
        "store.path: expected an absolute path, found 'rel' at f.yaml:2:29\n"
        "log.level: expected one of trace, debug, info, warn, error, found 'loud' at f.yaml:4:10\n"
        "unknown key 'stat' at f.yaml:5:1, did you mean 'state'?");
}

TEST_CASE("a key written twice is an error that names both places") {
  CHECK(error_of("nodeName: a\nlog: {level: info}\nnodeName: b\n") ==
        "duplicate key 'nodeName' at f.yaml:3:1, first at f.yaml:1:1");
  CHECK(error_of("plugins: {settings: {a: {config: {x: 1, x: 2}}}}").starts_with("duplicate key 'x' at f.yaml:1:41"));
}

TEST_CASE("broken YAML is an error with its place") {
  CHECK(error_of("log: {level: info\n").starts_with("not valid YAML: "));
  CHECK(error_of("a: b: c").find(" at f.yaml:1:") != std::string::npos);
}

TEST_CASE("feature gates are read as a map and stay unchecked until plugins are known") {
  CHECK(good("featureGates: {AllAlpha: true, Later: false}").feature_gates ==
        GateMap{{"AllAlpha", true}, {"Later", false}});
  CHECK(error_of("featureGates: {A: 1, B: x}") == "featureGates.A: expected true or false, found '1' at f.yaml:1:19\n"
                                                  "featureGates.B: expected true or false, found 'x' at f.yaml:1:25");
}

TEST_CASE("a plugin's settings are read by its id") {
  const Config config = good(R"(
plugins:
  directories: [/opt/plugins]
  settings:
    advisor-x: {period: 5s, deadline: 500ms, required: true, isolation: process, maxSeries: 100}
)");
  const PluginSettings& settings = config.plugins.of("advisor-x");
  CHECK(settings.period == 5s);
  CHECK(settings.deadline == 500ms);
  CHECK(settings.required);
  CHECK(settings.isolation == Isolation::process);
  CHECK(settings.max_series == 100);
  CHECK(config.plugins.directories == std::vector<std::string>{"/opt/plugins"});
}

TEST_CASE("a strategy has the node's mode (shadow) until it has its own") {
  CHECK(good("").qos.mode == Mode::shadow);
  CHECK_FALSE(good("").plugins.of("a").mode);
  CHECK(good("qos: {mode: enforce}").qos.mode == Mode::enforce);
  CHECK(good("plugins: {settings: {a: {mode: off}}}").plugins.of("a").mode == Mode::off);
  CHECK(error_of("plugins: {settings: {a: {mode: on}}}") ==
        "plugins.settings.a.mode: expected one of off, shadow, enforce, found 'on' at f.yaml:1:32");
}

TEST_CASE("knobs are not written without a place for their originals") {
  CHECK(error_of("qos: {mode: enforce, directory: \"\"}") ==
        "qos.mode: 'enforce' needs qos.directory, where is kept what knobs had before");
  CHECK(error_of("{qos: {directory: \"\"}, plugins: {settings: {a: {mode: enforce}}}}") ==
        "plugins.settings.a.mode: 'enforce' needs qos.directory, where is kept what knobs had before");
  CHECK(good("qos: {directory: \"\"}").qos.directory == "");
}

TEST_CASE("a plugin of others is named as in its manifest, dots and all") {
  const Config config = good("plugins: {settings: {com.example.softirqs: {period: 5s}}}");
  CHECK(config.plugins.of("com.example.softirqs").period == 5s);
  for (const char* bad : {".a", "a.", "a..b", "-a", "A.b", "a_b"})
    CHECK(error_of("plugins: {settings: {" + std::string(bad) + ": }}")
              .starts_with("plugins.settings: '" + std::string(bad) + "' is not a plugin id"));
  CHECK(error_of("plugins: {settings: {com.example.x: {perid: 1s}}}")
            .ends_with("did you mean 'plugins.settings.\"com.example.x\".period'?"));
}

TEST_CASE("by default every plugin with a trusted file is loaded") {
  const Config config = good("");
  CHECK(config.plugins.trust == Trust::any);
  CHECK(config.plugins.trusted_keys.empty());
  CHECK(config.plugins.of("a").sha256.empty());
}

TEST_CASE("TLS needs a certificate with its key, and tokens need TLS") {
  CHECK(error_of("listen: {tls: {certFile: /a}}") == "listen.tls: certFile and keyFile need each other");
  CHECK(error_of("listen: {tls: {clientCaFile: /a}}") == "listen.tls.clientCaFile: needs listen.tls.certFile");
  CHECK(error_of("listen: {tls: {authorization: kubernetes}}") ==
        "listen.tls.authorization: 'kubernetes' needs listen.tls.certFile, or tokens could be read by others");
  const Config config = good("listen: {tls: {certFile: /a, keyFile: /b, authorization: kubernetes}}");
  CHECK(config.listen.tls.authorization == Authorization::kubernetes);
}

TEST_CASE("trust in signatures needs keys") {
  CHECK(good("plugins: {trust: signed, trustedKeys: [/k.pem]}").plugins.trust == Trust::signature);
  CHECK(error_of("plugins: {trust: signed}") == "plugins.trust: 'signed' needs plugins.trustedKeys");
  CHECK(error_of("plugins: {trust: none}") ==
        "plugins.trust: expected one of any, pinned, signed, found 'none' at f.yaml:1:18");
}

TEST_CASE("a plugin that the file does not name has the defaults") {
  const Config config = good("plugins: {settings: {advisor-x: }}");
  for (const char* id : {"advisor-x", "advisor-y"}) {
    const PluginSettings& settings = config.plugins.of(id);
    CHECK_FALSE(settings.period);
    CHECK_FALSE(settings.required);
    CHECK(settings.isolation == Isolation::automatic);
    CHECK(settings.max_series == 20000);
    CHECK(settings.config_json == "{}");
  }
}

TEST_CASE("a plugin's own configuration is kept as JSON") {
  const Config config = good("plugins: {settings: {a: {config: {paths: [/x, 1], deep: {on: true}}}}}");
  CHECK(config.plugins.of("a").config_json == R"({"paths":["/x",1],"deep":{"on":true}})");
}

TEST_CASE("errors in a plugin's settings name the plugin") {
  CHECK(error_of("plugins: {settings: {a: {perid: 1s}}}") ==
        "unknown key 'plugins.settings.a.perid' at f.yaml:1:26, did you mean 'plugins.settings.a.period'?");
  CHECK(error_of("plugins: {settings: {a: 5}}") == "plugins.settings.a: expected a mapping, found '5' at f.yaml:1:25");
  CHECK(error_of("plugins: {settings: {A b: {}}}") ==
        "plugins.settings: 'A b' is not a plugin id, expected a plain or reverse domain name of a-z, 0-9, '-' and "
        "'.' at f.yaml:1:22");
}

TEST_CASE("the source 'file' needs a file") {
  CHECK(error_of("state: {source: file}") ==
        "state.source: 'file' needs one of state.file.pods, state.file.node, state.file.nodeSLO");
  CHECK(error_of("state: {source: file, file: {pods: /p}}").empty());
}

TEST_CASE("a file is read from disk and named in errors") {
  const std::string path = "/tmp/koord-test-config-" + std::to_string(::getpid()) + ".yaml";
  REQUIRE(write_file_atomically(path, "nodeNam: x\n"));
  CHECK(load(path).error().message() == "unknown key 'nodeNam' at " + path + ":1:1, did you mean 'nodeName'?");
  ::unlink(path.c_str());
}

TEST_CASE("a file that is not there is an error that names it") {
  CHECK(load("/nonexistent/k.yaml").error().message() ==
        "cannot open '/nonexistent/k.yaml': No such file or directory");
}
