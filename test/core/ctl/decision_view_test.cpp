// SPDX-License-Identifier: Apache-2.0
#include "core/ctl/decision_view.hpp"

#include <doctest/doctest.h>

using namespace koord;
using namespace koord::ctl;

namespace {

constexpr const char* kWhy =
    R"({"pod":{"uid":"u1","namespace":"shop","name":"web","cgroup":"kube/podu1","qosClass":"LS","handsOff":"memory.high"},"nodeHandsOff":false,)"
    R"("knobs":[{"cgroup":"kube/podu1/app","level":"container","container":"app","knob":"cpu.max","held":true,"value":"20000 100000",)"
    R"("original":"max 100000","holder":"burst","composition":"cpu.max 20000 100000 = base 10000 (limit 100m) × 2 (burst), no cap","intents":[)"
    R"({"plugin":"burst","mode":"enforce","wanted":"20000 100000","reason":"it is throttled","inputs":{"throttled":"0.3"},"result":"applied","winner":"burst"},)"
    R"({"plugin":"mild","mode":"enforce","role":"cap","wanted":"30000 100000","reason":"it may","inputs":{},"result":"lost","winner":"burst"},)"
    R"({"plugin":"watcher","mode":"shadow","wanted":"10000 100000","reason":"it would","inputs":{},"result":"shadow","winner":"watcher"}]},)"
    R"({"cgroup":"kube","level":"qos","knob":"cpu.max","held":false,"problem":"no such file","intents":[]}],)"
    R"("decisions":[{"number":7,"time":1790000000,"plugin":"burst","knob":"cpu.max","cgroup":"kube/podu1/app","before":"max 100000",)"
    R"("role":"scale","wanted":"2","composition":"cpu.max 20000 100000 = base 10000 × 2 (burst), no cap",)"
    R"("result":"failed","problem":"Invalid argument","reason":"it is throttled"},)"
    R"({"number":8,"time":1790000000,"plugin":"memory-evict","kind":"eviction","result":"refused","reason":"memory is short"}],)"
    R"("evictions":[{"number":8,"time":1790000000,"plugin":"memory-evict","kind":"eviction","result":"refused","problem":"a budget forbids it",)"
    R"("reason":"memory is short"}],"events":[{"time":1790000000,"plugin":"","what":"evicted","why":"memory is short"}]})";

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Removes the padding of columns from lines.
std::string squeezed(const std::string& text) {
  std::string out;
  for (char c : text)
    if (c != ' ' || out.empty() || out.back() != ' ') out += c;
  return out;
}

std::string shown(Result<std::string> rendered) {
  REQUIRE_MESSAGE(rendered, rendered.error().message());
  return squeezed(*rendered);
}

}  // namespace

TEST_CASE(
    "koordctl why shows value, original, holder, the parts of the value, and each intent with its result and reason") {
  const std::string text = shown(render_why(kWhy));
  INFO(text);
  for (const char* part :
       {"shop/web, LS, in kube/podu1\n", "The pod says hands off: memory.high\n",
        "app cpu.max 20000 100000 max 100000 burst burst 20000 100000 applied it is throttled (throttled=0.3)\n",
        "mild cap 30000 100000 lost to burst it may\n", "watcher 10000 100000 shadow it would\n",
        "class kube cpu.max no such file - - - - - -\n",
        "max 100000 scale 2 failed: Invalid argument it is throttled base 10000 × 2 (burst), no cap\n",
        "\nComposed values:\n app: cpu.max 20000 100000 = base 10000 (limit 100m) × 2 (burst), no cap\n",
        "Considered for eviction:\nNUMBER TIME STRATEGY RESULT WHY\n",
        "memory-evict refused: a budget forbids it memory is short\n", "host evicted memory is short\n"}) {
    CAPTURE(part);
    CHECK(has(text, part));
  }
  CHECK(text.find("memory-evict") == text.rfind("memory-evict"));  // an eviction is only in its own table
}

TEST_CASE("koordctl why says that no strategy manages a pod, and shows the records of a pod that has ended") {
  CHECK(
      has(shown(render_why(R"({"pod":{"namespace":"a","name":"b"},"knobs":[]})")), "No strategy manages this pod.\n"));
  CHECK(has(shown(render_why(R"({"pod":{"namespace":"a","name":"b","ended":true},"nodeHandsOff":true})")),
            "a/b, has ended\nAll strategies of the node are switched off"));
}

TEST_CASE("koordctl why names the parts of a hands-off annotation that have no effect") {
  const auto head = [](const std::string& pod) {
    return shown(render_why(R"({"pod":{"namespace":"a","name":"b",)" + pod + "}}"));
  };
  CHECK(has(head(R"("handsOff":"yes","handsOffUnknown":["yes"])"),
            "The pod says hands off: 'yes', which is neither \"true\", a knob nor a strategy: ignored\n"));
  CHECK(has(head(R"("handsOff":"cpu.mx, cpu.max.burst","handsOffUnknown":["cpu.mx"])"),
            "The pod says hands off: cpu.mx, cpu.max.burst; 'cpu.mx' is neither a knob nor a strategy: ignored\n"));
  CHECK(has(head(R"("handsOff":"true","handsOffUnknown":[])"), "The pod says hands off: true\n"));
}

