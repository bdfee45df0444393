// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "core/workshop/check/file_rules.hpp"
#include "core/workshop/check/life_rules.hpp"
#include "core/workshop/check/load_rules.hpp"
#include "core/workshop/check/rule.hpp"
#include "core/workshop/check/service_rules.hpp"

namespace koord::check {
namespace {

using enum Severity;
using Group = Rule::Group;

// Numbers are forever: a rule that goes leaves a gap, a new one comes last of its group's ten.
constexpr std::array kRules = {
    Rule{1, error, Group::file, "exports koord_entry_v1 alone", R"(
The dynamic symbol table defines one function, koord_entry_v1, and nothing else. Every other symbol is a name that
another library of the process can take over, or that takes over one of another library.
Mend it: link with the version script that `pkg-config --libs koordetector-plugin` names, and, with static
libraries, -Wl,--exclude-libs,ALL. `nm -D --defined-only FILE` shows what is exported.)", exports_its_entry_alone},
    Rule{2, error, Group::file, "has no GNU_UNIQUE symbols", R"(
A GNU_UNIQUE symbol exists once in a process, whatever plugin it is in: two plugins that were built with two versions
of a header then share one inline variable, of the layout of whoever came first.
Mend it: compile C++ with -fno-gnu-unique. `nm FILE` marks them with a small u.)", has_no_unique_symbols},
    Rule{3, refused, Group::gate, "finds every symbol in the libraries it needs", R"(
Each undefined symbol must be in one of the libraries that the file names as needed (DT_NEEDED), and these must be on
the machine. A plugin cannot use symbols of the agent: it exports none. What is missing makes the load fail.
Mend it: link with -Wl,-z,defs, which says so at link time, and name the library that has the symbol.)", finds_every_symbol},
    Rule{4, warning, Group::file, "runs with the C library of the oldest system", R"(
Versions of GLIBC, GLIBCXX and CXXABI symbols are at most those of the oldest system that the plugin is to run on:
by default Debian 12's, another by --glibc, --glibcxx and --cxxabi. On an older system the load would fail.
Mend it: build on the oldest system, link C++ with -static-libstdc++ -static-libgcc; the detail names a symbol that
brings the version in.)", runs_on_the_oldest_system},
    Rule{5, error, Group::file, "has no text relocations", R"(
The loader would have to make the code writable to adapt it to its address. Hardened kernels refuse that, and the
pages are no longer shared.
Mend it: compile everything that goes in with -fPIC, assembler sources too.)", has_no_text_relocations},
    Rule{6, error, Group::file, "asks for no executable stack", R"(
One such file makes the stacks of the whole process executable. It comes from nested functions in C, or from an
assembler source without the section .note.GNU-stack.
Mend it: link with -Wl,-z,noexecstack once nothing needs it any more.)", has_no_executable_stack},
    Rule{7, error, Group::file, "is bound when it is loaded", R"(
With -z now a missing symbol is found by the load and not by the first call in the middle of a night, and with
-z relro the tables of addresses cannot be overwritten afterwards.
Mend it: link with `pkg-config --libs koordetector-plugin`, or -Wl,-z,now -Wl,-z,relro.)", is_bound_at_load},
    Rule{8, error, Group::file, "brings no search path for libraries", R"(
A run path (DT_RUNPATH, DT_RPATH) names folders of the machine on which the plugin was built. On another machine
whoever may write there decides what the agent runs.
Mend it: no -Wl,-rpath; link what is yours statically.)", brings_no_search_path},
    Rule{9, refused, Group::gate, "says in its manifest what it is", R"(
The section .koord_manifest holds the text that plugin.h describes at koord_entry_v1(): the host decides by it before
it runs any code of the file, so id, version, abi, kinds and gate must be there and of this host's ABI.
Mend it: the detail says what was wanted and what was found; `koordctl plugin info FILE` shows what is read.)", has_a_manifest},
    Rule{10, error, Group::file, "can unwind a Rust panic", R"(
With panic=abort a panic in the plugin ends the whole process, where unwinding makes it KOORD_E_PANIC with its text.
The rule looks for what only code that unwinds needs, in files that rustc has made.
Mend it: no `panic = "abort"` in the profile, no -C panic=abort; the binding refuses to compile with it.)", unwinds_its_panics},

    Rule{11, refused, Group::gate, "loads, and its tables are sound", R"(
The file can be mapped, its constructors return, koord_entry_v1() gives a module with the right magic, sizes, kinds
and required functions. An agent checks the same.
Mend it: the detail is the agent's own; constructors of a plugin should do nothing at all.)", loads},
    Rule{12, refused, Group::gate, "has the same manifest in its module as in its file", R"(
koord_module.manifest must point to the very text in the section .koord_manifest: what was decided by one would
otherwise run as another.
Mend it: let both be the same array, as KOORD_PLUGIN() and the bindings do.)", has_the_manifest_of_its_file},
    Rule{13, error, Group::life, "gives the same module whenever it is asked", R"(
koord_entry_v1() returns a static table, does no work and may be called any number of times, by tools as well.
Mend it: return the address of a constant.)", gives_one_module},
    Rule{14, error, Group::life, "leaves the process as it was", R"(
Signal handlers and masks, working directory, environment, locale and umask belong to the agent and to all plugins
in it; loading starts no thread and opens nothing either. SIGPIPE is the usual one: the agent ignores it already.
For go, jvm and python, which always have a process of their own, what they change is told and is no failure.
Mend it: pass what you need (MSG_NOSIGNAL, openat(), newlocale()) instead of changing the process.)", leaves_the_process_as_it_was},

    Rule{21, error, Group::life, "lives on a host that does its duty", R"(
create, init, some ticks and events, stop, destroy, with all services there and three pods on the node: init() returns
KOORD_OK, or KOORD_E_UNSUPPORTED where the machine lacks something, and a tick succeeds. Other returns are those of
plugin.h. The trial reads this machine's proc, sys and cgroups.
Mend it: the detail is what the plugin said. A plugin that needs configuration gets it by --set.)", lives},
    Rule{22, error, Group::life, "returns from run() when it is told to stop", R"(
Once stop() was called and koord_stop fires, run() has 5 s to return. The agent would wait for it, then give the
thread up; a process of its own is killed.
Mend it: wait with koord_stop.wait(), or poll() koord_stop.fd beside your own descriptors; no endless blocking call.)", ends_its_run},
    Rule{23, error, Group::life, "leaks no descriptor", R"(
A hundred lives of create, init, a tick, stop, destroy leave as many open descriptors as there were. An agent that
restarts a failing plugin all night runs out of them otherwise, and nobody can open a file any more.
Mend it: close in destroy() what init() has opened, also when init() has failed half way.)", leaks_no_descriptors},
    Rule{24, error, Group::life, "leaks no thread", R"(
All threads of an instance are joined when destroy() returns; a hundred lives leave none behind.
Mend it: pthread_join() in stop() or destroy(); no detached threads. What waits for events can use run().)", leaks_no_threads},
    Rule{25, error, Group::life, "leaks no memory", R"(
A hundred lives leave neither more on the heap of malloc() nor more mappings. Each side frees what it has allocated;
what the services allocate meanwhile does not count.
Mend it: free in destroy() what create() and init() have made, also when init() has failed half way.)", leaks_no_memory},
    Rule{26, error, Group::life, "shares nothing between instances", R"(
There may be several instances at once, each with its own host, configuration and thread. One that calls the host of
another, or stops working when the other ends, has something static that belongs into the instance.
Mend it: everything that changes goes into what create() makes.)", shares_nothing_between_instances},
    Rule{27, error, Group::life, "calls the host where it may", R"(
No service in create(); set_error() only on the thread of the call whose status it explains; propose() and request()
only inside evaluate(), which makes one plan of it. The services answer such calls by chance or not at all.
Mend it: ask for services in init(). What another thread has found is told by the next call.)", calls_where_it_may},
    Rule{28, error, Group::life, "is silent after destroy()", R"(
When destroy() has returned, the host of the instance is gone: a call through it would touch freed memory.
Mend it: stop timers and threads before destroy() returns; keep no host in a static variable.)", is_silent_after_destroy},

    Rule{41, error, Group::life, "refuses to begin without a service that it requires", R"(
Each service in `requires` is left out in turn: init() returns a failure, KOORD_E_UNSUPPORTED best, and nothing crashes.
An agent checks `requires` before, but another version or an operator may withhold what was granted yesterday.
Mend it: compare what get_service() returns with NULL, say by set_error() which one is missing.)", refuses_without_a_required_service},
    Rule{42, error, Group::life, "does without a service that is optional", R"(
Each service in `optional` is left out in turn, and the plugin works as it did with it, or less, but works.
Mend it: ask KOORD_HAS() before each use, or move the service to `requires`.)", does_without_optional_services},
    Rule{43, error, Group::life, "stands services that fail", R"(
Every call that can fail answers KOORD_E_AGAIN, then KOORD_E_DENIED, then KOORD_E_DEADLINE, from the beginning and
from after init() on. What the plugin returns is its own affair, but it must not crash or hang. What a failed call
was to fill in is not filled in.
Mend it: look at every status before what comes with it.)", stands_failing_services},
    Rule{44, error, Group::life, "stands answers that are longer than announced", R"(
Between asking for the length and asking for the text the text may have grown, so KOORD_E_TOO_SMALL may come again
and *need may be more than a buffer has.
Mend it: ask in a loop, and use *need as a length only after KOORD_OK.)", stands_growing_answers},
    Rule{45, error, Group::life, "stands time that jumps", R"(
Two ticks may have the same time, a suspended machine makes a day pass between two, and wall time may be set.
Mend it: rates over no time are no rates; compute intervals from host time, never from wall time.)", stands_jumps_of_time},
    Rule{46, error, Group::life, "stands any number of pods", R"(
No pod, 5000, one, none again, at once and without a word in between.
Mend it: size what you keep by what there is; drop what KOORD_E_GONE answers.)", stands_any_number_of_pods},
    Rule{47, error, Group::life, "refuses tables without the members it needs", R"(
The services are there, but struct_size says that nothing stands behind the header, and memory ends there. init()
refuses, and does not read on.
Mend it: KOORD_HAS(table, member) for every member you use, once, in init(). The bindings do it.)", refuses_cut_tables},
    Rule{48, error, Group::life, "takes tables of a newer host", R"(
The tables are longer than this plugin.h has them, with members that nobody knows yet. Everything goes on as before.
Mend it: compare struct_size with `>=` a member's end, never with `==` your sizeof; copy no table.)", takes_grown_tables},
    Rule{49, error, Group::life, "steps through arrays by the stride", R"(
Pods, containers and resources stand further apart than their sizeof, as those of a newer host do, and between them
is no zero.
Mend it: (const char *)first + i * stride; in C++ koord::plugin::Strided.)", steps_by_the_stride},
    Rule{50, error, Group::life, "writes to nothing it has borrowed", R"(
Texts, snapshots and arguments belong to the host and are seen by all plugins. Here they stand in memory that cannot
be written, so a write ends the process.
Mend it: copy what you change; do not cast const away, nor terminate a koord_str in place.)", writes_to_nothing_borrowed},
    Rule{51, error, Group::life, "keeps nothing it has borrowed", R"(
What a snapshot holds is valid until it is released, an argument until the call returns: here it cannot be read after
that. Each snapshot is released before destroy() returns, for it keeps the state of the whole node in memory.
Mend it: copy texts, keep handles instead of pointers, release in the call that has acquired.)", keeps_nothing_borrowed},
    Rule{52, error, Group::life, "lets no exception out", R"(
Every call may meet a service that fails, with a status that nobody knows, too: what is thrown then must be caught
inside and returned as a status, KOORD_E_PANIC with a text if nothing fits better. An exception that leaves the
plugin ends the process as a rule.
Mend it: plugin.hpp guards every call, and so do the bindings; in plain C++ catch (...) around each function.)", lets_no_exception_out},
};

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
