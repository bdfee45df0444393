// SPDX-License-Identifier: Apache-2.0
#include "core/ui/pod_source.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "test/core/http/running_server.hpp"
#include "test/support/eventually.hpp"

using namespace koord;
using namespace koord::test;

namespace {

// A kubectl that is a shell script. It writes its arguments to a file, one line per start.
struct KubectlFixture {
  explicit KubectlFixture(const std::string& script) {
    std::ofstream(folder.path("kubectl")) << "#!/bin/sh\necho \"$@\" >> " << folder.path("starts") << "\n" << script;
    std::filesystem::permissions(folder.path("kubectl"), std::filesystem::perms::owner_all);
  }
  std::unique_ptr<ui::Source> source(Duration patience = std::chrono::minutes(1)) const {
    return ui::pod_source({.pod = {"koordinator-system", "agent-1"},
                           .socket = "/run/agent.sock",
                           .database = "/var/metrics.db",
                           .kubectl = folder.path("kubectl"),
                           .context = {},
                           .patience = patience});
  }
  std::vector<std::string> starts() const {
    std::ifstream file(folder.path("starts"));
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

  SocketFolder folder;
};

// Answers each request with the request's number.
constexpr const char* kAnswers = R"sh(n=0
while read -r line; do
  test "$line" = "$(printf '\r')" || continue
  n=$((n + 1))
  printf 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n%s' $n
done
)sh";

std::string error_of(const Result<http::ClientResponse>& answer) {
  REQUIRE_FALSE(answer);
  return answer.error().message();
}

}  // namespace

TEST_CASE("a pod is a namespace and a name") {
  const Result<ui::Pod> pod = ui::parse_pod("koordinator-system/koordetector-x7k2p");
  REQUIRE(pod);
  CHECK(pod->ns == "koordinator-system");
  CHECK(pod->name == "koordetector-x7k2p");
  for (const char* text : {"", "/", "a", "a/", "/b", "a/b/c", "-n/b", "a/-b", "a/--kubeconfig=x", "a/b c", "A/b",
                           "a/b-", "a/b\n", "a/$(b)"}) {
    CAPTURE(text);
    CHECK_FALSE(ui::parse_pod(text));
  }
  CHECK_FALSE(ui::parse_pod("a/" + std::string(254, 'b')));
}

TEST_CASE("one kubectl serves one request after the other") {
  const KubectlFixture fixture(kAnswers);
  const auto source = fixture.source();
  for (const char* number : {"1", "2", "3"}) {
    const Result<http::ClientResponse> answer = source->get("/api/v1/node");
    REQUIRE(answer);
    CHECK(answer->body == number);
  }
  CHECK(fixture.starts() == std::vector<std::string>{"exec --namespace=koordinator-system --stdin agent-1 -- koordctl "
                                                     "proxy-stdio --socket=/run/agent.sock"});
}

TEST_CASE("a kubectl that ended between two requests is replaced") {
  const KubectlFixture fixture("read -r line; printf 'HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok'\n");
  const auto source = fixture.source();
  for (int i = 0; i < 3; ++i) CHECK(source->get("/api/v1/node"));
  CHECK(fixture.starts().size() == 3);
}

TEST_CASE("a kubectl that fails is an error with its own text, and the next request starts another one") {
  const KubectlFixture fixture("echo 'Error from server (NotFound): pods \"agent-1\" not found' >&2; exit 1\n");
  const auto source = fixture.source();
  for (int i = 0; i < 2; ++i)
    CHECK(error_of(source->get("/api/v1/node")) ==
          "kubectl exec in pod 'koordinator-system/agent-1': Error from server (NotFound): pods \"agent-1\" not found");
  CHECK(fixture.starts().size() == 2);
}

