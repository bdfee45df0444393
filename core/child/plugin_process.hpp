// SPDX-License-Identifier: Apache-2.0
// PluginProcess: one process with a plugin in it, and its cgroup. Started confined, then asked to map the file: no code
// of the plugin runs outside its limits, not even a constructor. The destructor ends the process. One thread at a time.
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

class PluginProcess {
 public:
  // The file to run, the program that runs it, and the limits.
  struct Spec {
    std::string program;                     // the koord-plugin-host
    const cgroup::Layout* layout = nullptr;  // null: no cgroup is made
    Layers* layers = nullptr;                // null: none but the filter of system calls
    std::string cgroup;                      // its name below kPluginsCgroup
    std::string plugin_id;
    std::string path;
    FileVersion checked;  // the file that must be mapped
  };

  static Result<std::unique_ptr<PluginProcess>> start(const Spec& spec, const host::RunnerLimits& limits);
  ~PluginProcess();  // ends the process and everything that it has started
  PluginProcess(const PluginProcess&) = delete;
  PluginProcess& operator=(const PluginProcess&) = delete;

  Process& process() { return *process_; }
  // Returns the limits that do not hold, and why; empty: all hold.
  std::string problems() const;
  const host::IsolationLevel& isolation() const { return launch_.level; }

  // Has it map the file, and returns the classes that the file has. Waits at most 10 s.
  Result<std::vector<load::ClassInfo>> handshake();

  // Adds what the kernel reports about the end in addition to the signal.
  std::string explain(std::string reason) const;

 private:
  PluginProcess(const Spec& spec, const host::RunnerLimits& limits, Launch launch, UniqueFd file);

  void add_to_cgroup();
  Result<std::vector<load::ClassInfo>> read_handshake();

  const Spec spec_;
  const host::RunnerLimits limits_;
  Launch launch_;
  UniqueFd file_;                           // of the plugin, until it is mapped
  std::optional<Confinement> confinement_;  // ends after the process
  std::unique_ptr<Process> process_;
};

}  // namespace koord::child
