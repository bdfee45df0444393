// SPDX-License-Identifier: Apache-2.0
// Process: one koord-plugin-host with a plugin in it, and what leads to it. Killed by SIGKILL at the latest with the
// object, which waits only a short time for its end. If the process ends later, the spawner reaps it. [any thread]
// except for the channels.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/base/unique_fd.hpp"
#include "core/child/channel.hpp"
#include "core/child/sample_ring.hpp"

namespace koord::child {

class Process {
 public:
  // `program`: the koord-plugin-host to run. It waits for a LaunchSpec; the path is for its messages.
  static Result<std::unique_ptr<Process>> start(const std::string& program, const std::string& plugin_id,
                                                const std::string& plugin_path);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  int pidfd() const { return pidfd_.get(); }    // readable when it has ended
  int output() const { return output_.get(); }  // its stdout and stderr

  Channel& calls() { return calls_; }
  Channel& hooks() { return hooks_; }
  Channel& services() { return services_; }
  SampleRing& samples() { return samples_; }

  void signal(int number) const;
  // Called once, by the thread that finds that it has ended. To be set before it is waited for.
  void after_end(std::function<void()> clean_up) { after_end_ = std::move(clean_up); }
  // How it ended, "by signal 11 (Segmentation fault)" or "with exit code 1", when it does within this time.
  std::optional<std::string> wait(Duration patience);

 private:
  Process(Channel calls, Channel hooks, Channel services, SampleRing samples);

  Channel calls_, hooks_, services_;
  SampleRing samples_;
  UniqueFd output_;
  pid_t pid_ = -1;
  UniqueFd pidfd_;
  std::mutex reaping_;
  std::optional<std::string> ended_;
  std::function<void()> after_end_;
};

}  // namespace koord::child