TEST_CASE("koordctl why says of a cap that is applied and does not bind that the value is already lower") {
  const auto row = [](const std::string& value, const std::string& part, const std::string& knob = "cpu.max") {
    const std::string head = R"({"knobs":[{"cgroup":"be","knob":")" + knob + R"(","value":")" + value +
                             R"(","composition":")" + knob + " " + value;
    const std::string base =
        R"j( = original 1, cap 2 (suppress)","parts":[{"role":"base","value":")j" + value + R"("},)";
    const std::string cap = R"({"role":"cap","plugin":"suppress","source":"",)" + part + R"(}],)";
    return shown(render_knobs(head + base + cap +
                              R"("intents":[{"plugin":"suppress","role":"cap","wanted":"w","reason":"it is busy",)"
                              R"("inputs":{"usage":"1"},"result":"applied"}]}]})"));
  };
  CHECK(has(row("60000 100000", R"("value":"100000 100000","binds":false)"),
            "applied it is busy (usage=1); the value is already lower\n"));
  CHECK(has(row("0-1", R"("value":"0-3","binds":false)", "cpuset.cpus"),
            "applied it is busy (usage=1); the set is already smaller\n"));
  CHECK(has(row("100000 100000", R"("value":"100000 100000","binds":false)"), "applied it is busy (usage=1)\n"));
  CHECK(has(row("60000 100000", R"("value":"60000 100000","binds":true)"), "applied it is busy (usage=1)\n"));
}

TEST_CASE("koordctl why and decisions show the answers of hooks: requested, answered and given value, mode, result") {
  const std::string answers =
      R"([{"number":3,"time":1790000000,"kind":"hook","plugin":"hook-batch","knob":"linux.cpu.quota","level":"container",)"
      R"("container":"main","before":"100000","wanted":"0.8","role":"scale","after":"80000","result":"applied",)"
      R"j("composition":"linux.cpu.quota 80000 = 100000 (requested) × 0.8 (hook-batch)",)j"
      R"("inputs":{"stage":"PreCreateContainer","asked by":"NRI","mode":"enforce"}},)"
      R"({"number":4,"time":1790000000,"kind":"hook","plugin":"hook-gpu","level":"container","container":"main",)"
      R"("result":"refused","reason":"no device","inputs":{"stage":"PreCreateContainer","mode":"enforce"}}])";
  const std::string why = shown(render_why(R"({"pod":{"namespace":"a","name":"b"},"hooks":)" + answers + "}"));
  INFO(why);
  CHECK(has(why, "hook-batch PreCreateContainer main linux.cpu.quota 100000 scale 0.8 80000 enforce applied 100000 "
                 "(requested) × 0.8 (hook-batch)\n"));
  CHECK(has(why, "hook-gpu PreCreateContainer main - - - - enforce refused no device\n"));
  const std::string decisions = shown(render_decisions(R"({"decisions":)" + answers + "}"));
  INFO(decisions);
  CHECK(has(decisions, "applied (stage=PreCreateContainer, asked by=NRI, mode=enforce) 100000 (requested)"));
  CHECK(has(decisions, "hook - - refused no device (stage=PreCreateContainer, mode=enforce)"));
}

TEST_CASE("koordctl decisions says so where no decision matches") {
  CHECK(shown(render_decisions(R"({"decisions":[]})")) == "no decision matches\n");
}

TEST_CASE("koordctl knobs has a row for each intent, and what is known of the knob in the first of them") {
  const std::string text = shown(render_knobs(
      R"({"knobs":[{"cgroup":"","level":"node","knob":"vm.min_free_kbytes","held":true,"value":"1","original":"2",)"
      R"("holder":"","intents":[]},{"cgroup":"a","knob":"k","held":false,"value":"v","intents":[{"plugin":"p"},{"plugin":"q"}]}]})"));
  INFO(text);
  CHECK(has(text, "node vm.min_free_kbytes 1 2 - - - - -\n"));
  CHECK(has(text, "a k v - - p - - -\n q - - -\n"));
}

TEST_CASE("koordctl knobs and why have a line for each knob with a failed revert, with plugin, original and error") {
  const std::string knob =
      R"({"cgroup":"be","level":"qos","knob":"cpu.max","held":true,"value":"2 100","original":"max 100","holder":"suppress",)"
      R"("revertProblem":"cannot write 'max 100' to '/sys/be/cpu.max': Permission denied","intents":[]})";
  const std::string knobs = shown(render_knobs(R"({"knobs":[)" + knob + "]}"));
  const std::string why = shown(render_why(R"({"pod":{"namespace":"a","name":"b"},"knobs":[)" + knob + "]}"));
  const std::string error =
      "cpu.max of suppress to 'max 100': cannot write 'max 100' to '/sys/be/cpu.max': Permission denied\n";
  CHECK_MESSAGE(has(knobs, "\nReverts that failed, tried again each second:\n be: " + error), knobs);
  CHECK_MESSAGE(has(why, "\nReverts that failed, tried again each second:\n class be: " + error), why);
}

