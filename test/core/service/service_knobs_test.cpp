// SPDX-License-Identifier: Apache-2.0
#include "core/knob/composition.hpp"
#include "core/knob/knob_files.hpp"
#include "test/core/service/service_fixture.hpp"
#include "test/support/made_intent.hpp"

using namespace koord;
using namespace koord::test;
using namespace std::chrono_literals;

namespace {

struct Knobs : OnHost<koord_svc_knobs> {
  Knobs()
      : OnHost("koord.knobs/1", {{"cgroup/cgroup.controllers", "cpu memory cpuset\n"},
                                 {"cgroup/be.slice/cpu.max", "20000 100000\n"},
                                 {"cgroup/be.slice/cpuset.cpus", "0-3\n"}}) {}

  koord_intent intent(std::string_view knob = "cpu.max", std::string_view value = "20000 100000") const {
    koord_intent intent = {};
    intent.struct_size = sizeof intent;
    intent.level = KOORD_LEVEL_POD;
    intent.knob = str(knob);
    intent.cgroup_dir = str("be.slice");
    intent.value = str(value);
    intent.reason = str("the node is busy");
    intent.priority = 10;
    intent.ttl_ns = 60'000'000'000;
    return intent;
  }
  koord_status propose(const koord_intent& intent) { return service->propose(abi, &intent, 1, sizeof intent); }
  koord_status current(std::string_view knob, std::string_view dir, std::string* value) {
    char buf[64];
    std::uint64_t need = 0;
    koord_status status = service->current(abi, str(knob), str(dir), buf, sizeof buf, &need);
    if (status == KOORD_OK) value->assign(buf, need);
    return status;
  }
};

}  // namespace

TEST_CASE_FIXTURE(Knobs, "the proposals become the plan, word for word") {
  koord_intent proposal = intent();
  const koord_label input = label("node_cpu_usage", "7.3");
  proposal.inputs = &input;
  proposal.n_inputs = 1;
  proposal.input_stride = sizeof input;
  REQUIRE(propose(proposal) == KOORD_OK);
  const knob::Plan plan = host.context().take_plan();
  REQUIRE(plan.size() == 1);
  CHECK(plan[0].parsed.amount == 20000);  // parsed once: the governor uses this value
  knob::Intent expected = made_intent("cpu.max", "20000 100000");
  expected.level = decision::Level::pod;
  expected.cgroup_dir = "be.slice";
  expected.reason = "the node is busy";
  expected.inputs = {{"node_cpu_usage", "7.3"}};
  expected.priority = 10;
  expected.ttl = 1min;
  CHECK(plan[0] == expected);
}

TEST_CASE_FIXTURE(Knobs, "several proposals are one plan, which is taken once") {
  REQUIRE(propose(intent("cpu.max")) == KOORD_OK);
  REQUIRE(propose(intent("memory.high", "max")) == KOORD_OK);
  CHECK(host.context().take_plan().size() == 2);
  CHECK(host.context().take_plan().empty());
}

TEST_CASE_FIXTURE(Knobs, "the plan that was taken last is known again, whatever calls it comes by") {
  const koord_intent two[] = {intent("cpu.max"), intent("memory.high", "max")};
  REQUIRE(service->propose(abi, two, 2, sizeof two[0]) == KOORD_OK);
  CHECK_FALSE(host.context().repeats_plan());
  const knob::Plan plan = host.context().take_plan();
  REQUIRE(propose(two[0]) == KOORD_OK);
  CHECK_FALSE(host.context().repeats_plan());
  REQUIRE(propose(two[1]) == KOORD_OK);
  CHECK(host.context().repeats_plan());
  CHECK(host.context().take_plan() == plan);
}

TEST_CASE_FIXTURE(Knobs, "a plan is not repeated over one without proposals") {
  REQUIRE(propose(intent("cpu.max")) == KOORD_OK);
  CHECK(host.context().take_plan().size() == 1);
  CHECK(host.context().take_plan().empty());
  REQUIRE(propose(intent("cpu.max")) == KOORD_OK);
  CHECK_FALSE(host.context().repeats_plan());
  CHECK(host.context().take_plan().size() == 1);
}

