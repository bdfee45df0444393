// SPDX-License-Identifier: Apache-2.0
// The plugin around kernel_activity.hpp, and the only file that knows the host: gets services, defines metrics, reads
// /proc/stat each period and appends what is in it.
#include <chrono>
#include <cstdint>
#include <koordetector/plugin.hpp>
#include <optional>
#include <string>

#include "kernel_activity.hpp"

using namespace koord::plugin;

class SchedulerAdvisor : public Advisor {
 public:
  // Once, before the first tick. Throwing refuses to run; KOORD_E_UNSUPPORTED says that this node cannot have it.
  void init() override {
    files_ = require<koord_svc_fs>(host(), "koord.fs/1");
    batch_ = Batch(host());
    context_switches_ = define({"example_context_switches_total", "", "Context switches since the boot.", 1, KOORD_COUNTER}).series();
    forks_ = define({"example_forks_total", "", "Processes and threads made since the boot.", 1, KOORD_COUNTER}).series();
    runnable_ = define({"example_runnable_tasks", "tasks", "Tasks that run or wait for a CPU.", 1}).series();
    blocked_ = define({"example_blocked_tasks", "tasks", "Tasks that wait for I/O.", 1}).series();
    if (!parse_kernel_activity(read_stat()).context_switches)
      throw Failure(KOORD_E_UNSUPPORTED, "/proc/stat has no line 'ctxt', expected one as of Linux 2.6");
  }

  // Every period. Throwing fails this tick with the text; the next one tries again.
  void collect(std::uint64_t now_ns, std::uint64_t /*deadline_ns*/) override {
    const KernelActivity activity = parse_kernel_activity(read_stat());
    add(context_switches_, activity.context_switches);
    add(forks_, activity.forks);
    add(runnable_, activity.runnable_tasks);
    add(blocked_, activity.blocked_tasks);
    batch_.send(now_ns);
  }

 private:
  std::string read_stat() const {
    return text_of([this](char* buf, std::uint64_t cap, std::uint64_t* need) {
      return files_->read(host(), KOORD_ROOT_PROC, str("stat"), buf, cap, need);
    });
  }

  void add(std::uint64_t series, std::optional<std::uint64_t> value) {
    if (value) batch_.add(series, static_cast<double>(*value));
  }

  const koord_svc_fs* files_ = nullptr;
  Batch batch_;
  std::uint64_t context_switches_ = 0, forks_ = 0, runnable_ = 0, blocked_ = 0;  // series
};

KOORD_PLUGIN("id=com.example.scheduler\n"
             "version=1.0.0\n"
             "kinds=koord.advisor/1\n"
             "gate=SchedulerExample\n"
             "requires=koord.fs/1,koord.metrics/1\n"
             "license=Apache-2.0\n"
             "description=tells how busy the kernel's scheduler is\n",
             advisor<SchedulerAdvisor>("scheduler", std::chrono::seconds(1)))
