// SPDX-License-Identifier: Apache-2.0
#include "core/load/module.hpp"

#include <dlfcn.h>

#include <boost/dll/shared_library.hpp>
#include <exception>
#include <map>
#include <mutex>
#include <utility>

#include "core/load/module_check.hpp"
#include "core/load/trial.hpp"

namespace koord::load {
namespace {

using boost::dll::load_mode::type;

// rtld_now: a missing symbol is detected here, not at the first call. rtld_local: plugins do not share symbols.
// RTLD_NODELETE: not even a wrong dlclose() unmaps code that may run.
constexpr type kMode =
    boost::dll::load_mode::rtld_now | boost::dll::load_mode::rtld_local | static_cast<type>(RTLD_NODELETE);

// The constructors of an honest plugin take almost no time.
constexpr Duration kPatience = std::chrono::seconds(10);

using FileIdentity = std::pair<std::uint64_t, std::uint64_t>;  // device and inode

struct Mapped {
  boost::dll::shared_library library;
  FileVersion stamp;
};

struct Handles {
  std::mutex mutex;
  std::map<FileIdentity, Mapped> by_file;
  std::map<std::string, std::size_t> asked;  // how many files were mapped by this path
};

// Never destroyed, because boost's destructor would call dlclose.
Handles& handles() {
  static Handles& all = *new Handles;
  return all;
}

// Returns only the loader's own text, without "boost::dll::…failed" around it.
std::string reason_of(const boost::system::system_error& error) {
  std::string text = error.what();
  std::size_t open = text.find(" (");
  std::size_t close = text.rfind(')');
  return open != std::string::npos && close > open + 2 ? text.substr(open + 2, close - open - 2) : text;
}

Result<boost::dll::shared_library> map_file(const std::string& path) {
  try {
    return boost::dll::shared_library(path, kMode);
  } catch (const boost::system::system_error& error) {
    return invalid("cannot be mapped: " + reason_of(error));
  } catch (const std::exception& error) {
    return invalid(std::string("expected constructors that do not throw, found the exception: ") + error.what());
  } catch (...) {
    return invalid("expected constructors that do not throw, found an exception that is not a std::exception");
  }
}

// Returns a spelling of the path that is new for each file: "/a/x.so", "/a/./x.so", "/a/././x.so". For a known path the
// loader would return the known file, even if a different file has replaced it. The lock must be held.
std::string spelling_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  std::string spelling = path.substr(0, slash);
  for (std::size_t n = handles().asked[path]++; n > 0; --n) spelling += "/.";
  return spelling + path.substr(slash);
}

// Maps the file in a child, because mapping runs constructors. Their faults are detected in the child. For example, an
// exception thrown through dlopen may end the process. Even if it is caught, the loader's lock remains held (glibc
// 2.36) and the next dlopen hangs.
Result<void> try_to_map(const std::string& path) {
  auto map = [&]() -> Result<void> {
    static auto& kept = *new std::vector<boost::dll::shared_library>;
    kept.push_back(TRY(map_file(path)));
    return {};
  };
  return try_in_child(map, kPatience);
}

struct Entry {
  const koord_module* (*function)();
};

Result<Entry> find_entry(const std::string& path, bool tried_first, const FileVersion& checked) {
  FileIdentity file{checked.device, checked.inode};
  std::lock_guard lock(handles().mutex);
  auto known = handles().by_file.find(file);
  if (known == handles().by_file.end()) {
    const std::string spelling = spelling_of(path);
    if (tried_first) TRY(try_to_map(spelling));
    known = handles().by_file.emplace(file, Mapped{TRY(map_file(spelling)), checked}).first;
  }
  if (TRY(stamp_of(path)) != known->second.stamp)
    return invalid("'" + path +
                   "' is mapped and was written to since: expected a new file put in its place by rename, as " +
                   "mv and install do; a restart of the agent maps this one");
  const boost::dll::shared_library& library = known->second.library;
  if (!library.has("koord_entry_v1")) return invalid("expected the symbol koord_entry_v1, found none");
  return Entry{&library.get<const koord_module*()>("koord_entry_v1")};
}

Result<const koord_module*> call_entry(Entry entry) {
  try {
    return entry.function();
  } catch (...) {
    return invalid("expected a koord_entry_v1() that returns, found one that throws");
  }
}

}  // namespace

Module::Module(const koord_module* table, std::vector<ClassInfo> classes)
    : table_(table), classes_(std::move(classes)) {}

Result<std::shared_ptr<const Module>> Module::make(const std::string& path, const Manifest& manifest, bool tried_first,
                                                   const FileVersion& checked) {
  Entry entry = TRY(find_entry(path, tried_first, checked));
  const koord_module* table = TRY(call_entry(entry));
  std::vector<ClassInfo> classes = TRY(check_module(table, manifest));
  return std::shared_ptr<const Module>(new Module(table, std::move(classes)));
}

Result<std::shared_ptr<const Module>> Module::load(const std::string& path, const Manifest& manifest,
                                                   const FileVersion& checked) {
  return make(path, manifest, true, checked);
}

Result<std::shared_ptr<const Module>> Module::load_untried(const std::string& path, const Manifest& manifest) {
  return make(path, manifest, false, TRY(stamp_of(path)));
}

const koord_class* Module::class_at(std::size_t index) const { return class_of(table_, index); }

}  // namespace koord::load