TEST_CASE_FIXTURE(Knobs, "a plan that differs in a word, has more or less, or another order is another one") {
  const koord_label input = label("node_cpu_usage", "7.3");
  koord_intent with_input = intent();
  with_input.inputs = &input;
  with_input.n_inputs = 1;
  with_input.input_stride = sizeof input;
  const std::vector<koord_intent> plan{with_input, intent("memory.high", "max")};
  const auto is_another = [&](std::vector<koord_intent> changed) {
    for (const auto& intents : {plan, changed}) {
      host.context().take_plan();
      REQUIRE(service->propose(abi, intents.data(), static_cast<std::uint32_t>(intents.size()), sizeof(koord_intent)) ==
              KOORD_OK);
    }
    const bool repeats = host.context().repeats_plan();
    const knob::Plan taken = host.context().take_plan();
    REQUIRE(taken.size() == changed.size());
    for (std::size_t i = 0; i < changed.size(); ++i)
      CHECK(taken[i].reason == std::string(changed[i].reason.p, changed[i].reason.n));
    return !repeats;
  };
  CHECK_FALSE(is_another(plan));
  CHECK(is_another({plan[0]}));
  CHECK(is_another({plan[0], plan[1], plan[1]}));
  CHECK(is_another({plan[1], plan[0]}));
  const koord_label other = label("node_cpu_usage", "7.4");
  for (auto spoil :
       {+[](koord_intent& i) { i.reason = str("the node is idle"); }, +[](koord_intent& i) { i.ttl_ns += 1; },
        +[](koord_intent& i) { i.priority = 3; }, +[](koord_intent& i) { i.n_inputs = 0; },
        +[](koord_intent& i) { i.value = str("30000 100000"); },
        +[](koord_intent& i) { i.level = KOORD_LEVEL_CONTAINER; }, +[](koord_intent& i) { i.role = KOORD_ROLE_CAP; }}) {
    std::vector<koord_intent> changed = plan;
    spoil(changed[0]);
    CHECK(is_another(changed));
  }
  std::vector<koord_intent> changed = plan;
  changed[0].inputs = &other;
  CHECK(is_another(changed));
}

TEST_CASE_FIXTURE(Knobs, "one bad intent refuses its whole call, by its number") {
  const koord_intent two[] = {intent(), intent("cpu.maxx")};
  CHECK(service->propose(abi, two, 2, sizeof two[0]) == KOORD_E_INVALID);
  CHECK(host.last_error() == "intent 1: 'cpu.maxx' is not a knob, did you mean 'cpu.max'?");
  CHECK(host.context().take_plan().empty());
}

TEST_CASE_FIXTURE(Knobs, "an intent says where, what, why and for how long") {
  for (auto spoil :
       {+[](koord_intent& i) { i.level = 4; }, +[](koord_intent& i) { i.knob = {}; },
        +[](koord_intent& i) { i.value = {}; }, +[](koord_intent& i) { i.reason = {}; },
        +[](koord_intent& i) { i.reason = str("no \xff text"); }, +[](koord_intent& i) { i.ttl_ns = 0; },
        +[](koord_intent& i) { i.cgroup_dir = str("../x"); }, +[](koord_intent& i) { i.cgroup_dir = str("be.slice/"); },
        +[](koord_intent& i) { i.value = str("20%"); }, +[](koord_intent& i) { i.n_inputs = 1; }}) {
    koord_intent bad = intent();
    spoil(bad);
    CHECK(propose(bad) == KOORD_E_INVALID);
  }
}

TEST_CASE_FIXTURE(Knobs, "a knob of the node is of no cgroup, and a knob of a cgroup not of the node") {
  koord_intent of_node = intent("vm.min_free_kbytes", "90000");
  of_node.level = KOORD_LEVEL_NODE;
  of_node.cgroup_dir = {};
  CHECK(propose(of_node) == KOORD_OK);
  of_node.cgroup_dir = str("be.slice");
  CHECK(propose(of_node) == KOORD_E_INVALID);
  CHECK(host.last_error() ==
        "intent 0: 'vm.min_free_kbytes' is a knob of the node: the level is to be the node, and cgroup_dir empty");
  koord_intent of_cgroup = intent();
  of_cgroup.level = KOORD_LEVEL_NODE;
  CHECK(propose(of_cgroup) == KOORD_E_INVALID);
}

TEST_CASE_FIXTURE(Knobs, "an intent of a plugin from before roles is a set") {
  koord_intent old = intent();
  old.struct_size = offsetof(koord_intent, role);
  old.role = KOORD_ROLE_CAP;  // after the end of the old record
  REQUIRE(service->propose(abi, &old, 1, offsetof(koord_intent, role)) == KOORD_OK);
  CHECK(host.context().take_plan().at(0).role == decision::Role::set);
}

