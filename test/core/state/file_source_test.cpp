// SPDX-License-Identifier: Apache-2.0
#include "core/state/file_source.hpp"

#include <doctest/doctest.h>
#include <poll.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>

#include "core/cgroup/kube_root.hpp"
#include "core/state/slo.hpp"
#include "test/support/fake_node.hpp"

using namespace koord;
using namespace koord::state;
using koord::test::FakeNode;

namespace {

std::string pod_list(const std::string& uid) { return "items: [{metadata: {uid: " + uid + ", name: n}}]\n"; }

FileSource::Options pods_from(const FakeNode& node) {
  FileSource::Options options;
  options.pods = node.path("run/pods.yaml");
  return options;
}

bool readable(int fd) {
  pollfd poll_fd = {fd, POLLIN, 0};
  return ::poll(&poll_fd, 1, 0) == 1;
}

}  // namespace

TEST_CASE("pods, node and NodeSLO are published from their files") {
  FakeNode node({{"run/pods.yaml", pod_list("a")},
                 {"run/node.json", R"({"kind":"Node","metadata":{"name":"n1"}})"},
                 {"run/slo.yaml", "kind: NodeSLO\nspec: {a: 1}\n"}});
  Hub hub;
  FileSource source({node.path("run/pods.yaml"), node.path("run/node.json"), node.path("run/slo.yaml"), {}}, hub);
  REQUIRE(source.refresh());
  CHECK(hub.current()->pods[0].uid == "a");
  CHECK(hub.current()->node.name == "n1");
  CHECK(*hub.current()->received_slo == R"({"a":1})");
  CHECK(hub.current()->node_slo == effective_slo(R"({"a":1})")->spec);
}

TEST_CASE("a changed file is read again, an unchanged one changes nothing") {
  FakeNode node({{"run/pods.yaml", pod_list("a")}});
  Hub hub;
  FileSource source(pods_from(node), hub);
  REQUIRE(source.refresh());
  REQUIRE(source.refresh());
  CHECK(hub.current()->versions.pods == 1);
  node.write("run/pods.yaml", pod_list("b"));
  REQUIRE(source.refresh());
  CHECK(hub.current()->pods[0].uid == "b");
}

TEST_CASE("a file replaced by renaming, as a ConfigMap does through a link, is read again") {
  FakeNode node({{"run/v1/pods.yaml", pod_list("a")}, {"run/v2/pods.yaml", pod_list("b")}});
  node.link("run/data", "v1");
  node.link("run/pods.yaml", "data/pods.yaml");
  Hub hub;
  FileSource source(pods_from(node), hub);
  REQUIRE(source.refresh());
  node.link("run/fresh", "v2");
  std::filesystem::rename(node.path("run/fresh"), node.path("run/data"));
  REQUIRE(source.refresh());
  CHECK(hub.current()->pods[0].uid == "b");
}

TEST_CASE("a change makes the watch readable until the next refresh") {
  FakeNode node({{"run/pods.yaml", pod_list("a")}});
  Hub hub;
  FileSource source(pods_from(node), hub);
  REQUIRE(source.watch_fd() >= 0);
  CHECK_FALSE(readable(source.watch_fd()));
  node.write("run/pods.yaml", pod_list("b"));
  CHECK(readable(source.watch_fd()));
  REQUIRE(source.refresh());
  CHECK_FALSE(readable(source.watch_fd()));
}

TEST_CASE("a bad file keeps the last good pods and is named until it is good again") {
  FakeNode node({{"run/pods.yaml", pod_list("a")}});
  Hub hub;
  FileSource source(pods_from(node), hub);
  REQUIRE(source.refresh());
  for (const char* bad : {"", "\x00\xff\xfe garbage", "items: [", "items: 1", "{\"items\":", "kind: Node"}) {
    CAPTURE(bad);
    node.write("run/pods.yaml", bad);
    std::string message = source.refresh().error().message();
    CHECK(message.starts_with("'" + node.path("run/pods.yaml") + "': "));
    CHECK(message.ends_with("; keeping what was read last"));
    CHECK(source.refresh().error().message() == message);
    CHECK(hub.current()->pods[0].uid == "a");
  }
  node.write("run/pods.yaml", pod_list("b"));
  REQUIRE(source.refresh());
  CHECK(hub.current()->pods[0].uid == "b");
}

