// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "core/workshop/check/file_rules.hpp"
#include "core/workshop/check/load_rules.hpp"
#include "core/workshop/check/rule.hpp"
#include "core/workshop/check/service_rules.hpp"
#include "core/workshop/check/session_rules.hpp"

namespace koord::check {
namespace {

using enum Severity;
using Group = Rule::Group;

// Rule numbers never change. So a removed rule leaves a gap, and a new rule is added at the end of its group's ten.
// clang-format off
constexpr std::array kRules = {
    Rule{1, error, Group::file, "exports only koord_entry_v1", R"(
The dynamic symbol table defines one function, koord_entry_v1, and nothing else. Every other symbol is a name that
another library of the process can take over, or that takes over one of another library.
Fix: link with the version script that `pkg-config --libs koordetector-plugin` names, and, with static
libraries, -Wl,--exclude-libs,ALL. `nm -D --defined-only FILE` shows what is exported.)", exports_its_entry_alone},
    Rule{2, error, Group::file, "has no GNU_UNIQUE symbols", R"(
A GNU_UNIQUE symbol exists once in a process, whatever plugin it is in: two plugins that were built with two versions
of a header then share one inline variable, with the layout of the plugin loaded first.
Fix: compile C++ with -fno-gnu-unique. `nm FILE` marks them with a small u.)", has_no_unique_symbols},
    Rule{3, refused, Group::gate, "finds every symbol in the libraries it needs", R"(
Each undefined symbol must be in one of the libraries that the file names as needed (DT_NEEDED), and these must be on
the machine. A plugin cannot use symbols of the agent, which exports none. A missing symbol makes the load fail.
Fix: link with -Wl,-z,defs, which reports it at link time, and name the library that has the symbol.)", finds_every_symbol},
    Rule{4, warning, Group::file, "runs with the C library of the oldest system", R"(
Versions of GLIBC, GLIBCXX and CXXABI symbols are at most those of the oldest system that the plugin is to run on:
by default Debian 12's, others by --glibc, --glibcxx and --cxxabi. On an older system the load would fail.
Fix: build on the oldest system, link C++ with -static-libstdc++ -static-libgcc; the detail names a symbol that
brings the version in.)", runs_on_the_oldest_system},
    Rule{5, error, Group::file, "has no text relocations", R"(
The loader would have to make the code writable to adapt it to its address. Hardened kernels refuse that, and the
pages are no longer shared.
Fix: compile everything that goes in with -fPIC, assembler sources too.)", has_no_text_relocations},
    Rule{6, error, Group::file, "needs no executable stack", R"(
One such file makes the stacks of the whole process executable. It comes from nested functions in C, or from an
assembler source without the section .note.GNU-stack.
Fix: link with -Wl,-z,noexecstack after removing the cause.)", has_no_executable_stack},
    Rule{7, error, Group::file, "is bound when it is loaded", R"(
With -z now the load detects a missing symbol, not the first call of it. With -z relro the tables of addresses
cannot be overwritten afterwards.
Fix: link with `pkg-config --libs koordetector-plugin`, or -Wl,-z,now -Wl,-z,relro.)", is_bound_at_load},
    Rule{8, error, Group::file, "has no search path for libraries", R"(
A run path (DT_RUNPATH, DT_RPATH) names folders of the machine on which the plugin was built. On another machine
any user with write access to them decides which code the agent runs.
Fix: no -Wl,-rpath; link your own libraries statically.)", brings_no_search_path},
    Rule{9, refused, Group::gate, "has a valid manifest", R"(
The section .koord_manifest holds the text that plugin.h describes at koord_entry_v1(): the host decides by it before
it runs any code of the file, so id, version, abi, kinds and gate must be there and of this host's ABI.
Fix: the detail names the expected and the found text; `koordctl plugin info FILE` shows the parsed manifest.)", has_a_manifest},
    Rule{10, error, Group::file, "can unwind a Rust panic", R"(
With panic=abort a panic in the plugin ends the whole process, where unwinding makes it KOORD_E_PANIC with its text.
The rule looks for data that only unwinding code needs, in files made by rustc.
Fix: no `panic = "abort"` in the profile, no -C panic=abort; the binding refuses to compile with it.)", unwinds_its_panics},

    Rule{11, refused, Group::gate, "loads, and its tables are valid", R"(
The file can be mapped, its constructors return, koord_entry_v1() gives a module with the right magic, sizes, kinds
and required functions. An agent checks the same.
Fix: the detail is the agent's own; constructors of a plugin should do nothing at all.)", loads},
    Rule{12, refused, Group::gate, "has the same manifest in its module as in its file", R"(
koord_module.manifest must point to the text in the section .koord_manifest: the host decides by the section's text,
and the module must not run with another one.
Fix: use one array for both, as KOORD_PLUGIN() and the bindings do.)", has_the_manifest_of_its_file},
    Rule{13, error, Group::session, "returns the same module at each call", R"(
koord_entry_v1() returns a static table, does no work and may be called any number of times, also by tools.
Fix: return the address of a constant.)", gives_one_module},
    Rule{14, error, Group::session, "leaves the process as it was", R"(
Signal handlers and masks, working directory, environment, locale and umask belong to the agent and to all plugins
in it; loading starts no thread and opens nothing either. SIGPIPE is the usual one: the agent ignores it already.
Plugins with the runtimes go, jvm and python always have a process of their own: their changes are reported and are no
failure.
Fix: use per-call settings (MSG_NOSIGNAL, openat(), newlocale()) instead of changing the process.)", leaves_the_process_as_it_was},

    Rule{21, error, Group::session, "works on a host without faults", R"(
The trial calls create, init, some ticks and events, stop and destroy, with all services and three pods on the node.
init() must return KOORD_OK, or KOORD_E_UNSUPPORTED if the machine lacks a feature, and a tick must succeed. Other
returns are those of plugin.h. The trial reads this machine's proc, sys and cgroups.
Fix: the detail is the plugin's own error text. --set passes configuration to the plugin.)", sessions},
    Rule{22, error, Group::session, "returns from run() after the stop signal", R"(
After stop() was called and koord_stop fired, run() has 5 s to return. The agent would wait for it, then abandon the
thread; a process of its own is killed.
Fix: wait with koord_stop.wait(), or poll() koord_stop.fd beside your own descriptors; no endless blocking call.)", ends_its_run},
    Rule{23, error, Group::session, "leaks no descriptor", R"(
A hundred sessions of create, init, a tick, stop, destroy must leave the number of open descriptors unchanged. An agent
that restarts a failing plugin all night would otherwise run out of them.
Fix: close all descriptors of init() in destroy(), also after init() has failed half way.)", leaks_no_descriptors},
    Rule{24, error, Group::session, "leaks no thread", R"(
All threads of an instance must be joined when destroy() returns; a hundred sessions leave none behind.
Fix: pthread_join() in stop() or destroy(); no detached threads. Code that waits for events can use run().)", leaks_no_threads},
    Rule{25, error, Group::session, "leaks no memory", R"(
A hundred sessions leave neither more memory on the heap of malloc() nor more mappings. Each side frees its own
allocations; those of the services do not count.
Fix: free all allocations of create() and init() in destroy(), also after init() has failed half way.)", leaks_no_memory},
    Rule{26, error, Group::session, "shares nothing between instances", R"(
There may be several instances at once, each with its own host, configuration and thread. An instance that calls the
host of another, or stops working when the other ends, has static data that belongs into the instance.
Fix: keep all mutable data in the object that create() makes.)", shares_nothing_between_instances},
    Rule{27, error, Group::session, "calls the host only where allowed", R"(
No service in create(); set_error() only on the thread of the call that returns the status; propose() and request()
only inside evaluate(), which makes one plan of them. Other calls have undefined results.
Fix: get services in init(). Report the findings of other threads in the next call.)", calls_where_it_may},
    Rule{28, error, Group::session, "makes no call after destroy()", R"(
When destroy() has returned, the host of the instance is gone: a call through it would touch freed memory.
Fix: stop timers and threads before destroy() returns; keep no host in a static variable.)", is_silent_after_destroy},

    Rule{41, error, Group::session, "refuses to start without a required service", R"(
Each service in `requires` is left out in turn: init() must return a failure, best KOORD_E_UNSUPPORTED, without a
crash. An agent checks `requires` before, but another version or an operator may withdraw a service.
Fix: compare the result of get_service() with NULL, and name the missing service by set_error().)", refuses_without_a_required_service},
    Rule{42, error, Group::session, "works without an optional service", R"(
Each service in `optional` is left out in turn, and the plugin must still work, possibly with fewer functions.
Fix: check KOORD_HAS() before each use, or move the service to `requires`.)", does_without_optional_services},
    Rule{43, error, Group::session, "survives failing services", R"(
Every call that can fail answers KOORD_E_AGAIN, then KOORD_E_DENIED, then KOORD_E_DEADLINE, from the beginning and
from after init() on. The plugin may return any status, but it must not crash or hang. A failed call fills in no
result.
Fix: check every status before using the result.)", stands_failing_services},
    Rule{44, error, Group::session, "survives answers that are longer than announced", R"(
A text may grow between the call for its length and the call for the text, so KOORD_E_TOO_SMALL may come again, and
*need may exceed the buffer.
Fix: call in a loop, and use *need as a length only after KOORD_OK.)", stands_growing_answers},
    Rule{45, error, Group::session, "survives jumps of time", R"(
Two ticks may have the same time, a day may pass between two on a suspended machine, and wall time may be set.
Fix: skip rates over an empty interval; compute intervals from host time, never from wall time.)", stands_jumps_of_time},
    Rule{46, error, Group::session, "survives any number of pods", R"(
No pod, 5000, one, none again, without an event in between.
Fix: size your tables by the current pods; drop the subjects that answer KOORD_E_GONE.)", stands_any_number_of_pods},
    Rule{47, error, Group::session, "refuses tables without the members it needs", R"(
The services exist, but struct_size ends behind the header, and so does the memory. init() must refuse, and must not
read on.
Fix: KOORD_HAS(table, member) for every member you use, once, in init(). The bindings do it.)", refuses_cut_tables},
    Rule{48, error, Group::session, "takes tables of a newer host", R"(
The tables are longer than in this plugin.h, with unknown members. The plugin must work as before.
Fix: compare struct_size with `>=` a member's end, never with `==` your sizeof; copy no table.)", takes_grown_tables},
    Rule{49, error, Group::session, "steps through arrays by the stride", R"(
Pods, containers and resources are further apart than their sizeof, as those of a newer host, and the gaps are not
zero.
Fix: (const char *)first + i * stride; in C++ koord::plugin::Strided.)", steps_by_the_stride},
    Rule{50, error, Group::session, "does not write to borrowed memory", R"(
Texts, snapshots and arguments belong to the host and are shared by all plugins. Here they are in read-only memory, so
a write ends the process.
Fix: copy before changing; do not cast const away, nor terminate a koord_str in place.)", writes_to_nothing_borrowed},
    Rule{51, error, Group::session, "keeps no borrowed memory", R"(
The content of a snapshot is valid until its release, an argument until the call returns: here it cannot be read after
that. Each snapshot must be released before destroy() returns, because it keeps the state of the whole node in memory.
Fix: copy texts, keep handles instead of pointers, release in the call that has acquired.)", keeps_nothing_borrowed},
    Rule{52, error, Group::session, "lets no exception out", R"(
Every call may meet a failing service, also with an unknown status. Exceptions must be caught inside and returned as
a status, KOORD_E_PANIC with a text if nothing fits better. An exception that leaves the plugin usually ends the
process.
Fix: plugin.hpp guards every call, and so do the bindings; in plain C++ catch (...) around each function.)", lets_no_exception_out},
};
// clang-format on

}  // namespace

std::span<const Rule> rules() { return kRules; }

const Rule* find_rule(std::string_view name) {
  auto found = std::find_if(kRules.begin(), kRules.end(), [&](const Rule& rule) { return rule.name() == name; });
  return found == kRules.end() ? nullptr : &*found;
}

std::string Rule::name() const {
  const std::string digits = std::to_string(number);
  return "K" + std::string(3 - std::min<std::size_t>(digits.size(), 3), '0') + digits;
}

std::string_view to_string(Severity severity) {
  switch (severity) {
    case refused:
      return "refused";
    case error:
      return "error";
    case warning:
      return "warning";
  }
  return "";
}

std::string_view to_string(Outcome::Kind kind) {
  switch (kind) {
    case Outcome::Kind::passed:
      return "passed";
    case Outcome::Kind::failed:
      return "FAILED";
    case Outcome::Kind::not_applicable:
      return "not applicable";
  }
  return "";
}

}  // namespace koord::check
