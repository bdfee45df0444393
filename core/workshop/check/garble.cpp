// SPDX-License-Identifier: Apache-2.0
#include "core/workshop/check/garble.hpp"

#include <algorithm>
#include <cctype>
#include <limits>

namespace koord::check {
namespace {

constexpr std::size_t kMostPods = 40;
constexpr std::size_t kMostContainers = 4;
constexpr const char* kNumbers[] = {"0",     "-1",  "1", "18446744073709551615", "9223372036854775808", "max",
                                    "1e400", "nan", ""};

std::string random_bytes(RandomSource& random, std::size_t size) {
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random.below(256));
  return bytes;
}

std::string without_a_line(RandomSource& random, std::string_view content) {
  const auto lines = static_cast<std::uint64_t>(std::count(content.begin(), content.end(), '\n'));
  std::size_t begin = 0;
  for (std::uint64_t line = random.below(lines); line > 0; --line) begin = content.find('\n', begin) + 1;
  const std::size_t end = content.find('\n', begin);
  std::string rest(content.substr(0, begin));
  if (end != std::string_view::npos) rest += content.substr(end + 1);
  return rest;
}

// Replaces a number by a different one.
std::string with_another_number(RandomSource& random, std::string_view content) {
  auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t at = random.below(content.size());
  while (at < content.size() && !is_digit(content[at])) ++at;
  std::size_t end = at;
  while (end < content.size() && is_digit(content[end])) ++end;
  return std::string(content.substr(0, at)) + random.any_of(kNumbers) + std::string(content.substr(end));
}

std::string random_name(RandomSource& random, const char* usual) {
  switch (random.below(6)) {
    case 0:
      return "";
    case 1:
      return std::string(1 + random.below(300), 'n');
    case 2:
      return "n\xc3\xa4me \"with\" \\ = , {} \n";
    default:
      return usual + std::to_string(random.below(20));
  }
}

std::int64_t random_quantity(RandomSource& random) {
  constexpr std::int64_t kQuantities[] = {
      state::kNoResource, 0, 1, 100, 64 << 20, std::numeric_limits<std::int64_t>::max()};
  return random.any_of(kQuantities);
}

std::vector<state::Resource> random_resources(RandomSource& random) {
  std::vector<state::Resource> resources;
  for (const char* name : {"cpu", "memory", "kubernetes.io/batch-cpu", "example.com/odd"})
    if (!random.one_in(2)) resources.push_back({name, random_quantity(random), random_quantity(random)});
  return resources;
}

std::string random_directory(RandomSource& random, const std::vector<std::string>& cgroup_dirs) {
  if (cgroup_dirs.empty() || random.one_in(3))
    return random.one_in(2) ? "" : "kubepods/gone/" + std::to_string(random.below(100));
  return random.any_of(cgroup_dirs);
}

template <class Enum>
Enum random_of(RandomSource& random, Enum last) {
  return static_cast<Enum>(random.below(static_cast<std::uint64_t>(last) + 1));
}

state::Container random_container(RandomSource& random, const std::vector<std::string>& cgroup_dirs) {
  state::Container container;
  container.id = random.one_in(4) ? "" : "containerd://" + std::to_string(random.below(1000));
  container.name = random_name(random, "container-");
  container.kind = random_of(random, state::ContainerKind::sandbox);
  container.state = random_of(random, state::ContainerState::terminated);
  container.cgroup_dir = random_directory(random, cgroup_dirs);
  container.resources = random_resources(random);
  return container;
}

state::Pod random_pod(RandomSource& random, const std::vector<std::string>& cgroup_dirs) {
  state::Pod pod;
  pod.namespace_ = random_name(random, "namespace-");
  pod.name = random_name(random, "pod-");
  pod.kube_qos = random_of(random, state::KubeQos::best_effort);
  pod.koord_qos = random_of(random, state::KoordQos::system);
  pod.priority = static_cast<std::int32_t>(random.below(20'000)) - 10'000;
  pod.priority_class = random_of(random, state::PriorityClass::free);
  pod.phase = random_of(random, state::Phase::failed);
  for (std::uint64_t i = random.below(4); i > 0; --i)
    pod.labels[random_name(random, "label-")] = random_name(random, "value-");
  for (std::uint64_t i = random.below(4); i > 0; --i)
    pod.annotations[random_name(random, "annotation-")] = random_name(random, "{\"a\":1}");
  pod.cgroup_dir = random_directory(random, cgroup_dirs);
  pod.resources = random_resources(random);
  for (std::uint64_t i = random.below(kMostContainers + 1); i > 0; --i)
    pod.containers.push_back(random_container(random, cgroup_dirs));
  return pod;
}

}  // namespace

std::string garble(RandomSource& random, std::string_view content) {
  switch (random.below(6)) {
    case 0:
      return "";
    case 1:
      return std::string(content.substr(0, random.below(content.size() + 1)));
    case 2:
      return without_a_line(random, content);
    case 3:
      return random_bytes(random, random.below(600));
    case 4:
      return std::string(content) + std::string(content);
    default:
      return with_another_number(random, content);
  }
}

std::vector<state::Pod> garbled_pods(RandomSource& random, const std::vector<std::string>& cgroup_dirs) {
  std::vector<state::Pod> pods;
  for (std::uint64_t i = random.below(kMostPods + 1); i > 0; --i) {
    pods.push_back(random_pod(random, cgroup_dirs));
    pods.back().uid = "uid-" + std::to_string(i);
  }
  return pods;
}

}  // namespace koord::check