TEST_CASE("a control character of a plugin's text reaches no terminal, outside of a table neither") {
  const std::string knobs =
      R"({"knobs":[{"cgroup":"be","level":"qos","knob":"cpu.max","holder":"x","composition":"1\u009b2J","revertProblem":"a\u001b[2Jb",)"
      R"("intents":[]}]})";
  const std::string text = shown(render_knobs(knobs));
  CHECK_MESSAGE(has(text, "be: 1?2J\n"), text);
  CHECK_MESSAGE(has(text, ": a?[2Jb\n"), text);
}

TEST_CASE("koordctl decisions says how to list older ones, and that the disk is unavailable") {
  const std::string text = shown(render_decisions(
      R"({"decisions":[{"number":12,"time":1790000000,"pod":{"uid":"u","namespace":"shop","name":"web"},)"
      R"("container":"app","result":"lost","winner":"x"}],"before":12,"problem":"disk full"})"));
  INFO(text);
  CHECK(has(text, "shop/web/app"));
  CHECK(has(text, "lost to x"));
  CHECK(has(text, "--before 12\n"));
  CHECK(has(text, "disk full\n"));
}

TEST_CASE("koordctl mode shows the effective mode, its source and its end") {
  const std::string text = shown(render_modes(
      R"({"modes":[{"target":"node","mode":"shadow","configured":"shadow"},)"
      R"j({"target":"burst","mode":"enforce","override":"enforce","until":1790000000,"by":"operator uid 0 pid 7 (koordctl)"},)j"
      R"({"target":"x","mode":"shadow"}]})"));
  INFO(text);
  CHECK(has(text, "node shadow shadow configuration -\n"));
  CHECK(has(text, "burst enforce - operator uid 0 pid 7 (koordctl) 2026-09-21 14:13:20\n"));
  CHECK(has(text, "x shadow - node -\n"));
}

TEST_CASE("koordctl mode names the node's ceiling as the source of a mode that it lowers, with the ceiling's end") {
  const std::string node =
      R"j({"target":"node","mode":"shadow","configured":"enforce","override":"shadow","until":1790000000,"by":"operator uid 0"},)j";
  const std::string text = shown(render_modes(
      R"({"modes":[)" + node +
      R"({"target":"burst","mode":"shadow","override":"enforce","until":1790009999,"by":"operator uid 0"},)"
      R"({"target":"own","mode":"shadow","configured":"enforce"},{"target":"any","mode":"shadow"},)"
      R"({"target":"shy","mode":"off","configured":"off"}]})"));
  INFO(text);
  CHECK(has(text, "node shadow enforce operator uid 0 2026-09-21 14:13:20\n"));
  CHECK(has(text, "burst shadow - node (ceiling) 2026-09-21 14:13:20\n"));
  CHECK(has(text, "own shadow enforce node (ceiling) 2026-09-21 14:13:20\n"));
  CHECK(has(text, "any shadow - node (ceiling) 2026-09-21 14:13:20\n"));
  CHECK(has(text, "shy off off configuration -\n"));
}

TEST_CASE("an override without an end holds until it is lifted") {
  const std::string text =
      shown(render_modes(R"({"modes":[{"target":"node","mode":"shadow","override":"shadow","by":"operator uid 0"}]})"));
  CHECK_MESSAGE(has(text, "node shadow - operator uid 0 until lifted\n"), text);
}

TEST_CASE("koordctl mode says of a strategy that does not run what it is in place of that") {
  const std::string text = shown(render_modes(
      R"({"modes":[{"target":"x","mode":"shadow","state":"disabled"},{"target":"y","mode":"shadow","state":"running"}]})"));
  INFO(text);
  CHECK(has(text, "x shadow (disabled) - node -\n"));
  CHECK(has(text, "y shadow - node -\n"));
}

TEST_CASE("koordctl mode shows that no pod is evicted now, in whatever mode") {
  CHECK(has(shown(render_modes(R"({"modes":[],"evictions":"too many pods were picked"})")),
            "\nEvictions, whatever the mode: too many pods were picked\n"));
  CHECK_FALSE(has(shown(render_modes(R"({"modes":[]})")), "Evictions"));
}

TEST_CASE("an override is confirmed, and also that a ceiling lowers it") {
  CHECK(shown(render_mode(R"({"target":"burst","mode":"enforce","override":"enforce","until":1790000000})")) ==
        "burst is in enforce until 2026-09-21 14:13:20\n");
  CHECK(has(shown(render_mode(R"({"target":"burst","mode":"off","override":"enforce","until":1790000000})")),
            "the node has a mode below 'enforce'"));
}

TEST_CASE("answers with members of other types are tables without them, ones that are no object errors") {
  for (auto render : {render_decisions, render_knobs, render_why, render_modes}) {
    CHECK(render(R"({"knobs":7,"decisions":[3],"modes":["x"],"pod":[],"events":{}})"));
    CHECK_FALSE(render("[]"));
  }
}
