// SPDX-License-Identifier: Apache-2.0
// The plugin that uses kernel_activity.hpp. Only this file uses the host. It gets services, defines metrics, reads
// /proc/stat and the task count of each pod and container every period, and appends them.
#include <chrono>
#include <cstdint>
#include <koordetector/plugin.hpp>
#include <koordetector/subjects.hpp>
#include <optional>
#include <string>

#include "kernel_activity.hpp"

using namespace koord::plugin;

// Meter for the tasks of one pod or container: its file, which may be missing for a while, and its series, which has
// the pod's labels.
struct TaskMeter {
  CgroupValues<1> tasks{"pids.current", {"pids"}};
  std::uint64_t series = 0;
};

class SchedulerAdvisor : public Advisor {
 public:
  // Called once, before the first tick. If it throws, the plugin does not run; KOORD_E_UNSUPPORTED means that this node
  // cannot run it.
  void init() override {
    files_ = require<koord_svc_fs>(host(), "koord.fs/1");
    batch_ = Batch(host());
    context_switches_ =
        define({"example_context_switches_total", "", "Context switches since the boot.", 1, KOORD_COUNTER}).series();
    forks_ =
        define({"example_forks_total", "", "Processes and threads made since the boot.", 1, KOORD_COUNTER}).series();
    runnable_ = define({"example_runnable_tasks", "tasks", "Tasks that run or wait for a CPU.", 1}).series();
    blocked_ = define({"example_blocked_tasks", "tasks", "Tasks that wait for I/O.", 1}).series();
    state_ = require<koord_svc_state>(host(), "koord.state/1");
    cgroups_ = require<koord_svc_cgroup>(host(), "koord.cgroup/1");
    tasks_ = define({"example_tasks", "tasks", "Tasks of the pod or container.", 1});
    if (!parse_kernel_activity(read_stat()).context_switches)
      throw Failure(KOORD_E_UNSUPPORTED, "/proc/stat has no line 'ctxt', expected one as of Linux 2.6");
  }

  // Called every period. If it throws, this tick fails with the text; the next tick tries again.
  void collect(std::uint64_t now_ns, std::uint64_t /*deadline_ns*/) override {
    const KernelActivity activity = parse_kernel_activity(read_stat());
    add(context_switches_, activity.context_switches);
    add(forks_, activity.forks);
    add(runnable_, activity.runnable_tasks);
    add(blocked_, activity.blocked_tasks);
    add_tasks(now_ns);
    batch_.send(now_ns);
  }

 private:
  std::string read_stat() const {
    return text_of([this](char* buf, std::uint64_t cap, std::uint64_t* need) {
      return files_->read(host(), KOORD_ROOT_PROC, str("stat"), buf, cap, need);
    });
  }

  // Adds each pod and container that has a cgroup. The destructor of a removed meter ends its series.
  void add_tasks(std::uint64_t now_ns) {
    const std::optional<Snapshot> snapshot = Snapshot::if_known(host(), state_);
    if (!snapshot) return;
    pods_.follow(*snapshot, [this](const Subject& subject) {
      return TaskMeter{{"pids.current", {"pids"}}, tasks_.series(subject.handle)};
    });
    pods_.for_each([&](TaskMeter& meter, std::string_view cgroup) {
      if (const auto reading = meter.tasks.read(host(), cgroups_, cgroup, now_ns))
        batch_.add(meter.series, static_cast<double>(reading->values[0]));
    });
  }

  void add(std::uint64_t series, std::optional<std::uint64_t> value) {
    if (value) batch_.add(series, static_cast<double>(*value));
  }

  const koord_svc_fs* files_ = nullptr;
  const koord_svc_state* state_ = nullptr;
  const koord_svc_cgroup* cgroups_ = nullptr;
  Batch batch_;
  Metric tasks_;
  Subjects<TaskMeter> pods_;
  std::uint64_t context_switches_ = 0, forks_ = 0, runnable_ = 0, blocked_ = 0;  // ids of series
};

KOORD_PLUGIN("id=com.example.scheduler\n"
             "version=1.0.0\n"
             "kinds=koord.advisor/1\n"
             "gate=SchedulerExample\n"
             "requires=koord.cgroup/1,koord.fs/1,koord.metrics/1,koord.state/1\n"
             "license=Apache-2.0\n"
             "description=reports the load of the kernel's scheduler, and counts tasks by pod\n",
             advisor<SchedulerAdvisor>("scheduler", std::chrono::seconds(1)))
