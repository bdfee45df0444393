// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>

#include "core/kube/connection_config.hpp"
#include "core/kube/server_url.hpp"

using namespace koord;
using namespace koord::kube;

namespace {

// Returns a file of the usual form with one context, "here".
std::string file(const std::string& cluster, const std::string& user) {
  return "apiVersion: v1\nkind: Config\ncurrent-context: here\n"
         "contexts:\n- {name: there, context: {cluster: c, user: other}}\n- {name: here, context: {cluster: c, user: u, namespace: n}}\n"
         "clusters:\n- {name: other, cluster: {server: 'https://other'}}\n- {name: c, cluster: {server: 'https://10.0.0.1:6443', " +
         cluster +
         "}}\n"
         "users:\n- {name: u, user: {" +
         user + "}}\n- {name: other, user: {}}\n";
}

std::string why(const std::string& text, std::string_view context = {}) {
  const auto config = parse_kubeconfig(text, "/etc/kubernetes", context);
  return config ? "no error" : config.error().message();
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// "-----BEGIN X-----\n"
const std::string kPem = "LS0tLS1CRUdJTiBYLS0tLS0K";

}  // namespace

TEST_CASE("the current context has server, authorities, credentials and namespace; paths are relative to the file") {
  const auto config = parse_kubeconfig(file("certificate-authority: ca.pem, tls-server-name: api",
                                            "client-certificate: pki/c.pem, client-key: /k.pem, token: t"),
                                       "/etc/kubernetes");
  REQUIRE_MESSAGE(config, config.error().message());
  CHECK(*config == ConnectionConfig{.host = "10.0.0.1",
                                    .port = 6443,
                                    .server_name = "api",
                                    .ca = {.file = "/etc/kubernetes/ca.pem"},
                                    .certificate = {.file = "/etc/kubernetes/pki/c.pem"},
                                    .key = {.file = "/k.pem"},
                                    .token = "t",
                                    .name_space = "n"});
}

TEST_CASE("JSON is read as well, and a context by its name") {
  const auto config = parse_kubeconfig(
      R"({"contexts": [{"name": "x", "context": {"cluster": "c"}}], "clusters": [{"name": "c", "cluster": {"server": "https://h/p/"}}]})",
      "", "x");
  REQUIRE_MESSAGE(config, config.error().message());
  CHECK(*config == ConnectionConfig{.host = "h", .port = 443, .path_prefix = "/p"});
}

TEST_CASE("data wins over a file, and is PEM in base64") {
  const auto config =
      parse_kubeconfig(file("certificate-authority: ca.pem, certificate-authority-data: " + kPem,
                            "client-certificate-data: " + kPem + ", client-key-data: " + kPem + ", tokenFile: token"),
                       "/etc/kubernetes");
  REQUIRE_MESSAGE(config, config.error().message());
  CHECK(config->ca == Pem{.text = "-----BEGIN X-----\n"});
  CHECK(config->certificate == config->ca);
  CHECK(config->key == config->ca);
  CHECK(config->token_file == "/etc/kubernetes/token");
  CHECK(contains(why(file("certificate-authority-data: x", "")),
                 "clusters[1].cluster.certificate-authority-data: expected PEM in base64"));
  CHECK(contains(why(file("certificate-authority-data: " + kPem.substr(0, 8), "")), "expected PEM in base64"));
}

TEST_CASE("unsupported methods are refused, with a replacement to use") {
  CHECK(contains(why(file("", "exec: {command: x}")),
                 "users[0].user.exec: is not supported, expected token, tokenFile or client-certificate"));
  CHECK(contains(why(file("", "auth-provider: {name: x}")), "users[0].user.auth-provider: is not supported"));
  CHECK(contains(why(file("", "username: x, password: y")), "users[0].user.username: is not supported"));
  CHECK(contains(why(file("", "as: x")), "users[0].user.as: is not supported"));
  CHECK(contains(
      why(file("insecure-skip-tls-verify: true", "")),
      "clusters[1].cluster.insecure-skip-tls-verify: is not supported, expected certificate-authority: the certificate of the server is always verified"));
  CHECK(why(file("insecure-skip-tls-verify: false", "")) == "no error");
  CHECK(contains(why(file("proxy-url: 'http://p'", "")), "proxy-url: is not supported"));
}

TEST_CASE("a wrong file is reported with the field, the found and the expected value") {
  CHECK(contains(why("[1]"), "expected a mapping with clusters, users and contexts"));
  CHECK(contains(why("a: ["), "not valid YAML"));
  CHECK(contains(why("clusters: []"), "current-context: found nothing, expected the name of a context"));
  CHECK(contains(why("current-context: x"), "contexts: found nothing with the name 'x'"));
  CHECK(contains(why("current-context: x\ncontexts: {}"), "contexts: expected a list, found a mapping"));
  CHECK(contains(why("current-context: x\ncontexts: [1]"), "contexts[0]: expected a mapping, found a number"));
  CHECK(contains(why("current-context: [x]"), "current-context: expected text, found a list"));
  CHECK(contains(why(file("", ""), "elsewhere"), "contexts: found nothing with the name 'elsewhere'"));
  CHECK(contains(why(file("", "token: 12")), "users[0].user.token: expected text, found a number"));
  CHECK(contains(why(file("", "client-key: k")),
                 "users[0].user.client-certificate: found nothing, expected it beside the other"));
}

TEST_CASE("a server's address is https, with a name or an address, a port and a prefix if need be") {
  const auto url = parse_server_url("https://[fd00::1]:6443/k8s/a/");
  REQUIRE(url);
  CHECK(url->host == "fd00::1");
  CHECK(url->port == 6443);
  CHECK(url->path_prefix == "/k8s/a");
  CHECK(parse_server_url("https://api.example.com")->port == 443);
  for (const char* wrong :
       {"", "http://a", "https://", "https://a:0", "https://a:65536", "https://a:", "https://u@a", "https://a?b",
        "https://a/b#c", "https://[::1", "https://[::1]x", "https://a b", "https://a/\r\nX: y", "api:6443"}) {
    const auto refused = parse_server_url(wrong);
    REQUIRE_FALSE_MESSAGE(refused.has_value(), wrong);
    CHECK(contains(refused.error().message(), "', expected 'https://HOST[:PORT][/PREFIX]'"));
  }
}

TEST_CASE("the kubelet is asked with our credentials, at its own address") {
  const ConnectionConfig api{
      .host = "api", .port = 6443, .path_prefix = "/p", .server_name = "s", .ca = {.file = "/ca"}, .token_file = "/t"};
  CHECK(kubelet_config(api, "10.0.0.2", 10250, "", "") ==
        ConnectionConfig{.host = "10.0.0.2", .port = 10250, .ca = {.file = "/ca"}, .token_file = "/t"});
  CHECK(kubelet_config(api, "10.0.0.2", 10250, "/kubelet-ca", "node").ca.file == "/kubelet-ca");
  CHECK(kubelet_config(api, "10.0.0.2", 10250, "", "node").server_name == "node");
}