TEST_CASE("a file that lists a uid twice is refused with the file, the uid and both places") {
  FakeNode node({{"run/pods.yaml", pod_list("a")}});
  Hub hub;
  FileSource source(pods_from(node), hub);
  REQUIRE(source.refresh());
  for (
      const char* twice :
      {"items: [{metadata: {uid: b, name: n}}, {metadata: {uid: c, name: o}}, {metadata: {uid: b, name: p}}]\n",
       R"({"items":[{"metadata":{"uid":"b","name":"n"}},{"metadata":{"uid":"c","name":"o"}},{"metadata":{"uid":"b","name":"p"}}]})"}) {
    CAPTURE(twice);
    node.write("run/pods.yaml", twice);
    const Result<void> refreshed = source.refresh();
    REQUIRE_FALSE(refreshed);
    CHECK(
        refreshed.error().message() ==
        "'" + node.path("run/pods.yaml") +
            "': items[2].metadata.uid: 'b' is the uid of items[0], too; expected one item for each uid; keeping what was read last");
    REQUIRE(hub.current()->pods.size() == 1);
    CHECK(hub.current()->pods[0].uid == "a");
  }
}

TEST_CASE("a missing file is unknown, not no pods, and is taken when it comes") {
  FakeNode node;
  Hub hub;
  FileSource source(pods_from(node), hub);
  CHECK(source.refresh().error().message().find("No such file") != std::string::npos);
  CHECK(hub.current()->versions.pods == 0);
  node.write("run/pods.yaml", pod_list("a"));
  REQUIRE(source.refresh());
  node.remove("run/pods.yaml");
  CHECK_FALSE(source.refresh());
  CHECK(hub.current()->pods.size() == 1);
}

TEST_CASE("a file that is open for writing keeps the last pods and is named, and is read when it is closed") {
  FakeNode node({{"run/pods.yaml", pod_list("a")}});
  Hub hub;
  FileSource source(pods_from(node), hub);
  REQUIRE(source.refresh());
  std::ofstream writer(node.path("run/pods.yaml"));
  for (const char* part : {"items:\n", "- metadata: {uid: b, name: n}\n", "- metadata: {uid: c, name: o}\n"}) {
    CAPTURE(part);
    writer << part << std::flush;
    CHECK(source.refresh().error().message() == "'" + node.path("run/pods.yaml") +
                                                    "' is open for writing, so it may be incomplete; keeping what was "
                                                    "read last");
    REQUIRE(hub.current()->pods.size() == 1);
    CHECK(hub.current()->pods[0].uid == "a");
  }
  writer.close();
  CHECK(readable(source.watch_fd()));
  REQUIRE(source.refresh());
  CHECK(hub.current()->pods.size() == 2);
}

TEST_CASE("pods of a file that is open for writing at the start are unknown, not those written so far") {
  FakeNode node({{"run/pods.yaml", ""}});
  std::ofstream writer(node.path("run/pods.yaml"));
  writer << pod_list("a") << std::flush;
  Hub hub;
  FileSource source(pods_from(node), hub);
  CHECK_FALSE(source.refresh());
  CHECK(hub.current()->versions.pods == 0);
  writer.close();
  REQUIRE(source.refresh());
  CHECK(hub.current()->pods.size() == 1);
}

TEST_CASE("a file that could not be opened is read at the next refresh, although it has not changed since") {
  FakeNode node({{"run/pods.yaml", pod_list("a")}});
  Hub hub;
  FileSource source(pods_from(node), hub);
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit none{0, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  const Result<void> refused = source.refresh();
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message().find("cannot open '" + node.path("run/pods.yaml") + "': Too many open files") !=
        std::string::npos);
  REQUIRE(source.refresh());
  CHECK(hub.current()->pods[0].uid == "a");
}

TEST_CASE("one bad file does not keep the good ones back") {
  FakeNode node({{"run/pods.yaml", "items: ["}, {"run/slo.yaml", "spec: {a: 1}"}});
  Hub hub;
  FileSource source({node.path("run/pods.yaml"), "", node.path("run/slo.yaml"), {}}, hub);
  CHECK_FALSE(source.refresh());
  CHECK(*hub.current()->received_slo == R"({"a":1})");
}

TEST_CASE("a file that is not regular is refused") {
  FakeNode node({{"run/pods.yaml/", ""}});
  Hub hub;
  FileSource source(pods_from(node), hub);
  CHECK(source.refresh().error().message().find("is not a regular file") != std::string::npos);
}

