// SPDX-License-Identifier: Apache-2.0
#include "core/workshop/check/load_rules.hpp"

#include <dlfcn.h>

#include <cstring>
#include <utility>
#include <vector>

#include "core/base/parse.hpp"
#include "core/load/module_check.hpp"
#include "core/workshop/check/class_trial.hpp"
#include "core/workshop/check/process_state.hpp"

namespace koord::check {
namespace {

struct Entry {
  const koord_module* (*function)();
};

// Loads the file like host::Module.
Result<Entry> map(const std::string& path) {
  note_call("its constructors");
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  note_call("");
  if (!library) return invalid(::dlerror());
  void* entry = ::dlsym(library, "koord_entry_v1");
  if (!entry) return invalid("expected the symbol koord_entry_v1, found none");
  return Entry{reinterpret_cast<const koord_module* (*)()>(entry)};
}

Result<const koord_module*> module_of(const std::string& path) {
  const Entry entry = TRY(map(path));
  note_call("koord_entry_v1()");
  const koord_module* module = entry.function();
  note_call("");
  if (!module) return invalid("koord_entry_v1() returned NULL");
  return module;
}

// Returns the manifest text, cut to the maximum length; "" if it is missing.
std::string manifest_of(const koord_module* module) {
  if (module->struct_size < sizeof(koord_module) || !module->manifest) return {};
  return {module->manifest, ::strnlen(module->manifest, load::kMaxManifestBytes + 1)};
}

}  // namespace

Outcome loads(Suspect& suspect) {
  Outcome outcome = try_apart([&]() -> Outcome {
    Result<const koord_module*> module = module_of(suspect.path);
    if (!module) return Outcome::failed(module.error().message());
    load::Manifest manifest = *suspect.manifest;
    manifest.text = manifest_of(*module);  // a separate rule compares it
    auto checked = load::check_module(*module, manifest);
    return checked ? Outcome{Outcome::Kind::passed, std::to_string(checked->size())}
                   : Outcome::failed(checked.error().message());
  });
  // The child can only return text, so the number of classes is in `detail`.
  if (outcome.kind == Outcome::Kind::passed)
    suspect.classes = static_cast<std::size_t>(parse_uint(std::exchange(outcome.detail, {})).value_or(1));
  return outcome;
}

Outcome has_the_manifest_of_its_file(Suspect& suspect) {
  return try_apart([&]() -> Outcome {
    Result<const koord_module*> module = module_of(suspect.path);
    if (!module) return Outcome::failed(module.error().message());
    if (manifest_of(*module) == suspect.manifest->text) return {};
    return Outcome::failed("koord_module.manifest is another text than the one in the section " KOORD_MANIFEST_SECTION);
  });
}

Outcome gives_one_module(Suspect& suspect) {
  return try_apart([&]() -> Outcome {
    Result<Entry> entry = map(suspect.path);
    if (!entry) return Outcome::failed(entry.error().message());
    note_call("koord_entry_v1()");
    const koord_module* first = entry->function();
    for (int i = 0; i < 3; ++i)
      if (entry->function() != first)
        return Outcome::failed("koord_entry_v1() returned another pointer when it was called again");
    return {};
  });
}

Outcome leaves_the_process_as_it_was(Suspect& suspect) {
  const Outcome after_load = try_apart([&]() -> Outcome {
    const ProcessState before = ProcessState::now();
    if (auto module = module_of(suspect.path); !module) return Outcome::failed(module.error().message());
    const auto found = changes(before, ProcessState::now(), true);
    return found.empty() ? Outcome{} : Outcome::failed("loading it changed " + join(found, ", "));
  });
  // A language runtime changes the process when it is loaded. Therefore a plugin with a language runtime always runs in
  // its own process.
  if (suspect.has_foreign_runtime() && after_load.kind == Outcome::Kind::failed &&
      after_load.detail.starts_with("loading it changed"))
    return {Outcome::Kind::passed, "in a process of its own, as its runtime always is, " + after_load.detail};
  if (after_load.kind == Outcome::Kind::failed) return after_load;
  return run_in_trial(suspect, [](ClassTrial& class_trial) -> Outcome {
    const ProcessState before = ProcessState::now();
    run_session(class_trial);
    const auto found = changes(before, ProcessState::now(), false);
    return found.empty() ? Outcome{} : Outcome::failed("its session changed " + join(found, ", "));
  });
}

}  // namespace koord::check
