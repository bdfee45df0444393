// @NAME@: gives pods with the label example.com/tier: interactive more CPU time under contention.
// handle() is a pure function of the request; the contract is sdk/koordetector/plugin.h.
#include <koordetector/plugin.hpp>

#include <atomic>

using namespace koord::plugin;

namespace {

constexpr char kSettings[] = R"({
  "type": "object",
  "properties": {"shares": {"type": "integer", "minimum": 2, "maximum": 262144,
                            "description": "CPU shares of a container of an interactive pod; usual are 1024 for a CPU"}},
  "additionalProperties": false
})";
constexpr std::int64_t kShares = 2048;

bool is_interactive(const koord_pod& pod) {
  for (const koord_label& label : Strided<koord_label>(pod.labels, pod.n_labels, pod.label_stride))
    if (view(label.key) == "example.com/tier") return view(label.value) == "interactive";
  return false;
}

struct Tiers : RuntimeHook {
  void init() override { on_event(KOORD_ON_CONFIG, 0); }

  // Called at start, and when an operator has changed the settings.
  void on_event(std::uint32_t what, std::uint64_t /*version*/) override {
    if (what == KOORD_ON_CONFIG) shares_ = Config(host()).i64("/shares").value_or(kShares);
  }

  // Called for each container. The agent keeps cgroup fields at the returned values later, too. An environment is set
  // only while a container is created.
  void handle(const koord_hook_request& request, const koord_hook_response& response) override {
    if (!is_interactive(*request.pod)) return;
    const std::string shares = std::to_string(shares_);
    check(response.set(&response, str("linux.cpu.shares"), str(shares)), "setting linux.cpu.shares");
    check(response.set(&response, str("env:POD_TIER"), str("interactive")), "setting POD_TIER");
  }

  std::atomic<std::int64_t> shares_{kShares};  // handle() may run on several threads, in parallel with on_event()
};

}  // namespace

KOORD_PLUGIN("id=@ID@\n"
             "version=0.1.0\n"
             "kinds=koord.runtime-hook/1\n"
             "gate=@GATE@\n"
             "requires=koord.config/1\n"
             "description=CPU shares of interactive pods\n",
             runtime_hook<Tiers, KOORD_STAGE_PRE_CREATE_CONTAINER>("tiers", 0, kSettings))