TEST_CASE("without a directory to watch, changes are found by refreshing") {
  FakeNode node;
  Hub hub;
  FileSource::Options options;
  options.pods = node.path("run/later/pods.yaml");
  FileSource source(options, hub);
  CHECK(source.watch_fd() == -1);
  node.write("run/later/pods.yaml", pod_list("a"));
  REQUIRE(source.refresh());
  node.write("run/later/pods.yaml", pod_list("longer"));
  REQUIRE(source.refresh());
  CHECK(hub.current()->pods[0].uid == "longer");
}

TEST_CASE("a cgroup below a pod that none of its annotations names is no sandbox, and is reported") {
  FakeNode node(
      {{"run/pods.yaml",
        "items: [{metadata: {uid: a, name: n, namespace: shop, annotations: {koordetector.sh/cgroup-dir: batch, "
        "koordetector.sh/cgroup-dir.app: batch/deep/app}}, spec: {containers: [{name: app}]}}]\n"},
       {"cgroup/cgroup.controllers", "cpu memory\n"}});
  node.make_directory("cgroup/batch/deep/app");
  node.make_directory("cgroup/batch/worker");
  Hub hub;
  FileSource::Options options = pods_from(node);
  options.layout = *cgroup::Layout::detect(node.roots());
  FileSource source(options, hub);
  REQUIRE(source.refresh());
  CHECK(hub.current()->pods[0].containers.size() == 1);
  REQUIRE(source.notes().size() == 1);
  CHECK(
      source.notes()[0] ==
      "cgroup 'batch/worker' of pod shop/n is no container's: no annotation koordetector.sh/cgroup-dir.NAME names it");
  std::filesystem::remove(node.path("cgroup/batch/worker"));
  REQUIRE(source.refresh());
  CHECK(source.notes().empty());
}

TEST_CASE("a container of a running pod without an id and without a named cgroup is reported") {
  const auto pods = [](const std::string& status) {
    return "items: [{metadata: {uid: a, name: n, namespace: shop}, spec: {containers: [{name: app}]}, status: {phase: Running" +
           status + "}}]\n";
  };
  FakeNode node({{"run/pods.yaml", pods("")}, {"cgroup/cgroup.controllers", "cpu memory\n"}});
  Hub hub;
  FileSource::Options options = pods_from(node);
  options.layout = *cgroup::Layout::detect(node.roots());
  FileSource source(options, hub);
  REQUIRE(source.refresh());
  REQUIRE(source.notes().size() == 1);
  CHECK(
      source.notes()[0] ==
      "the cgroup of container 'app' of pod shop/n is unknown: expected a containerID in its status or the annotation "
      "koordetector.sh/cgroup-dir.app");
  node.write("run/pods.yaml", pods(", containerStatuses: [{name: app, state: {waiting: {}}}]"));
  REQUIRE(source.refresh());
  CHECK(source.notes().empty());
  node.write("run/pods.yaml",
             pods(R"(, containerStatuses: [{name: app, containerID: "containerd://c1", state: {running: {}}}])"));
  REQUIRE(source.refresh());
  CHECK(source.notes().empty());
}

TEST_CASE("pods of a file are found in the tree that has them, also when it comes later, and the other is named") {
  FakeNode node({{"run/pods.yaml", pod_list("a")}, {"cgroup/cgroup.controllers", "cpu memory\n"}});
  node.make_directory("cgroup/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-podother.slice");
  Hub hub;
  FileSource::Options options = pods_from(node);
  options.layout = *cgroup::Layout::detect(node.roots());
  options.kube_root = cgroup::choose_kube_root(*options.layout);
  FileSource source(options, hub);
  REQUIRE(source.refresh());
  CHECK(hub.current()->pods[0].cgroup_dir.starts_with("kubepods.slice/"));
  CHECK(source.notes().empty());
  node.make_directory("cgroup/nested/kubepods/besteffort/poda/c");
  REQUIRE(source.refresh());
  CHECK(hub.current()->pods[0].cgroup_dir == "nested/kubepods/besteffort/poda");
  REQUIRE(source.notes().size() == 1);
  CHECK(source.notes()[0].find(
            "below 'nested/kubepods'; other trees hold pods, too, and are left out of account: kubepods.slice") !=
        std::string::npos);
}
