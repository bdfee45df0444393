// SPDX-License-Identifier: Apache-2.0
#include "core/state/pod_watch.hpp"

#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/state/tree_walk.hpp"

namespace koord::state {
namespace {

constexpr std::uint32_t kEvents = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ONLYDIR;

std::string text_of(int error) { return ::strerrordesc_np(error); }

}  // namespace

PodWatch::PodWatch(event::Loop& loop, cgroup::Layout layout, std::function<void()> on_change)
    : PodWatch(loop, std::move(layout), std::move(on_change), Options()) {}

PodWatch::PodWatch(event::Loop& loop, cgroup::Layout layout, std::function<void()> on_change, const Options& options)
    : loop_(loop), layout_(std::move(layout)), on_change_(std::move(on_change)), options_(options) {
  if (!layout_.workload_trees().empty()) tree_ = layout_.workload_trees().front();
  start_inotify();
}

PodWatch::~PodWatch() = default;

void PodWatch::watch(const cgroup::KubeRoot& root) {
  if (has_root_ && root == root_) return;
  root_ = root;
  has_root_ = true;
  scan();
}

std::string PodWatch::detail() const {
  if (degraded()) return "the directories of pods are listed now and again: " + problem_;
  std::string text = "inotify on " + std::to_string(watched_.size()) + " directories";
  if (unwatched_ > 0) text += ", containers of " + std::to_string(unwatched_) + " more pods are not watched";
  return text;
}

void PodWatch::start_inotify() {
  inotify_.reset(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!inotify_) return fall_back(errno, "inotify_init1");
  auto readable = loop_.on_readable(inotify_.get(), [this] { read_events(); });
  if (!readable) return fall_back(readable.error().code.value(), "inotify");
  readable_ = *std::move(readable);
}

void PodWatch::fall_back(int error, std::string_view call) {
  problem_ = std::string(call) + ": " + text_of(error);
  readable_.reset();
  inotify_.reset();
  watched_.clear();
  levels_.clear();
  if (!poll_) poll_ = loop_.every(options_.poll_period, [this] { poll(); });
}

void PodWatch::poll() {
  if (++polls_ % options_.try_again_after == 0) {
    problem_.clear();
    start_inotify();
  }
  scan_and_report(false);
  if (!degraded()) poll_.reset();
}

void PodWatch::read_events() {
  alignas(inotify_event) char buffer[16384];
  bool any = false, changed = false;
  for (ssize_t size; (size = ::read(inotify_.get(), buffer, sizeof buffer)) > 0; any = true)
    changed |= take_events({buffer, static_cast<std::size_t>(size)});
  if (any) scan_and_report(changed);
}

// Returns whether a container has, or may have, come or gone. For pods it scans the directories.
bool PodWatch::take_events(std::string_view events) {
  bool changed = false;
  while (events.size() >= sizeof(inotify_event)) {
    inotify_event event;
    std::memcpy(&event, events.data(), sizeof event);
    events.remove_prefix(std::min(events.size(), sizeof event + event.len));
    if (event.mask & IN_Q_OVERFLOW) changed = true;
    const auto level = levels_.find(event.wd);
    if (level != levels_.end() && level->second == Level::pod && (event.mask & IN_ISDIR)) changed = true;
  }
  return changed;
}

void PodWatch::scan_and_report(bool changed) {
  changed |= scan();
  if (changed) on_change_();
}

// Returns whether the pods differ from the last poll. Each directory is watched before it is listed, so that no change
// is missed.
bool PodWatch::scan() {
  if (!has_root_ || tree_.empty()) return false;
  for (auto& [directory, watched] : watched_) watched.wanted = false;
  unwatched_ = 0;
  Pods found;
  scan_above();
  for (cgroup::KubeQos qos : {cgroup::KubeQos::guaranteed, cgroup::KubeQos::burstable, cgroup::KubeQos::best_effort}) {
    const std::string directory = tree_ + '/' + cgroup::qos_dir(root_, qos);
    if (want(directory, Level::pods)) scan_directory(directory, qos, found);
  }
  drop_unwanted();
  return std::exchange(pods_, found) != found;
}

// Watches the parent directories of the kubelet's directory, because that may be created or removed.
void PodWatch::scan_above() {
  for (std::size_t slash = root_.dir.rfind('/'); slash != std::string::npos && slash > 0;
       slash = root_.dir.rfind('/', slash - 1))
    want(tree_ + '/' + root_.dir.substr(0, slash), Level::above);
  want(tree_, Level::above);
}

void PodWatch::scan_directory(const std::string& directory, cgroup::KubeQos qos, Pods& found) {
  for (const auto& [name, inode] : list_children(directory)) {
    if (!cgroup::parse_pod_dir(root_, qos, name)) continue;
    const std::string pod = directory + '/' + name;
    if (want(pod, Level::pod)) found.emplace(pod, inode);
  }
}

// Returns whether the directory exists. Watches it unless there is no inotify. A directory that was removed and made
// again is a different one, but a watch in the kernel's cgroup trees does not end with its directory. So the inodes are
// compared.
bool PodWatch::want(const std::string& directory, Level level) {
  struct stat info;
  if (::stat(directory.c_str(), &info) != 0) return false;
  if (!inotify_) return true;
  if (const auto known = watched_.find(directory); known != watched_.end()) {
    known->second.wanted = true;
    if (known->second.inode == info.st_ino) return true;
    end_watch(known->second.descriptor);
    watched_.erase(known);
  }
  if (level == Level::pod && watched_.size() >= options_.max_watches) {
    ++unwatched_;
    return true;
  }
  return begin_watch(directory, info.st_ino, level);
}

bool PodWatch::begin_watch(const std::string& directory, ino_t inode, Level level) {
  const int descriptor = ::inotify_add_watch(inotify_.get(), directory.c_str(), kEvents);
  if (descriptor >= 0) {
    watched_[directory] = {inode, descriptor, true};
    levels_[descriptor] = level;
    return true;
  }
  if (errno == ENOENT || errno == ENOTDIR) return false;
  fall_back(errno, "inotify_add_watch");
  return true;
}

void PodWatch::end_watch(int descriptor) {
  levels_.erase(descriptor);
  ::inotify_rm_watch(inotify_.get(), descriptor);
}

void PodWatch::drop_unwanted() {
  std::erase_if(watched_, [this](const auto& entry) {
    if (!entry.second.wanted) end_watch(entry.second.descriptor);
    return !entry.second.wanted;
  });
}

}  // namespace koord::state
