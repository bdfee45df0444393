// SPDX-License-Identifier: Apache-2.0
// Lists and watches of a real server with deliberate faults.
#include "core/kube/list_watch.hpp"

#include <algorithm>
#include <map>

#include "cluster_client.hpp"
#include "core/base/url.hpp"
#include "core/json/scanner.hpp"

using namespace koord;
using namespace koord::kube;
using namespace koord::test;
using namespace std::chrono_literals;
using State = Health::State;

namespace {

const std::string kSlos = "/apis/slo.koordinator.sh/v1alpha1/nodeslos";
const std::string kClaims = "/api/v1/namespaces/shop/persistentvolumeclaims";

std::string slo(const std::string& name, int value) {
  return R"({"kind":"NodeSLO","metadata":{"name":")" + name +
         R"("},"spec":{"resourceUsedThresholdWithBE":{"cpuSuppressThresholdPercent":)" + std::to_string(value) + "}}}";
}

std::string claim(int number) {
  return R"({"kind":"PersistentVolumeClaim","metadata":{"name":"claim-)" + std::to_string(number) +
         R"(","namespace":"shop"},"spec":{"volumeName":"volume-)" + std::to_string(number) + "\"}}";
}

std::string spec_of(const ObjectView& object) {
  auto spec = json_member(object.json, "spec");
  return spec && *spec ? std::string(**spec) : "";
}

ListWatchOptions options() {
  ListWatchOptions options;
  options.keep = spec_of;
  // Long enough to observe a wait, but shorter than in a cluster.
  options.reflector = {.first_wait = 50ms, .longest_wait = 200ms, .rare = 200ms};
  return options;
}

// A followed collection and its reports.
struct Followed : ClusterClient {
  explicit Followed(Collection a_collection, ListWatchOptions some_options = options())
      : collection(std::move(a_collection)), how(std::move(some_options)) {}

  void begin() {
    follower = std::make_unique<ListWatch>(
        loop, workers, clock, client, collection, how,
        ListWatchHandlers{.on_objects = [this](const Objects&, const Difference& what) { reported.push_back(what); },
                          .on_health = [this](const Health& health) { states.push_back(health.state); },
                          .on_confirmed = [this](Time at) { confirmed = at; }});
  }
  bool becomes(const std::map<std::string, std::string>& wanted) {
    return until([&] { return texts() == wanted; });
  }
  bool watching() {
    return until([&] { return follower->health().watches > 0 && !watches_open().empty(); });
  }
  // Returns the open watches of this collection. The watch of an earlier test may still be open.
  std::vector<ClusterRequest> watches_open() {
    const std::string selector = percent_encode(collection.field_selector);
    return cluster.requests(R"({"verb":"watch","open":true,"status":200,"path":")" +
                            (selector.empty() ? collection.path : selector) + "\"}");
  }
  std::map<std::string, std::string> texts() const {
    std::map<std::string, std::string> texts;
    for (const auto& [key, object] : follower->objects()) texts[key] = object->text;
    return texts;
  }
  bool state_becomes(State state) {
    return until([&] { return follower->health().state == state; });
  }
  const std::string& problem() const { return follower->health().problem; }

  Collection collection;
  ListWatchOptions how;
  std::vector<Difference> reported;
  std::vector<State> states;
  std::optional<Time> confirmed;
  std::unique_ptr<ListWatch> follower;
};

std::string spec(int value) {
  return R"({"resourceUsedThresholdWithBE":{"cpuSuppressThresholdPercent":)" + std::to_string(value) + "}}";
}

struct FollowedSlo : Followed {
  explicit FollowedSlo(const std::string& a_name)
      : Followed({kSlos, "metadata.name=" + a_name, "", 500, false}), name(a_name) {
    cluster.put(slo(name, 60));
    begin();
    REQUIRE_MESSAGE(becomes({{name, spec(60)}}), problem());
    REQUIRE(watching());
    reported.clear();
  }
  void put(int value) { cluster.put(slo(name, value)); }
  bool becomes_value(int value) { return becomes({{name, spec(value)}}); }

  std::string name;
};

}  // namespace

