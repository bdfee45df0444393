// SPDX-License-Identifier: Apache-2.0
// Facts about a shared object from its file: symbols, needed libraries, versions, flags. The file is untrusted: no part
// of it is mapped or run, and damage is an error. [any thread]
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace koord::check {

struct DefinedSymbol {
  std::string name;
  bool is_function = false;
};

struct WantedSymbol {
  std::string name;
  std::string version;  // "GLIBC_2.34"; empty: any
  bool weak = false;    // may stay unresolved
};

// "libc.so.6", "GLIBC_2.34"
struct WantedVersion {
  std::string library, version;
};

struct ElfFacts {
  std::vector<DefinedSymbol> exports;  // without those that name a version of the file itself
  std::vector<WantedSymbol> wanted;
  std::vector<WantedVersion> versions;
  std::vector<std::string> unique;  // GNU_UNIQUE, exported or not
  std::vector<std::string> needed;  // libraries, DT_NEEDED
  std::string run_path;             // DT_RUNPATH or DT_RPATH
  std::string comment;              // which compilers made it, from .comment
  bool text_relocations = false;
  bool executable_stack = false;  // or no word about it, which is the same to the loader
  bool bound_at_load = false;
  bool read_only_relocations = false;
};

// `file`: its bytes.
Result<ElfFacts> read_elf_facts(std::string_view file);

}  // namespace koord::check
