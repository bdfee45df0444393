// SPDX-License-Identifier: Apache-2.0
#include "core/cgroup/names.hpp"

#include <algorithm>
#include <array>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "core/cgroup/kube_root.hpp"

namespace koord::cgroup {
namespace {

struct Runtime {
  std::string_view scheme;
  std::string_view prefix;
};
constexpr std::array<Runtime, 5> kRuntimes{{{"docker", "docker-"},
                                            {"containerd", "cri-containerd-"},
                                            {"cri-o", "crio-"},
                                            {"pouch", "pouch-"},
                                            {"libpod", "libpod-"}}};

constexpr std::string_view kSlice = ".slice";
constexpr std::string_view kScope = ".scope";

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

bool take_suffix(std::string_view& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.remove_suffix(suffix.size());
  return true;
}

// Returns the prefix that systemd requires in the name of every slice inside this one: "kubepods", "kubelet-kubepods".
std::string_view slice_stem(const KubeRoot& root) {
  std::string_view name = root.dir;
  if (std::size_t slash = name.rfind('/'); slash != std::string_view::npos) name.remove_prefix(slash + 1);
  take_suffix(name, kSlice);
  return name;
}

std::string_view qos_word(KubeQos qos) {
  switch (qos) {
    case KubeQos::burstable:
      return "burstable";
    case KubeQos::best_effort:
      return "besteffort";
    case KubeQos::guaranteed:
    case KubeQos::unknown:
      break;
  }
  return {};
}

// Returns the name of the systemd slice of a QoS class without ".slice". It is the prefix of the slices of its pods.
std::string qos_stem(const KubeRoot& root, KubeQos qos) {
  std::string stem(slice_stem(root));
  if (std::string_view word = qos_word(qos); !word.empty()) stem.append("-").append(word);
  return stem;
}

std::string with_replaced(std::string_view text, char from, char to) {
  std::string copy(text);
  std::replace(copy.begin(), copy.end(), from, to);
  return copy;
}

void add_kube_root(const std::string& tree, KubeRoot root, std::vector<KubeRoot>& roots) {
  if (std::find(roots.begin(), roots.end(), root) != roots.end()) return;
  if (list_subdirectories(tree + '/' + root.dir)) roots.push_back(std::move(root));
}

}  // namespace

KubeRoot default_kube_root(Driver driver) {
  return {driver, driver == Driver::systemd ? "kubepods.slice" : "kubepods"};
}

std::vector<KubeRoot> find_kube_roots(const Layout& layout) {
  std::vector<KubeRoot> roots;
  for (const std::string& tree : layout.workload_trees()) {
    add_kube_root(tree, default_kube_root(Driver::systemd), roots);
    add_kube_root(tree, default_kube_root(Driver::cgroupfs), roots);
    Result<std::vector<std::string>> names = list_subdirectories(tree);
    if (!names) continue;
    for (const std::string& name : *names) {
      std::string_view stem = name;
      if (take_suffix(stem, kSlice))
        add_kube_root(tree, {Driver::systemd, name + '/' + std::string(stem) + "-kubepods.slice"}, roots);
      else
        add_kube_root(tree, {Driver::cgroupfs, name + "/kubepods"}, roots);
    }
  }
  std::stable_partition(roots.begin(), roots.end(), [&](const KubeRoot& root) { return holds_pods(layout, root); });
  return roots;
}

std::string qos_dir(const KubeRoot& root, KubeQos qos) {
  std::string_view word = qos_word(qos);
  if (word.empty()) return root.dir;
  if (root.driver == Driver::cgroupfs) return root.dir + '/' + std::string(word);
  return root.dir + '/' + qos_stem(root, qos) + std::string(kSlice);
}

std::string pod_dir(const KubeRoot& root, KubeQos qos, std::string_view uid) {
  std::string dir = qos_dir(root, qos) + '/';
  if (root.driver == Driver::cgroupfs) return dir + "pod" + std::string(uid);
  return dir + qos_stem(root, qos) + "-pod" + with_replaced(uid, '-', '_') + std::string(kSlice);
}

Result<std::string> container_dir(Driver driver, std::string_view pod_dir, std::string_view id) {
  std::size_t colon = id.find("://");
  std::string_view scheme = colon == std::string_view::npos ? std::string_view() : id.substr(0, colon);
  auto runtime = std::find_if(kRuntimes.begin(), kRuntimes.end(), [&](const Runtime& r) { return r.scheme == scheme; });
  std::string_view bare = runtime == kRuntimes.end() ? std::string_view() : id.substr(colon + 3);
  if (bare.empty() || bare.find('/') != std::string_view::npos || !is_cgroup(bare))
    return invalid("container id '" + std::string(id.substr(0, 96)) +
                   "' is not one of containerd://, cri-o://, docker://, pouch:// or libpod:// and an id");
  std::string dir = std::string(pod_dir) + '/';
  // With the cgroupfs driver only cri-o keeps its prefix.
  if (driver == Driver::systemd || scheme == "cri-o") dir += runtime->prefix;
  dir += bare;
  if (driver == Driver::systemd) dir += kScope;
  return dir;
}

std::optional<KubeQos> parse_qos_dir(const KubeRoot& root, std::string_view name) {
  for (KubeQos qos : {KubeQos::burstable, KubeQos::best_effort}) {
    if (qos_dir(root, qos) == root.dir + '/' + std::string(name)) return qos;
  }
  return std::nullopt;
}

std::optional<std::string> parse_pod_dir(const KubeRoot& root, KubeQos qos, std::string_view name) {
  bool systemd = root.driver == Driver::systemd;
  if (systemd && !(take_suffix(name, kSlice) && take_prefix(name, qos_stem(root, qos)) && take_prefix(name, "-")))
    return std::nullopt;
  if (!take_prefix(name, "pod") || name.empty()) return std::nullopt;
  return systemd ? with_replaced(name, '_', '-') : std::string(name);
}

std::optional<ContainerName> parse_scope(std::string_view name) {
  bool scope = take_suffix(name, kScope);
  for (const Runtime& runtime : kRuntimes) {
    if (!take_prefix(name, runtime.prefix)) continue;
    bool helper = take_prefix(name, "conmon-");
    bool may_be_bare = runtime.scheme == "cri-o" || runtime.scheme == "libpod";
    if (name.empty() || !(scope || may_be_bare)) return std::nullopt;
    return ContainerName{std::string(runtime.scheme), std::string(name), helper};
  }
  return std::nullopt;
}

std::optional<ContainerName> parse_container_dir(Driver driver, std::string_view name) {
  std::optional<ContainerName> found = parse_scope(name);
  if (driver == Driver::systemd) {
    if (found && !name.ends_with(kScope)) found->helper = true;
    return found;
  }
  if (found) return found;
  if (name.empty() || name.find('.') != std::string_view::npos) return std::nullopt;
  return ContainerName{{}, std::string(name)};
}

bool is_container_hash(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_cgroup(std::string_view text) {
  if (text.find('\0') != std::string_view::npos || text.ends_with('/')) return false;
  while (auto part = next_field(text, '/')) {
    if (part->empty() || *part == "." || *part == "..") return false;
  }
  return true;
}

}  // namespace koord::cgroup