TEST_CASE("an existing object is reported once, then each of its changes, and its end; others are not") {
  FollowedSlo followed("changing");
  followed.cluster.put(slo("another", 1));
  followed.put(61);
  CHECK(followed.becomes_value(61));
  followed.cluster.remove("NodeSLO", "changing");
  CHECK(followed.becomes({}));
  REQUIRE(followed.reported.size() == 2);
  CHECK(followed.reported[0].changed == std::vector<std::string>{"changing"});
  CHECK(followed.reported[1].removed == std::vector<std::string>{"changing"});
}

TEST_CASE("a missing object is reported as nothing, once") {
  Followed followed({kSlos, "metadata.name=nobody", "", 500, false});
  followed.begin();
  REQUIRE(followed.until([&] { return !followed.reported.empty(); }));
  CHECK(followed.reported[0].empty());
  CHECK(followed.becomes({}));
  CHECK(followed.reported.size() == 1);
}

TEST_CASE("a new version is not reported if the kept part is the same") {
  FollowedSlo followed("same");
  followed.cluster.put(R"({"kind":"NodeSLO","metadata":{"name":"same","labels":{"a":"b"}},"spec":)" + spec(60) + "}");
  const std::string version = followed.follower->objects().at("same")->resource_version;
  REQUIRE(followed.until([&] { return followed.follower->objects().at("same")->resource_version != version; }));
  CHECK(followed.reported.empty());
}

TEST_CASE("a large collection is read in pages and reported as a whole") {
  Followed followed({kClaims, "", "", 10, true});
  for (int i = 0; i < 25; ++i) followed.cluster.put(claim(i));
  const auto before = followed.cluster.requests(R"({"verb":"list","kind":"PersistentVolumeClaim"})").size();
  followed.begin();
  REQUIRE(followed.until([&] { return !followed.reported.empty(); }));
  CHECK(followed.reported[0].changed.size() == 25);
  CHECK(followed.texts().at("shop/claim-7") == R"({"volumeName":"volume-7"})");
  CHECK(followed.cluster.requests(R"({"verb":"list","kind":"PersistentVolumeClaim"})").size() - before == 3);
}

TEST_CASE("more objects than are kept are a problem, and what is known stays") {
  Followed followed({kClaims, "", "", 500, false}, [] {
    ListWatchOptions few = options();
    few.limits.objects = 30;
    return few;
  }());
  for (int i = 0; i < 25; ++i) followed.cluster.put(claim(i));
  followed.begin();
  REQUIRE(followed.until([&] { return followed.texts().size() == 25; }));
  REQUIRE(followed.watching());
  for (int i = 25; i < 31; ++i) followed.cluster.put(claim(i));
  REQUIRE(followed.state_becomes(State::failing));
  CHECK(followed.problem().starts_with("more than 30 objects"));
  CHECK(followed.texts().size() >= 25);
  for (int i = 25; i < 31; ++i) followed.cluster.remove("PersistentVolumeClaim", "claim-" + std::to_string(i), "shop");
  CHECK(followed.until(
      [&] { return followed.texts().size() == 25 && followed.follower->health().state == State::current; }));
}