TEST_CASE_FIXTURE(Knobs, "a scale is a factor above 0 and at most 1000") {
  koord_intent scale = intent("cpu.max", "1.5");
  scale.role = KOORD_ROLE_SCALE;
  CHECK(propose(scale) == KOORD_OK);
  CHECK(host.context().take_plan().at(0).role == decision::Role::scale);
  for (const char* bad : {"0", "-1", "1000.5", "nan", "x", "20000 100000"}) {
    scale.value = str(bad);
    CHECK(propose(scale) == KOORD_E_INVALID);
  }
  CHECK(
      host.last_error() ==
      "intent 0: the scale of cpu.max is '20000 100000', expected a decimal factor above 0 and at most 1000, such as 1.5");
}

TEST_CASE_FIXTURE(Knobs, "a role that a knob does not take is refused with those that it takes") {
  koord_intent wrong = intent("cpuset.cpus", "2");
  wrong.role = KOORD_ROLE_SCALE;
  CHECK(propose(wrong) == KOORD_E_INVALID);
  CHECK(host.last_error() == "intent 0: 'cpuset.cpus' takes no scale, expected one of: set, base, cap");
  wrong = intent("cpu.idle", "1");
  wrong.role = KOORD_ROLE_CAP;
  CHECK(propose(wrong) == KOORD_E_INVALID);
  CHECK(host.last_error() == "intent 0: 'cpu.idle' takes no cap, expected one of: set, base");
  wrong = intent("memory.reclaim", "4096");
  wrong.role = KOORD_ROLE_BASE;
  CHECK(propose(wrong) == KOORD_E_INVALID);
  CHECK(host.last_error() == "intent 0: 'memory.reclaim' takes no base, expected one of: set");
  wrong = intent();
  wrong.role = 5;
  CHECK(propose(wrong) == KOORD_E_INVALID);
  CHECK(host.last_error() == "intent 0: role is 5, expected a KOORD_ROLE_*");
  wrong = intent();
  wrong.rsv = 1;
  CHECK(propose(wrong) == KOORD_E_TOO_NEW);
}

TEST_CASE_FIXTURE(Knobs, "only the resctrl group of all others has no name") {
  CHECK(propose(intent("resctrl.group", "")) == KOORD_OK);
  CHECK(propose(intent("resctrl.group", "koord-be")) == KOORD_OK);
  CHECK(propose(intent("io.max", "8:16 rbps=1048576")) == KOORD_OK);
  CHECK(propose(intent("memory.reclaim", "1048576")) == KOORD_OK);
}

TEST_CASE_FIXTURE(Knobs, "an intent of a newer plugin that uses what we do not know is too new") {
  struct Newer {
    koord_intent intent;
    std::uint64_t more;
  } newer{intent(), 0};
  newer.intent.struct_size = sizeof newer;
  CHECK(service->propose(abi, &newer.intent, 1, sizeof newer) == KOORD_OK);
  newer.more = 1;
  CHECK(service->propose(abi, &newer.intent, 1, sizeof newer) == KOORD_E_TOO_NEW);
}

TEST_CASE_FIXTURE(Knobs, "a plan that grows without end is cut off") {
  const std::vector<koord_intent> many(service::PluginContext::kMaxPlan, intent());
  const auto n = static_cast<std::uint32_t>(many.size());
  CHECK(service->propose(abi, many.data(), n, sizeof(koord_intent)) == KOORD_OK);
  CHECK(propose(intent()) == KOORD_E_AGAIN);
}

TEST_CASE_FIXTURE(Knobs, "the current value is the kernel's") {
  std::string value;
  REQUIRE(current("cpu.max", "be.slice", &value) == KOORD_OK);
  CHECK(value == "20000 100000");
  REQUIRE(current("cpuset.cpus", "be.slice", &value) == KOORD_OK);
  CHECK(value == "0-3");
}

TEST_CASE_FIXTURE(Knobs, "the base of a knob is that of the governor; without a governor it is the kernel's value") {
  char buf[64];
  std::uint64_t need = 0;
  REQUIRE(service->base(abi, str("cpu.max"), str("be.slice"), buf, sizeof buf, &need) == KOORD_OK);
  CHECK(std::string(buf, need) == "20000 100000");
  host.services().knob_base = [](std::string_view knob, std::string_view dir) -> Result<std::string> {
    if (dir != "be.slice") return invalid("no such cgroup");
    return std::string(knob) + " of " + std::string(dir);
  };
  REQUIRE(service->base(abi, str("cpu.max"), str("be.slice"), buf, sizeof buf, &need) == KOORD_OK);
  CHECK(std::string(buf, need) == "cpu.max of be.slice");
  CHECK(service->base(abi, str("cpu.max"), str("other"), buf, sizeof buf, &need) == KOORD_E_INVALID);
}