TEST_CASE("garbage is an error and its kubectl is not used again") {
  for (const char* script :
       {"echo 'Unable to use a TTY'; exec sleep 1000\n", "exec cat /dev/zero\n",
        "printf 'HTTP/1.1 200 OK\\r\\nContent-Length: 99999999999\\r\\n\\r\\n'; exec cat /dev/zero\n",
        "printf 'HTTP/1.1 200 OK\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\nzz\\r\\n'; exec sleep 1000\n", "exit 0\n",
        "printf 'HTTP/1.1 200 OK\\r\\nContent-Length: 9\\r\\n\\r\\nhalf'\n"}) {
    CAPTURE(script);
    const KubectlFixture fixture(script);
    const auto source = fixture.source();
    CHECK(error_of(source->get("/api/v1/node"))
              .starts_with("kubectl exec in pod 'koordinator-system/agent-1': no answer of an agent"));
    CHECK_FALSE(source->get("/api/v1/node"));
    CHECK(fixture.starts().size() == 2);
  }
}

TEST_CASE("bytes behind an answer are not the answer of the next request") {
  const KubectlFixture fixture(
      "printf 'HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nokHTTP/1.1 200 OK\\r\\nContent-Length: 4\\r\\n\\r\\nevil'\n"
      "exec sleep 1000\n");
  const auto source = fixture.source();
  for (int i = 0; i < 2; ++i) {
    const Result<http::ClientResponse> answer = source->get("/api/v1/node");
    REQUIRE(answer);
    CHECK(answer->body == "ok");
  }
}

TEST_CASE("a kubectl that hangs is given up with what it has complained of") {
  const KubectlFixture fixture("echo 'Please log in' >&2; exec sleep 1000\n");
  const auto source = fixture.source(std::chrono::seconds(5));
  const std::string text = error_of(source->get("/api/v1/node"));
  CHECK(text.find("timed out") != text.npos);
  CHECK(text.find("after 'Please log in'") != text.npos);
}

TEST_CASE("close() ends a request that waits, and later ones") {
  const KubectlFixture fixture("exec sleep 1000\n");
  const auto source = fixture.source();
  std::thread closing([&] {
    CHECK(eventually([&] { return !fixture.starts().empty(); }));
    source->close();
  });
  CHECK_FALSE(source->get("/api/v1/node"));
  closing.join();
  CHECK_FALSE(source->get("/api/v1/node"));
}

TEST_CASE("a kubectl that is missing is named, with the option for it") {
  const auto source = ui::pod_source(
      {.pod = {"a", "b"}, .socket = {}, .database = {}, .kubectl = "koord-test-no-kubectl", .context = {}});
  CHECK(
      error_of(source->get("/api/v1/node")) ==
      "cannot run 'koord-test-no-kubectl': No such file or directory; --pod needs kubectl in PATH or --kubectl PROGRAM");
}

TEST_CASE("SQL runs in the pod, as one argument that is not an option") {
  const KubectlFixture fixture("for last; do :; done; echo \"{\\\"statement\\\": \\\"$last\\\"}\"\n");
  const auto source = fixture.source();
  const Result<http::ClientResponse> rows = source->sql("--db=/etc/passwd; $(reboot)", 7);
  REQUIRE(rows);
  CHECK(rows->status == 200);
  CHECK(rows->body == "{\"statement\": \"--db=/etc/passwd; $(reboot)\"}\n");
  CHECK(fixture.starts() ==
        std::vector<std::string>{"exec --namespace=koordinator-system agent-1 -- koordctl sql --output=json "
                                 "--db=/var/metrics.db --limit=7 -- --db=/etc/passwd; $(reboot)"});
}

TEST_CASE("a refused statement is not a pod that does not answer") {
  const KubectlFixture refused("echo 'Defaulted container' >&2; echo 'koordctl: near \"x\": syntax error' >&2\n"
                               "echo 'command terminated with exit code 1' >&2; exit 1\n");
  const Result<http::ClientResponse> answer = refused.source()->sql("x", 1);
  REQUIRE(answer);
  CHECK(answer->status == 400);
  CHECK(answer->body == "near \"x\": syntax error");
  const KubectlFixture dead("echo 'error: unable to upgrade connection' >&2; exit 1\n");
  CHECK(error_of(dead.source()->sql("SELECT 1", 1)).ends_with(": error: unable to upgrade connection"));
}
