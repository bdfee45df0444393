// SPDX-License-Identifier: Apache-2.0
// PodWatch: says at once when the cgroup of a pod or container came or went, so that the kubelet is asked then and not
// at the next turn of a clock. It watches the kubelet's directory, those of the QoS classes and those of the pods by
// inotify; where the kernel has none to spare it lists the former now and again, which finds pods and not containers.
// On v1 it looks at one tree: kubelet and runtimes make a pod in all of them. [loop thread]
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/clock.hpp"
#include "core/base/unique_fd.hpp"
#include "core/cgroup/layout.hpp"
#include "core/cgroup/names.hpp"
#include "core/event/loop.hpp"

namespace koord::state {

class PodWatch {
 public:
  struct Options {
    std::size_t max_watches = 2048;  // of inotify; pods beyond it are watched for coming and going only
    Duration poll_period = std::chrono::seconds(1);
    int try_again_after = 300;  // polls, then inotify may be there again
  };

  // `on_change` is called on the loop thread, and may destroy nothing of this.
  PodWatch(event::Loop& loop, cgroup::Layout layout, std::function<void()> on_change);
  PodWatch(event::Loop& loop, cgroup::Layout layout, std::function<void()> on_change, const Options& options);
  ~PodWatch();

  // Watches below this directory from now on. It may be missing yet. Existing pods are no change.
  void watch(const cgroup::KubeRoot& root);

  // "inotify on 31 directories", or what is done instead and why.
  std::string detail() const;
  bool degraded() const { return !problem_.empty(); }

 private:
  enum class Level : std::uint8_t { above, pods, pod };  // of what a directory holds: nothing of ours, pods, containers
  struct Watched {
    ino_t inode = 0;
    int descriptor = -1;
    bool wanted = true;
  };
  using Pods = std::map<std::string, std::uint64_t, std::less<>>;  // inode by directory

  void start_inotify();
  void fall_back(int error, std::string_view call);
  void poll();
  void read_events();
  bool take_events(std::string_view events);
  void scan_and_report(bool changed);
  bool scan();
  void scan_above();
  void scan_directory(const std::string& directory, cgroup::KubeQos qos, Pods& found);
  bool want(const std::string& directory, Level level);
  bool begin_watch(const std::string& directory, ino_t inode, Level level);
  void end_watch(int descriptor);
  void drop_unwanted();

  event::Loop& loop_;
  const cgroup::Layout layout_;
  const std::function<void()> on_change_;
  const Options options_;
  std::string tree_;
  cgroup::KubeRoot root_;
  bool has_root_ = false;
  Pods pods_;

  UniqueFd inotify_;
  std::unique_ptr<event::FdWatch> readable_;
  std::map<std::string, Watched, std::less<>> watched_;  // by directory
  std::map<int, Level> levels_;                          // by the watch's descriptor
  std::size_t unwatched_ = 0;                            // pods beyond max_watches

  std::string problem_;  // why it polls; empty: it does not
  std::unique_ptr<event::Timer> poll_;
  int polls_ = 0;
};

}  // namespace koord::state
