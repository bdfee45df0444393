// SPDX-License-Identifier: Apache-2.0
// Guest: one process with a plugin in it, and its cgroup. Started confined, then asked to map the file: no code of the
// plugin runs outside its limits, not even a constructor. The destructor ends the process.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/child/confinement.hpp"
#include "core/child/layers.hpp"
#include "core/child/process.hpp"
#include "core/host/runner.hpp"
#include "core/load/file_stamp.hpp"

namespace koord::child {

class Guest {
 public:
  // Which file is to be run, by what, and within which limits.
  struct Invitation {
    std::string program;  // the koord-plugin-host
    const cgroup::Layout* layout = nullptr;  // null: no cgroup is made
    Layers* layers = nullptr;                // null: none but the filter of system calls
    std::string cgroup;                      // its name below kPluginsCgroup
    std::string plugin_id;
    std::string path;
    host::FileStamp checked;  // the file that must be mapped
  };

  static Result<std::unique_ptr<Guest>> start(const Invitation& invitation, const host::RunnerLimits& limits);
  ~Guest();  // ends the process and everything that it has started
  Guest(const Guest&) = delete;
  Guest& operator=(const Guest&) = delete;

  Process& process() { return *process_; }
  // Which limit does not hold, and why; empty when all do.
  std::string problems() const;
  const host::IsolationLevel& isolation() const { return launch_.level; }

  // Has it map the file and say what that is. Waits.
  Result<std::vector<host::ClassInfo>> introduce();

  // Adds what the kernel knows of the end beside the signal.
  std::string explain(std::string reason) const;

 private:
  Guest(const Invitation& invitation, const host::RunnerLimits& limits, Launch launch, UniqueFd file);

  void add_to_cgroup();
  Result<std::vector<host::ClassInfo>> read_introduction();

  const Invitation invitation_;
  const host::RunnerLimits limits_;
  Launch launch_;
  UniqueFd file_;  // of the plugin, until it is mapped
  std::optional<Confinement> confinement_;  // ends after the process
  std::unique_ptr<Process> process_;
};

}  // namespace koord::child
