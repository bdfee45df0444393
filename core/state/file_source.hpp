// SPDX-License-Identifier: Apache-2.0
// FileSource: a PodList, a Node and a NodeSLO from YAML or JSON files, for tests, demos and edge nodes. Pods may name
// their cgroups themselves (named_cgroups.hpp). A file that is missing, empty, wrong or open for writing keeps what was
// last read from it, and the refresh says so. One thread at a time; it publishes to the Hub in that thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/unique_fd.hpp"
#include "core/cgroup/names.hpp"
#include "core/state/hub.hpp"
#include "core/state/sandboxes.hpp"

namespace koord::state {

class FileSource {
 public:
  struct Options {
    std::string pods;  // paths; empty: not from a file
    std::string node;
    std::string node_slo;
    // Under which directories and names the pods' cgroups are computed.
    cgroup::KubeRoot kube_root;
    // Where the pods' sandboxes show; nullopt: they are not looked for.
    std::optional<cgroup::Layout> layout = {};
  };

  FileSource(Options options, Hub& hub);

  // Reads the files that changed since the last time and publishes the good ones, the pods with the sandboxes they have
  // now. The error names every bad file, with what is wrong in it; it is repeated until the file is good again. A file
  // that could not be read, or that a process has open for writing, is read at each refresh until it can be.
  Result<void> refresh();

  // Remarks on the pods as of the last refresh, which are no errors: other trees of cgroups with pods, containers
  // without a known cgroup, cgroups below a pod that none of its annotations names.
  const std::vector<std::string>& notes() const { return notes_; }

  // Readable when a file may have changed: call refresh(). -1 where the kernel has no inotify to spare; then
  // only calling refresh() now and again finds changes.
  int watch_fd() const { return inotify_.get(); }

 private:
  // Identity of one version of a file.
  struct Stamp {
    dev_t device = 0;
    ino_t inode = 0;
    off_t size = 0;
    std::int64_t modified_ns = 0, changed_ns = 0;

    bool operator==(const Stamp&) const = default;
  };
  using Take = Result<void> (FileSource::*)(const std::string& text, Update& update);
  struct File {
    std::string path;
    Stamp stamp;
    std::string problem;  // why its present content was not taken
    Take take;
  };

  void watch_directories();
  bool drain_events();
  Result<void> check(File& file, bool touched, Update& update);
  void place(std::vector<Pod>& pods);
  Result<void> take_pods(const std::string& text, Update& update);
  Result<void> take_node(const std::string& text, Update& update);
  Result<void> take_node_slo(const std::string& text, Update& update);

  cgroup::KubeRoot kube_root_;
  std::optional<cgroup::Layout> layout_;
  Sandboxes sandboxes_;
  std::optional<std::vector<Pod>> pods_;  // as the file has them
  std::vector<std::string> notes_;
  Hub& hub_;
  UniqueFd inotify_;
  std::vector<File> files_;
};

}  // namespace koord::state
