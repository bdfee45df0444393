// SPDX-License-Identifier: Apache-2.0
// koord.audit/1: observations of a plugin become events.
#include "core/service/event_log.hpp"

#include <algorithm>

#include "test/core/service/service_fixture.hpp"

using namespace koord;
using namespace koord::test;

namespace {

struct Audit : OnHost<koord_svc_audit> {
  Audit() : OnHost("koord.audit/1") {}

  koord_status record(std::uint64_t subject, std::string_view what, std::string_view why,
                      const koord_host* as = nullptr) {
    return service->record(as ? as : abi, subject, str(what), str(why));
  }
  std::vector<service::Event> events() { return host.services().events.events(); }

  // Publishes a pod with a container. Returns the container's handle.
  std::uint64_t publish_container() {
    state::Pod pod;
    pod.uid = "u1";
    pod.name = "web";
    pod.namespace_ = "shop";
    pod.containers.push_back({.id = "containerd://c1", .name = "nginx"});
    host.hub().publish({.pods = std::vector{pod}});
    return host.hub().current()->pods[0].containers[0].handle;
  }
};

}  // namespace

TEST_CASE_FIXTURE(Audit, "an event names its source, its subject, the action and the reason") {
  REQUIRE(record(publish_container(), "OOM kill", "limit 32 MiB") == KOORD_OK);
  REQUIRE(events().size() == 1);
  const koord::service::Event event = events()[0];
  CHECK(event.plugin == "test");
  CHECK(event.what == "OOM kill");
  CHECK(event.why == "limit 32 MiB");
  CHECK(event.time == host.clock().now());
  CHECK(std::find(event.subject.begin(), event.subject.end(), std::pair<std::string, std::string>("pod_name", "web")) !=
        event.subject.end());
}

TEST_CASE_FIXTURE(Audit, "an event outlives the pod it is about") {
  std::uint64_t container = publish_container();
  REQUIRE(record(container, "OOM kill", "") == KOORD_OK);
  host.hub().publish({.pods = std::vector<state::Pod>{}});
  CHECK(events().size() == 1);
  CHECK(record(container, "OOM kill", "") == KOORD_E_GONE);
}

TEST_CASE_FIXTURE(Audit, "an event about the node has no subject") {
  REQUIRE(record(KOORD_NO_SUBJECT, "tracing is off", "the machine went down while it was on") == KOORD_OK);
  CHECK(events()[0].subject.empty());
}

TEST_CASE_FIXTURE(Audit, "a source of many events displaces its own oldest events and no others") {
  auto other = host.make_context("com.example.other", {"koord.audit/1"});
  REQUIRE(record(KOORD_NO_SUBJECT, "kept", "", other->host()) == KOORD_OK);
  for (std::size_t i = 0; i <= koord::service::EventLog::kMostPerPlugin; ++i)
    REQUIRE(record(KOORD_NO_SUBJECT, "flood " + std::to_string(i), "") == KOORD_OK);
  CHECK(events().size() == koord::service::EventLog::kMostPerPlugin + 1);
  CHECK(events()[0].what == "kept");
  CHECK(events()[1].what == "flood 1");
  CHECK(host.services().events.counts().at("test") == koord::service::EventLog::kMostPerPlugin + 1);
}

TEST_CASE_FIXTURE(Audit, "a long text is cut between two characters") {
  REQUIRE(record(KOORD_NO_SUBJECT, "long", std::string(1023, 'x') + "\xc3\xa4") == KOORD_OK);
  CHECK(events()[0].why == std::string(1023, 'x'));
}

TEST_CASE_FIXTURE(Audit, "an event without a name, or of bytes that are no text, is refused") {
  CHECK(record(KOORD_NO_SUBJECT, "", "") == KOORD_E_INVALID);
  CHECK(record(KOORD_NO_SUBJECT, "\xff", "") == KOORD_E_INVALID);
  CHECK(events().empty());
}
