// SPDX-License-Identifier: Apache-2.0
#include "test/node/real_advisor.hpp"

#include <doctest/doctest.h>

#include <cstdio>
#include <utility>

namespace {

std::string plugin_file;

koord::state::Container container_of(const koord::test::RealCgroup& cgroup) {
  koord::state::Container container;
  container.id = container.name = cgroup.dir();
  container.kind = koord::state::ContainerKind::cgroup;
  container.cgroup_dir = cgroup.dir();
  return container;
}

}  // namespace

namespace koord::test {

const std::string& shared_object() { return plugin_file; }

RealAdvisor::RealAdvisor(std::initializer_list<const RealCgroup*> cgroups, std::string config_json)
    : host_(NodeRoots(), std::move(config_json)), advisor_(host_, plugin_file) {
  std::vector<state::Container> containers;
  for (const RealCgroup* cgroup : cgroups) containers.push_back(container_of(*cgroup));
  host_.hub().publish({.pods = std::vector<state::Pod>{}, .standalone = std::move(containers)});
  const koord_status status = advisor_.init();
  REQUIRE_MESSAGE(status == KOORD_OK, advisor_.why());
}

void RealAdvisor::tick() {
  const auto now = std::chrono::steady_clock::now();
  host_.clock().advance(now - last_);
  last_ = now;
  const koord_status status = advisor_.collect();
  REQUIRE_MESSAGE(status == KOORD_OK, advisor_.why());
}

std::optional<double> RealAdvisor::value(const char* metric, const RealCgroup& cgroup, metric::Labels labels) const {
  labels.emplace_back("container_name", cgroup.dir());
  return host_.value(metric, labels);
}

}  // namespace koord::test

int main(int argc, char** argv) {
  std::optional<std::string> skipped = koord::test::RealCgroup::unavailable();
  if (!skipped) skipped = why_not();
  if (skipped) {
    std::printf("SKIPPED: %s\n", skipped->c_str());
    return koord::test::kSkip;
  }
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s PLUGIN.so [doctest's options]\n", argv[0]);
    return 2;
  }
  plugin_file = argv[1];
  return doctest::Context(argc, argv).run();
}
