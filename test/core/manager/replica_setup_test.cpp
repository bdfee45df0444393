// SPDX-License-Identifier: Apache-2.0
#include "core/manager/replica_setup.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "test/support/certificate_folder.hpp"

using namespace koord;
using namespace koord::manager;

namespace {

const Environment kPod{"10.0.0.7", "koord-manager-5c9f", "koordetector"};

const test::CertificateFolder& certificates() {
  static const auto all = [] {
    auto made = std::make_unique<test::CertificateFolder>();
    made->authority("ca");
    made->issue("ca", "server", "/CN=any", "subjectAltName=DNS:koord-manager.koordetector.svc");
    made->issue("ca", "other", "/CN=koord-manager.koordetector.svc", "subjectAltName=DNS:a.example,DNS:b.example");
    made->issue("ca", "no-name", "/CN=koord-manager.koordetector.svc", "subjectAltName=IP:10.0.0.7");
    return made;
  }();
  return *all;
}

config::ManagerConfig config_of(const std::string& text) {
  Result<config::ManagerConfig> config = config::parse_manager(text, "f");
  REQUIRE_MESSAGE(config, config.error().message());
  return *std::move(config);
}

std::string serve_with(const std::string& certificate, const std::string& key, const std::string& more = {}) {
  return "serve: {address: \":9443\", certificateFile: " + certificate + ", keyFile: " + key + more + "}\n";
}

std::string problem_of(const std::string& text, const Environment& environment = kPod) {
  const Result<void> checked = check_setup(config_of(text), environment);
  return checked ? "" : checked.error().message();
}

std::string parse_problem(const std::string& text) {
  const auto config = config::parse_manager(text, "f");
  return config ? "" : config.error().message();
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

}  // namespace

TEST_CASE("the address of a replica comes from advertise, else from $POD_IP and a port") {
  const config::ManagerConfig plain = config_of("listen: \":9320\"");
  CHECK(advertised(plain, kPod, 0).value() == "10.0.0.7:9320");
  CHECK(advertised(plain, kPod, 9443).value() == "10.0.0.7:9443");
  CHECK(advertised(plain, {"fd00::1", "", ""}, 9443).value() == "[fd00::1]:9443");
  CHECK(advertised(plain, {}, 0).value().empty());
  CHECK(advertised(config_of("advertise: 10.1.1.1:1"), kPod, 9443).value() == "10.1.1.1:1");
  CHECK(advertised(config_of("serve: {service: \"\"}"), {}, 9443).value().empty());
}

TEST_CASE("an advertised address is an IP address and a port") {
  for (const char* good : {"10.0.0.7:9443", "[fd00::1]:9443"})
    CHECK(parse_problem("advertise: '" + std::string(good) + "'").empty());
  for (const char* wrong : {"manager.example:9443", "10.0.0.7", "10.0.0.7:0", "10.0.0.7:65536", "fd00::1:9443",
                            "[10.0.0.7]:9443", ":9443", "10.0.0.256:9443"}) {
    CAPTURE(wrong);
    const std::string problem = parse_problem("advertise: '" + std::string(wrong) + "'");
    CHECK(contains(problem, "advertise: expected an IP address and a port"));
    CHECK(contains(problem, wrong));
  }
}

TEST_CASE("names that Kubernetes refuses are refused with their key") {
  const auto refused = [](const std::string& key, const std::string& text, const std::string& value) {
    CAPTURE(text);
    const std::string problem = parse_problem(text);
    CHECK(contains(problem, key + ": expected "));
    CHECK(contains(problem, "found"));
    CHECK(contains(problem, value));
  };
  refused("lease.namespace", "lease: {namespace: Koord}", "Koord");
  refused("lease.namespace", "lease: {namespace: a.b}", "a.b");
  refused("lease.name", "lease: {name: a_b}", "a_b");
  refused("lease.name", "lease: {name: \"\"}", "");
  refused("serve.service", "serve: {service: 0a}", "0a");
  refused("serve.service", "serve: {service: a.b}", "a.b");
  refused("sloConfigMap", "sloConfigMap: Koord/a", "Koord/a");
  refused("sloConfigMap", "sloConfigMap: koord/a/b", "koord/a/b");
  refused("sloConfigMap", "sloConfigMap: koord", "koord");
  CHECK(parse_problem("lease: {namespace: \"\", name: a.b}\nserve: {service: \"\"}\nsloConfigMap: 0a/a.b").empty());
}

TEST_CASE("a replica that serves needs an address, and a certificate for its Service") {
  const std::string good = serve_with(certificates().pem("server"), certificates().key("server"));
  CHECK(problem_of(good) == "");
  CHECK(problem_of(good + "advertise: 10.0.0.7:9443", {}) == "");
  CHECK(contains(problem_of(good, {}), "advertise: expected an IP address and a port"));
  CHECK(contains(problem_of(good, {}), "$POD_IP"));
  CHECK(
      contains(problem_of(good, {"manager", "", "koordetector"}), "$POD_IP: expected an IP address, found 'manager'"));
  CHECK(
      contains(problem_of("lease: {name: a}", {"", "", "Koord"}), "$POD_NAMESPACE: expected the name of a namespace"));
}

TEST_CASE("an unusable certificate is refused with its key, its file and what is expected") {
  const auto& all = certificates();
  const std::string missing = problem_of(serve_with(all.path("missing.pem"), all.key("server")));
  CHECK(contains(missing, "serve.certificateFile: "));
  CHECK(contains(missing, all.path("missing.pem")));
  CHECK(contains(missing, "No such file or directory"));
  const std::string no_key = problem_of(serve_with(all.pem("server"), all.path("missing.key")));
  CHECK(contains(no_key, "serve.keyFile: "));
  CHECK(contains(no_key, all.path("missing.key")));
  const std::string no_certificate = problem_of(serve_with(all.key("server"), all.key("other")));
  CHECK(contains(no_certificate, "serve.certificateFile: "));
  CHECK(contains(no_certificate, "expected this program's own certificate in PEM"));
  const std::string foreign_key = problem_of(serve_with(all.pem("server"), all.key("other")));
  CHECK(contains(foreign_key, "serve.keyFile: "));
  CHECK(contains(foreign_key, "expected the key of our certificate"));
}

TEST_CASE("a certificate without the name of the Service is refused with the names that it has") {
  const auto& all = certificates();
  const std::string other = problem_of(serve_with(all.pem("other"), all.key("other")));
  CHECK(contains(other, "serve.certificateFile: '" + all.pem("other") + "'"));
  CHECK(contains(other, "expected a certificate with the DNS name 'koord-manager.koordetector.svc'"));
  CHECK(contains(other, "found the DNS names a.example, b.example"));
  CHECK(contains(problem_of(serve_with(all.pem("no-name"), all.key("no-name"))), "found no DNS name"));
  const std::string of_other_namespace = serve_with(all.pem("server"), all.key("server")) + "lease: {namespace: other}";
  CHECK(contains(problem_of(of_other_namespace), "'koord-manager.other.svc'"));
  CHECK(problem_of(serve_with(all.pem("other"), all.key("other"), ", service: \"\"")) == "");
}

TEST_CASE("all problems are named at once") {
  const std::string problem = problem_of(serve_with("/missing.pem", "/missing.key"), {"", "", "Koord"});
  CHECK(contains(problem, "$POD_NAMESPACE"));
  CHECK(contains(problem, "\nadvertise: "));
  CHECK(contains(problem, "\nserve.certificateFile: "));
}