TEST_CASE(
    "an object that is too large stays as it was and is named once, in a list and in a watch, and the others are followed") {
  const auto small_claim = [](int number) {
    std::string text = claim(number);
    return text.replace(text.find("shop"), 4, "depot");
  };
  const auto large_claim = [&](int number, std::size_t bytes) {
    std::string text = small_claim(number);
    text.insert(text.rfind("\"volumeName\""), "\"filler\":\"" + std::string(bytes, 'x') + "\",");
    return text;
  };
  const auto kept = [](int number) {
    return std::pair("depot/claim-" + std::to_string(number),
                     R"({"volumeName":"volume-)" + std::to_string(number) + "\"}");
  };
  Followed followed({"/api/v1/namespaces/depot/persistentvolumeclaims", "", "", 500, true});
  for (int number : {1, 3}) followed.cluster.put(small_claim(number));
  followed.cluster.put(large_claim(2, 5 << 20));
  followed.begin();
  CHECK_MESSAGE(followed.becomes({kept(1), kept(3)}), followed.problem());
  const auto left_out = [&]() -> const std::string& { return followed.follower->health().left_out; };
  CHECK(left_out().starts_with("PersistentVolumeClaim 'depot/claim-2': found 52"));
  CHECK(followed.follower->health().state == State::current);
  REQUIRE(followed.watching());
  const auto lists = followed.follower->health().lists;
  const auto changes = followed.states.size();
  for (int mebibytes : {5, 9}) {
    followed.cluster.put(large_claim(3, static_cast<std::size_t>(mebibytes) << 20));
    followed.cluster.put(small_claim(mebibytes));
    CHECK(followed.until([&] { return followed.follower->objects().contains(kept(mebibytes).first); }));
    CHECK(followed.texts().at(kept(3).first) == kept(3).second);
  }
  CHECK(left_out().find("; PersistentVolumeClaim 'depot/claim-3': found 52") != std::string::npos);
  CHECK(followed.states.size() == changes + 1);
  CHECK(followed.follower->health().lists == lists);
  followed.cluster.put(small_claim(2));
  followed.cluster.remove("PersistentVolumeClaim", "claim-3", "depot");
  CHECK(followed.becomes({kept(1), kept(2), kept(5), kept(9)}));
  CHECK(left_out().empty());
  for (int number : {1, 2, 5, 9})
    followed.cluster.remove("PersistentVolumeClaim", "claim-" + std::to_string(number), "depot");
}

TEST_CASE("a first list with only too large objects is not reported as an empty one") {
  Followed followed({kSlos, "metadata.name=large", "", 500, false});
  std::string large = slo("large", 60);
  large.insert(large.rfind("\"resourceUsed"), "\"filler\":\"" + std::string(5 << 20, 'x') + "\",");
  followed.cluster.put(large);
  followed.begin();
  REQUIRE(followed.until([&] { return !followed.follower->health().left_out.empty(); }));
  REQUIRE(followed.watching());
  CHECK(followed.reported.empty());
  followed.cluster.put(slo("large", 61));
  CHECK(followed.becomes({{"large", spec(61)}}));
  CHECK(followed.reported.size() == 1);
  followed.cluster.remove("NodeSLO", "large");
  CHECK(followed.becomes({}));
}

TEST_CASE("changes while a connection was broken are not missed") {
  FollowedSlo followed("reconnect");
  followed.cluster.fault("disconnect");
  followed.put(62);
  CHECK(followed.becomes_value(62));
  CHECK(followed.follower->health().lists == 1);
}

TEST_CASE("a watch that ends normally continues where it was") {
  FollowedSlo followed("ended");
  followed.cluster.fault("end_watches");
  followed.put(63);
  CHECK(followed.becomes_value(63));
  CHECK(followed.follower->health().lists == 1);
}

TEST_CASE("a history that is gone is listed again, and unchanged objects are not reported") {
  FollowedSlo followed("compacted");
  followed.cluster.put(slo("another", 2));
  followed.cluster.fault("compact");
  followed.cluster.fault("disconnect");
  REQUIRE(followed.until([&] { return followed.follower->health().lists == 2; }));
  followed.put(64);
  CHECK(followed.becomes_value(64));
  CHECK(followed.reported.size() == 1);
}

TEST_CASE("410 as an answer or as an event is listed again, until it stops") {
  for (const char* as : {"event", "status"}) {
    CAPTURE(as);
    FollowedSlo followed(std::string("gone-") + as);
    followed.cluster.fault("gone", std::string(R"({"verb":"watch","kind":"NodeSLO","count":3,"as":")") + as + "\"}");
    followed.cluster.fault("end_watches");
    REQUIRE(followed.until([&] { return followed.follower->health().lists >= 4; }));
    followed.put(65);
    CHECK(followed.becomes_value(65));
    CHECK(followed.reported.size() == 1);
  }
}

TEST_CASE("a server that is away leaves what is known as it is, and is caught up with when it is back") {
  FollowedSlo followed("outage");
  followed.cluster.fault("down");
  REQUIRE(followed.state_becomes(State::failing));
  CHECK_FALSE(followed.problem().empty());
  CHECK(followed.texts() == std::map<std::string, std::string>{{"outage", spec(60)}});
  followed.put(66);
  followed.cluster.fault("compact");
  followed.cluster.clear_faults();
  CHECK(followed.becomes_value(66));
}

