// @NAME@: counts the tasks of the node that run or wait for a CPU.
// Replace the metrics that init() defines and the files that collect() reads; the contract is
// sdk/koordetector/plugin.h.
#include <koordetector/plugin.hpp>

#include <cstdio>

using namespace koord::plugin;

namespace {

constexpr char kSettings[] = R"({
  "type": "object",
  "properties": {"minutes": {"enum": [1, 5, 15], "description": "over which the load is averaged"}},
  "additionalProperties": false
})";

// In "0.52 0.48 0.40 2/310 4711", the first three numbers are averages over one, five and fifteen minutes.
double load_of(const std::string& loadavg, std::int64_t minutes) {
  double one = 0, five = 0, fifteen = 0;
  if (std::sscanf(loadavg.c_str(), "%lf %lf %lf", &one, &five, &fifteen) != 3)
    throw Failure(KOORD_E_IO, "/proc/loadavg: expected three numbers, found '" + loadavg + "'");
  return minutes == 1 ? one : minutes == 5 ? five : fifteen;
}

struct Load : Advisor {
  // Called once: gets the services and defines the metrics.
  void init() override {
    files_ = Files(host());
    load_ = define({"@METRIC@_load", "tasks", "Tasks that run or wait for a CPU, on average.", 0.01}).series();
    batch_ = Batch(host());
    on_event(KOORD_ON_CONFIG, 0);
  }

  // Called at start, and when an operator has changed the settings.
  void on_event(std::uint32_t what, std::uint64_t /*version*/) override {
    if (what == KOORD_ON_CONFIG) minutes_ = Config(host()).i64("/minutes").value_or(1);
  }

  // Called every period. Reads the file and adds a value. If it throws, only this tick fails; the next one tries again.
  void collect(std::uint64_t now_ns, std::uint64_t /*deadline_ns*/) override {
    batch_.add(load_, load_of(files_.read(KOORD_ROOT_PROC, "loadavg"), minutes_));
    batch_.send(now_ns);
  }

  Files files_;
  Batch batch_;
  std::uint64_t load_ = 0;
  std::int64_t minutes_ = 1;
};

}  // namespace

KOORD_PLUGIN("id=@ID@\n"
             "version=0.1.0\n"
             "kinds=koord.advisor/1\n"
             "gate=@GATE@\n"
             "requires=koord.metrics/1,koord.fs/1,koord.config/1\n"
             "description=the load of the node\n",
             advisor<Load>("load", std::chrono::seconds(1), kSettings))
