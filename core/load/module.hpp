// SPDX-License-Identifier: Apache-2.0
// Module: a plugin's file mapped into this process, its tables checked. Nothing is ever unmapped: a module
// that was mapped once, and the memory it handed out, stays until the process ends, for code may run in it or
// be pointed to. A file (device and inode) is mapped once, however often it is asked for.
//
// Mapping runs the file's constructors, so it is tried in a forked child first (trial.hpp): a file with constructors
// that throw, abort, crash or hang is refused. A file that fails only the second time is not detected that way; nor are
// faults of a running plugin. Isolation in a child process handles those. [any thread]
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/load/class_info.hpp"
#include "core/load/file_stamp.hpp"
#include "core/load/manifest.hpp"
#include "koordetector/plugin.h"

namespace koord::load {

class Module {
 public:
  // Maps the file at this absolute path; its manifest was read and accepted. A file that was mapped before and has
  // changed since is refused: it cannot be mapped again.
  static Result<std::shared_ptr<const Module>> load(const std::string& path, const Manifest& manifest,
                                                    const FileVersion& checked);
  // The same without the trial, for a process that has nothing to lose.
  static Result<std::shared_ptr<const Module>> load_untried(const std::string& path, const Manifest& manifest);

  const std::vector<ClassInfo>& classes() const { return classes_; }
  const koord_class* class_at(std::size_t index) const;

 private:
  static Result<std::shared_ptr<const Module>> make(const std::string& path, const Manifest& manifest, bool tried_first,
                                                    const FileVersion& checked);
  Module(const koord_module* table, std::vector<ClassInfo> classes);

  const koord_module* table_;
  std::vector<ClassInfo> classes_;
};

}  // namespace koord::load