TEST_CASE("answers cut off in the middle, or no JSON, are no change") {
  for (const auto& [name, arguments] :
       {std::pair("cut", R"({"kind":"NodeSLO","after_bytes":40})"), std::pair("garbage", R"({"kind":"NodeSLO"})")}) {
    const std::string fault = name;
    CAPTURE(fault);
    FollowedSlo followed("broken-" + fault);
    followed.cluster.fault(fault, arguments);
    followed.cluster.fault("disconnect");
    followed.put(67);
    followed.cluster.fault("compact");
    REQUIRE(followed.state_becomes(State::failing));
    CHECK(followed.reported.empty());
    followed.cluster.clear_faults();
    CHECK(followed.becomes_value(67));
  }
}

TEST_CASE("answers that drip are waited for") {
  FollowedSlo followed("slow");
  followed.cluster.fault("slow", R"({"kind":"NodeSLO","bytes_per_second":4000})");
  followed.cluster.fault("compact");
  followed.put(68);
  CHECK(followed.becomes_value(68));
}

TEST_CASE("a busy server is asked again when it says so") {
  FollowedSlo followed("busy");
  followed.cluster.fault("too_many_requests", R"({"kind":"NodeSLO","retry_after":1,"count":2})");
  followed.cluster.fault("disconnect");
  followed.put(69);
  CHECK(followed.becomes_value(69));
  const auto refused = followed.cluster.requests(R"({"kind":"NodeSLO","status":429})");
  REQUIRE(refused.size() >= 2);
  CHECK(refused.back().seconds - refused[refused.size() - 2].seconds >= 0.99);
}

TEST_CASE("a forbidden request is reported with the server's text, and goes on when it is allowed") {
  FollowedSlo followed("forbidden");
  followed.cluster.fault("deny", R"({"kind":"NodeSLO"})");
  followed.cluster.fault("disconnect");
  REQUIRE(followed.state_becomes(State::forbidden));
  CHECK(followed.problem().starts_with("403 Forbidden: "));
  CHECK(followed.texts().size() == 1);
  followed.put(70);
  followed.cluster.clear_faults();
  CHECK(followed.becomes_value(70));
}

TEST_CASE("a kind that is not installed is absent, reported once as nothing, and found when it is installed") {
  Followed followed({kSlos, "metadata.name=late", "", 500, false});
  followed.cluster.fault("missing", R"({"kind":"NodeSLO"})");
  followed.begin();
  REQUIRE(followed.state_becomes(State::absent));
  REQUIRE(followed.until([&] { return followed.follower->health().lists >= 3; }));
  CHECK(followed.reported.size() == 1);
  CHECK(followed.reported[0].empty());
  CHECK(std::count(followed.states.begin(), followed.states.end(), State::absent) == 1);
  followed.cluster.clear_faults();
  followed.cluster.put(slo("late", 60));
  CHECK(followed.becomes({{"late", spec(60)}}));
}

TEST_CASE("a bookmark counts as a confirmation") {
  FollowedSlo followed("bookmark");
  const auto before = followed.confirmed;
  REQUIRE(before);
  followed.cluster.fault("bookmark");
  CHECK(followed.until([&] { return followed.confirmed > before; }));
  CHECK(followed.reported.empty());
}

TEST_CASE("nothing is reported any more when it is destroyed in the middle of a list") {
  Followed followed({kClaims, "", "", 1, true});
  for (int i = 0; i < 5; ++i) followed.cluster.put(claim(i));
  const auto pages = [&] { return followed.cluster.requests(R"({"verb":"list","path":"continue="})").size(); };
  const auto before = pages();
  followed.begin();
  REQUIRE(followed.until([&] { return pages() > before; }));
  followed.follower.reset();
  CHECK(followed.reported.empty());
  followed.begin();
  REQUIRE(followed.until([&] { return !followed.reported.empty(); }));
  CHECK(followed.reported.size() == 1);
}
