// SPDX-License-Identifier: Apache-2.0
// An advisor that posts the verdicts of its configuration in each period: {"blames": "shop/cart batch/etl 0.038 0.62;
// …"}: the victim, the suspect, the seconds of wait per second that it causes, and its share of all waits. Built twice:
// as the agent's own plugin and as a third-party plugin.
#include <chrono>
#include <koordetector/verdicts.hpp>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

using namespace koord::plugin;

struct Judge : Advisor {
  void init() override {
    state_ = require<koord_svc_state>(host(), "koord.state/1");
    verdicts_ = Verdicts(host());
    read();
  }
  void on_event(std::uint32_t what, std::uint64_t) override {
    if (what == KOORD_ON_CONFIG) read();
  }
  void collect(std::uint64_t now_ns, std::uint64_t) override {
    const auto snapshot = Snapshot::if_known(host(), state_);
    if (!snapshot) return;
    std::map<std::string, std::uint64_t> containers;  // key: pod
    for (const koord_pod& pod : snapshot->pods())
      for (const koord_container& container : containers_of(pod))
        containers[std::string(view(pod.ns)) + "/" + std::string(view(pod.name))] = container.handle;
    ++windows_;
    for (const Blame& blame : blames_)
      if (containers.count(blame.victim) && containers.count(blame.suspect))
        post(blame, containers[blame.victim], containers[blame.suspect], now_ns);
  }

 private:
  struct Blame {
    std::string victim, suspect;
    double waited = 0, share = 0;
  };

  void read() {
    blames_.clear();
    windows_ = 0;
    for (const std::uint64_t victim : victims_)
      verdicts_.end(victim, KOORD_RESOURCE_CPU, KOORD_VERDICT_INTERFERED, "not configured any more");
    victims_.clear();
    std::istringstream lines(Config(host()).string("/blames").value_or(""));
    for (std::string line; std::getline(lines, line, ';');) {
      std::istringstream words(line);
      Blame blame;
      if (words >> blame.victim >> blame.suspect >> blame.waited >> blame.share) blames_.push_back(blame);
    }
  }

  void post(const Blame& blame, std::uint64_t victim, std::uint64_t suspect, std::uint64_t now_ns) {
    Verdict verdict;
    verdict.victim = victim;
    verdict.method = KOORD_METHOD_EXACT;
    verdict.from_ns = verdict.to_ns = now_ns;
    verdict.windows_over = verdict.windows_seen = windows_;
    verdict.statistic = "held_up";
    verdict.statistic_unit = "ratio";
    verdict.value = 0.042;
    verdict.threshold = 0.01;
    verdict.amount_unit = "seconds/second";
    verdict.suspects.resize(1);
    verdict.suspects[0].subject = suspect;
    verdict.suspects[0].value = blame.waited;
    verdict.suspects[0].share = blame.share;
    verdict.ttl = std::chrono::seconds(5);
    verdicts_.post({verdict});
    victims_.insert(victim);
  }

  const koord_svc_state* state_ = nullptr;
  Verdicts verdicts_;
  std::vector<Blame> blames_;
  std::set<std::uint64_t> victims_;
  std::uint32_t windows_ = 0;
};

constexpr char kSchema[] = R"({"type": "object", "properties": {"blames": {"type": "string"}}})";

#if JUDGE_IS_OWN
#define JUDGE_ID "id=judge\ngate=Judge\nstage=beta\ndefault=true\n"
#else
#define JUDGE_ID "id=com.example.slanderer\ngate=Slanderer\n"
#endif

KOORD_PLUGIN(JUDGE_ID "version=1.0.0\nkinds=koord.advisor/1\n"
                      "requires=koord.config/1,koord.state/1,koord.verdict/1\n",
             advisor<Judge>("judge", std::chrono::milliseconds(500), kSchema))
