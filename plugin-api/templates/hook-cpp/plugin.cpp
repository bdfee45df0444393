// @NAME@: limits the threads that best-effort containers start by default, whatever CPUs the node has.
// handle() is a pure function of the request; the contract is sdk/koordetector/plugin.h.
#include <koordetector/plugin.hpp>

#include <atomic>

using namespace koord::plugin;

namespace {

constexpr char kSettings[] = R"({
  "type": "object",
  "properties": {"threads": {"type": "integer", "minimum": 1, "maximum": 1024,
                             "description": "how many a best-effort container is to start"}},
  "additionalProperties": false
})";

struct Threads : RuntimeHook {
  void init() override { on_event(KOORD_ON_CONFIG, 0); }

  // At the start, and when an operator has changed the settings.
  void on_event(std::uint32_t what, std::uint64_t /*version*/) override {
    if (what == KOORD_ON_CONFIG) threads_ = Config(host()).i64("/threads").value_or(2);
  }

  // Called for each new container. Values set here go into the runtime's request.
  void handle(const koord_hook_request& request, const koord_hook_response& response) override {
    if (request.pod->kube_qos != KOORD_KUBE_QOS_BEST_EFFORT) return;
    const std::string threads = std::to_string(threads_);
    check(response.set(&response, str("env:OMP_NUM_THREADS"), str(threads)), "setting OMP_NUM_THREADS");
  }

  std::atomic<std::int64_t> threads_{2};  // handle() may run on several threads, and beside on_event()
};

}  // namespace

KOORD_PLUGIN("id=@ID@\n"
             "version=0.1.0\n"
             "kinds=koord.runtime-hook/1\n"
             "gate=@GATE@\n"
             "requires=koord.config/1\n"
             "description=few threads for best-effort pods\n",
             runtime_hook<Threads, KOORD_STAGE_PRE_CREATE_CONTAINER>("threads", 0, kSettings))