TEST_CASE_FIXTURE(Knobs, "no value is returned for an ended cgroup, a missing file or an unknown knob") {
  std::string value;
  CHECK(current("cpu.max", "nowhere.slice", &value) == KOORD_E_GONE);
  CHECK(current("memory.high", "be.slice", &value) == KOORD_E_UNSUPPORTED);
  CHECK(current("cpu.maxx", "be.slice", &value) == KOORD_E_INVALID);
  CHECK(current("cpu.max", "../x", &value) == KOORD_E_INVALID);
}

TEST_CASE("on cgroup v1 a value is returned in the form of v2") {
  OnHost<koord_svc_knobs> on("koord.knobs/1", {{"cgroup/cpu/be/cpu.cfs_quota_us", "-1\n"},
                                               {"cgroup/cpu/be/cpu.cfs_period_us", "100000\n"},
                                               {"cgroup/memory/be/memory.limit_in_bytes", "4096\n"}});
  const knob::KnobFiles files(on.host.services().cgroups.layout(), on.host.services().roots);
  CHECK(*knob::read_knob(files, "cpu.max", "be") == "max 100000");
  CHECK(*knob::read_knob(files, "memory.max", "be") == "4096");
  CHECK(knob::read_knob(files, "memory.high", "be").error().is(std::errc::not_supported));
}

namespace {

struct ForeignKnobs : Knobs {
  std::unique_ptr<service::PluginContext> other;
  std::string why;

  void grant(std::vector<std::string> cgroups) {
    state::Pod pod, nameless;
    pod.uid = "1";
    pod.cgroup_dir = "kubepods.slice/kubepods-pod1.slice";
    nameless.uid = "2";
    host.hub().publish({.pods = std::vector{pod, nameless}});
    other.reset();
    other = std::make_unique<service::PluginContext>(
        host.services(), "com.acme.x", std::set<std::string>{"koord.knobs/1"}, "{}",
        service::Rights{.host_plugin = false, .files = {}, .cgroups = std::move(cgroups)});
  }
  koord_status propose_for(std::string_view cgroup_dir) {
    koord_intent one = intent();
    one.cgroup_dir = str(cgroup_dir);
    const koord_status status = service->propose(other->host(), &one, 1, sizeof one);
    const auto error = other->take_error();
    why = error ? error->text : "";
    return status;
  }
};

}  // namespace

TEST_CASE_FIXTURE(ForeignKnobs, "a third party's strategy proposes for pods and what is below them") {
  grant({});
  CHECK(propose_for("kubepods.slice/kubepods-pod1.slice") == KOORD_OK);
  CHECK(propose_for("kubepods.slice/kubepods-pod1.slice/cri-containerd-x.scope/inner") == KOORD_OK);
  CHECK(other->take_plan().size() == 2);
}

TEST_CASE_FIXTURE(ForeignKnobs, "any other cgroup is refused, and the refusal names it and the grant") {
  grant({});
  for (const char* dir :
       {"system.slice/koordetector.service", "kubepods.slice", "kubepods.slice/kubepods-pod1.slice-not",
        "koordetector/plugins/com.acme.other", "be.slice"}) {
    CAPTURE(dir);
    CHECK(propose_for(dir) == KOORD_E_DENIED);
    CHECK(why == "intent 0: cgroup_dir is '" + std::string(dir) +
                     "', which is no cgroup of a pod; plugins.settings.com.acme.x.cgroups: [" + dir + "] allows it");
  }
  CHECK(other->take_plan().empty());
}

TEST_CASE_FIXTURE(ForeignKnobs, "a cgroup that the configuration grants is allowed with all below it") {
  grant({"acme.slice"});
  CHECK(propose_for("acme.slice") == KOORD_OK);
  CHECK(propose_for("acme.slice/inner") == KOORD_OK);
  CHECK(propose_for("acme.slice2") == KOORD_E_DENIED);
}

TEST_CASE_FIXTURE(ForeignKnobs, "the texts of a plan are bounded") {
  grant({"acme.slice"});
  const std::string reason(4000, 'x');
  koord_intent one = intent();
  one.cgroup_dir = str("acme.slice");
  one.reason = str(reason);
  const std::vector<koord_intent> many(2000, one);
  CHECK(service->propose(other->host(), many.data(), 2000, sizeof one) == KOORD_E_AGAIN);
  CHECK(other->take_error()->text == "the texts of the plan have more than 4194304 bytes");
  CHECK(other->meter()->breaches.newest(host.clock().now()) == "the texts of the plan have more than 4194304 bytes");
  CHECK(propose_for("acme.slice") == KOORD_OK);
}
