// SPDX-License-Identifier: Apache-2.0
#include "core/kube/credentials.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "core/base/file.hpp"
#include "core/base/manual_clock.hpp"

using namespace koord;
using namespace koord::kube;
using namespace std::chrono_literals;

namespace {

// A pod's service account. Files are replaced as the kubelet replaces them, by a new file with the same name.
struct Account {
  Account() {
    std::string pattern = (std::filesystem::temp_directory_path() / "koord-test-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    folder = pattern;
    write("token", "first\n");
    write("ca.crt", "ca");
  }
  ~Account() { std::filesystem::remove_all(folder); }
  void write(const std::string& name, const std::string& text) const {
    REQUIRE(write_file_atomically(folder + "/" + name, text));
  }
  ConnectionConfig config() const {
    return {.host = "api", .ca = {.file = folder + "/ca.crt"}, .token_file = folder + "/token"};
  }

  std::string folder;
};

// Sets environment variables, and restores them at the end.
struct Environment {
  Environment(const std::string& host, const std::string& port) {
    ::setenv("KUBERNETES_SERVICE_HOST", host.c_str(), 1);
    ::setenv("KUBERNETES_SERVICE_PORT", port.c_str(), 1);
    ::unsetenv("KUBECONFIG");
  }
  ~Environment() {
    for (const char* name : {"KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT", "KUBECONFIG"}) ::unsetenv(name);
  }
};

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a token is read from its file, without the newline") {
  const Account account;
  ManualClock clock;
  const ConnectionConfig config = account.config();
  const Credentials credentials(config, clock);
  CHECK(credentials.token().value() == "first");
}

TEST_CASE("a token's file is read every three seconds at most, and at once on request") {
  const Account account;
  ManualClock clock;
  const ConnectionConfig config = account.config();
  Credentials credentials(config, clock);
  account.write("token", "second");
  clock.advance(2999ms);
  CHECK_FALSE(credentials.refresh().any());
  CHECK(credentials.token().value() == "first");
  clock.advance(1ms);
  CHECK(credentials.refresh().token);
  CHECK(credentials.token().value() == "second");
  account.write("token", "third");
  CHECK(credentials.refresh_now().token);
  CHECK_FALSE(credentials.refresh_now().any());
}

TEST_CASE("a file that was written again with the same token is no change") {
  const Account account;
  ManualClock clock;
  const ConnectionConfig config = account.config();
  Credentials credentials(config, clock);
  account.write("token", "first");
  CHECK_FALSE(credentials.refresh_now().any());
}

TEST_CASE("a token that is gone or broken for a while is kept until there is another") {
  const Account account;
  ManualClock clock;
  const ConnectionConfig config = account.config();
  Credentials credentials(config, clock);
  account.write("token", "");
  CHECK_FALSE(credentials.refresh_now().any());
  std::filesystem::remove(config.token_file);
  CHECK_FALSE(credentials.refresh_now().any());
  CHECK(credentials.token().value() == "first");
  account.write("token", "second");
  CHECK(credentials.refresh_now().token);
  CHECK(credentials.token().value() == "second");
}

TEST_CASE("a token that never existed is an error that names its file, and is used once it exists") {
  const Account account;
  ManualClock clock;
  const ConnectionConfig config = account.config();
  std::filesystem::remove(config.token_file);
  Credentials credentials(config, clock);
  REQUIRE_FALSE(credentials.token());
  CHECK(contains(credentials.token().error().message(), config.token_file));
  account.write("token", "late");
  CHECK(credentials.refresh_now().token);
  CHECK(credentials.token().value() == "late");
}

TEST_CASE("a token that would not fit into a header is refused") {
  const Account account;
  ManualClock clock;
  const ConnectionConfig config = account.config();
  for (const char* wrong : {"a b", "a\r\nX: y", "\x80", ""}) {
    account.write("token", wrong);
    const Credentials credentials(config, clock);
    REQUIRE_FALSE(credentials.token());
    CHECK(contains(credentials.token().error().message(), "expected a token"));
  }
  const ConnectionConfig text{.token = "a b"};
  CHECK(contains(Credentials(text, clock).token().error().message(), "the token: "));
}

TEST_CASE("a replaced file of authorities, certificate or key is noticed, also one that comes or goes") {
  const Account account;
  ManualClock clock;
  ConnectionConfig config = account.config();
  config.key.file = account.folder + "/key";
  Credentials credentials(config, clock);
  account.write("ca.crt", "ca");
  CHECK(credentials.refresh_now().tls);
  CHECK_FALSE(credentials.refresh_now().any());
  account.write("key", "k");
  CHECK(credentials.refresh_now().tls);
  std::filesystem::remove(config.key.file);
  CHECK(credentials.refresh_now().tls);
}

TEST_CASE("the server's certificate must be for the name that is configured, else for the host") {
  ManualClock clock;
  ConnectionConfig config{.host = "10.0.0.1"};
  CHECK(Credentials(config, clock).tls().server_name == "10.0.0.1");
  config.server_name = "api";
  CHECK(Credentials(config, clock).tls().server_name == "api");
}

TEST_CASE("in a pod the service account and two variables are enough") {
  const Account account;
  const Environment environment("10.96.0.1", "443");
  account.write("namespace", "koordinator-system\n");
  const auto config = in_cluster_config(account.folder);
  REQUIRE_MESSAGE(config, config.error().message());
  CHECK(*config == ConnectionConfig{.host = "10.96.0.1",
                                    .port = 443,
                                    .ca = {.file = account.folder + "/ca.crt"},
                                    .token_file = account.folder + "/token",
                                    .name_space = "koordinator-system"});
}

TEST_CASE("missing parts of a pod's service account are reported") {
  const Account account;
  CHECK(contains(in_cluster_config(account.folder).error().message(), "$KUBERNETES_SERVICE_HOST is not set"));
  {
    const Environment environment("10.96.0.1", "http");
    CHECK(contains(in_cluster_config(account.folder).error().message(),
                   "$KUBERNETES_SERVICE_PORT: found 'http', expected a port"));
  }
  const Environment environment("10.96.0.1", "443");
  CHECK(contains(in_cluster_config("/nowhere").error().message(), "the pod's service account: "));
  CHECK(contains(in_cluster_config("/nowhere").error().message(), "/nowhere/ca.crt"));
}

TEST_CASE("a kubeconfig is found by its path, else by $KUBECONFIG, else the pod's account is taken") {
  const Account account;
  const std::string named = "{name: x, context: {cluster: x}}", cluster = "{name: x, cluster: {server: 'https://";
  account.write("one", "current-context: x\ncontexts: [" + named + "]\nclusters: [" + cluster + "one'}}]\n");
  account.write("two", "current-context: x\ncontexts: [" + named + "]\nclusters: [" + cluster + "two'}}]\n");
  const Environment environment("10.96.0.1", "443");
  CHECK(contains(find_config("").error().message(), "the pod's service account"));
  ::setenv("KUBECONFIG", (account.folder + "/one").c_str(), 1);
  CHECK(find_config("")->host == "one");
  CHECK(find_config(account.folder + "/two")->host == "two");
  ::setenv("KUBECONFIG", "/nowhere", 1);
  CHECK(contains(find_config("").error().message(), "$KUBECONFIG: "));
  CHECK(contains(find_config(account.folder + "/token").error().message(), account.folder + "/token"));
}
