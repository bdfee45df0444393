// SPDX-License-Identifier: Apache-2.0
#include "core/state/file_source.hpp"

#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <utility>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "core/state/named_cgroups.hpp"
#include "core/state/objects.hpp"
#include "core/state/pod_object.hpp"
#include "core/state/pod_places.hpp"
#include "core/state/slo.hpp"
#include "core/state/whole_file.hpp"

namespace koord::state {
namespace {

constexpr std::size_t kMaxDocumentBytes = 16u << 20;

std::int64_t to_ns(const timespec& time) { return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec; }

std::string directory_of(const std::string& path) {
  std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

bool may_run(const Pod& pod, const Container& container) {
  return container.kind == ContainerKind::regular && (pod.phase == Phase::running || pod.phase == Phase::unknown) &&
         (container.state == ContainerState::running || container.state == ContainerState::unknown);
}

// Adds a note for each container with an unknown cgroup, because such a container is neither measured nor adjusted.
void note_containers_without_cgroup(const Pod& pod, std::vector<std::string>& notes) {
  for (const Container& container : pod.containers)
    if (container.cgroup_dir.empty() && may_run(pod, container))
      notes.push_back("the cgroup of container '" + container.name + "' of pod " + full_name(pod) +
                      " is unknown: expected a containerID in its status or the annotation " +
                      std::string(kCgroupAnnotation) + "." + container.name);
}

void note_cgroups_without_container(const Pod& pod, const cgroup::Layout& layout, std::vector<std::string>& notes) {
  for (const std::string& dir : unnamed_cgroups(pod, layout))
    notes.push_back("cgroup '" + dir + "' of pod " + full_name(pod) + " is no container's: no annotation " +
                    std::string(kCgroupAnnotation) + ".NAME names it");
}

}  // namespace

FileSource::FileSource(Options options, Hub& hub)
    : kube_root_(std::move(options.kube_root)),
      layout_(std::move(options.layout)),
      hub_(hub),
      inotify_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
  auto add = [this](std::string path, Take take) {
    if (!path.empty()) files_.push_back({std::move(path), {}, {}, take});
  };
  add(std::move(options.pods), &FileSource::take_pods);
  add(std::move(options.node), &FileSource::take_node);
  add(std::move(options.node_slo), &FileSource::take_node_slo);
  watch_directories();
}

// Watches the directories instead of the files, because editors and ConfigMaps replace files by renaming.
void FileSource::watch_directories() {
  if (!inotify_) return;
  std::set<std::string> directories;
  for (const File& file : files_) directories.insert(directory_of(file.path));
  for (const std::string& directory : directories) {
    int watch = ::inotify_add_watch(inotify_.get(), directory.c_str(),
                                    IN_CLOSE_WRITE | IN_MODIFY | IN_MOVED_TO | IN_CREATE | IN_DELETE | IN_ONLYDIR);
    if (watch < 0) return inotify_.reset();
  }
}

// Returns whether events have arrived. Their content does not matter.
bool FileSource::drain_events() {
  bool any = false;
  char buffer[4096];
  while (inotify_ && ::read(inotify_.get(), buffer, sizeof buffer) > 0) any = true;
  return any;
}

Result<void> FileSource::refresh() {
  bool touched = drain_events();
  Update update;
  std::vector<std::string> problems;
  for (File& file : files_) {
    if (Result<void> checked = check(file, touched, update); !checked) file.problem = checked.error().message();
    if (!file.problem.empty()) problems.push_back(file.problem);
  }
  update.pods = pods_;
  if (update.pods && layout_) place(*update.pods);
  hub_.publish(std::move(update));
  if (problems.empty()) return {};
  return invalid(join(problems, "; ") + "; keeping what was read last");
}

// Sets the current cgroup directories of the pods, and adds their current sandboxes.
void FileSource::place(std::vector<Pod>& pods) {
  constexpr std::size_t kMostNotes = 3;
  notes_.clear();
  const PodPlaces places = find_pods(*layout_, kube_root_, pods);
  if (!places.others.empty()) notes_.push_back(describe_others(places));
  std::vector<std::string> of_pods;
  for (Pod& pod : pods) {
    if (names_cgroups(pod)) {
      note_cgroups_without_container(pod, *layout_, of_pods);
    } else if (places.root != kube_root_) {
      // An error is not possible here, because the uid was valid below the other root.
      if (!place_in_cgroups(pod, places.root)) pod.cgroup_dir.clear();
    }
    note_containers_without_cgroup(pod, of_pods);
  }
  notes_.insert(notes_.end(), of_pods.begin(),
                of_pods.begin() + static_cast<std::ptrdiff_t>(std::min(of_pods.size(), kMostNotes)));
  if (of_pods.size() > kMostNotes) notes_.push_back("and " + std::to_string(of_pods.size() - kMostNotes) + " more");
  sandboxes_.add_to(pods, *layout_);
}

// Reads a file that has changed since it was last read. The stamp is taken before the read, so a write during the read
// makes the next refresh read again. Without a stamp, as after a failed read, the next refresh reads again in any case.
Result<void> FileSource::check(File& file, bool touched, Update& update) {
  const Stamp last = std::exchange(file.stamp, {});
  struct stat info;
  if (::stat(file.path.c_str(), &info) != 0) return system_error(errno, "cannot read '" + file.path + "'");
  Stamp stamp{info.st_dev, info.st_ino, info.st_size, to_ns(info.st_mtim), to_ns(info.st_ctim)};
  if (stamp != last || touched) {
    const std::string text = TRY(read_whole_file(file.path, kMaxDocumentBytes));
    file.problem.clear();
    if (Result<void> taken = (this->*file.take)(text, update); !taken)
      file.problem = std::move(taken).error().context("'" + file.path + "'").message();
  }
  file.stamp = stamp;
  return {};
}

Result<void> FileSource::take_pods(const std::string& text, Update&) {
  std::vector<Pod> pods = TRY(parse_pod_list(text, kube_root_));
  TRY(take_named_cgroups(pods));
  pods_ = std::move(pods);
  return {};
}

Result<void> FileSource::take_node(const std::string& text, Update& update) {
  update.node = TRY(parse_node(text));
  return {};
}

Result<void> FileSource::take_node_slo(const std::string& text, Update& update) {
  Update slo = TRY(slo_update(text));
  update.node_slo = std::move(slo.node_slo);
  update.received_slo = std::move(slo.received_slo);
  return {};
}

}  // namespace koord::state
