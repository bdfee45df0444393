// SPDX-License-Identifier: Apache-2.0
// Sources of the layouts: System V ABI, chapters 4 and 5; for symbol versions Linux Standard Base, chapter "Symbol
// Versioning".
#include "core/workshop/check/elf_facts.hpp"

#include <elf.h>
#include <gelf.h>
#include <libelf.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>

namespace koord::check {
namespace {

struct EndElf {
  void operator()(Elf* elf) const { ::elf_end(elf); }
};
using ElfHandle = std::unique_ptr<Elf, EndElf>;

// Limits. A linker creates far fewer; a file with more was made to waste our time.
constexpr std::size_t kMaxSections = 4096;
constexpr std::size_t kMaxSymbols = 1u << 22;
constexpr std::size_t kMaxListed = 4096;
constexpr std::size_t kMaxComment = 4096;

Error broken(std::string_view what) {
  const char* why = ::elf_errmsg(-1);
  return invalid(std::string(what) + " cannot be read: " + (why ? why : "it is damaged"));
}

struct Section {
  Elf_Scn* handle;
  GElf_Shdr header;
  std::string name;
};

class Reader {
 public:
  explicit Reader(Elf* elf) : elf_(elf) {}

  Result<ElfFacts> read() {
    TRY(list_sections());
    TRY(read_program_headers());
    for (const Section& section : sections_) TRY(read_version_needs(section));
    for (const Section& section : sections_) TRY(read_section(section));
    return std::move(facts_);
  }

 private:
  std::string text_at(std::size_t string_table, std::size_t offset) const {
    const char* text = ::elf_strptr(elf_, string_table, offset);
    return text ? text : "";
  }

  Result<void> list_sections() {
    std::size_t names = 0;
    if (::elf_getshdrstrndx(elf_, &names) != 0) return broken("the section table");
    for (Elf_Scn* scn = nullptr; (scn = ::elf_nextscn(elf_, scn)) != nullptr;) {
      Section section{scn, {}, {}};
      if (!::gelf_getshdr(scn, &section.header)) return broken("a section header");
      section.name = text_at(names, section.header.sh_name);
      sections_.push_back(std::move(section));
      if (sections_.size() > kMaxSections)
        return invalid("expected at most " + std::to_string(kMaxSections) + " sections, found more");
    }
    return {};
  }

  Result<void> read_program_headers() {
    std::size_t count = 0;
    if (::elf_getphdrnum(elf_, &count) != 0) return broken("the program headers");
    facts_.executable_stack = true;
    for (std::size_t i = 0; i < std::min(count, kMaxListed); ++i) {
      GElf_Phdr header;
      if (!::gelf_getphdr(elf_, static_cast<int>(i), &header)) return broken("a program header");
      if (header.p_type == PT_GNU_STACK) facts_.executable_stack = (header.p_flags & PF_X) != 0;
      if (header.p_type == PT_GNU_RELRO) facts_.read_only_relocations = true;
    }
    return {};
  }

  Result<void> read_section(const Section& section) {
    switch (section.header.sh_type) {
      case SHT_DYNAMIC:
        return read_dynamic(section);
      case SHT_DYNSYM:
      case SHT_SYMTAB:
        return read_symbols(section);
      default:
        if (section.name == ".comment") return read_comment(section);
        return {};
    }
  }

  Result<Elf_Data*> data_of(const Section& section) {
    if (section.header.sh_type == SHT_NOBITS) return invalid("section '" + section.name + "' has no content");
    Elf_Data* data = ::elf_getdata(section.handle, nullptr);
    if (!data) return broken("section '" + section.name + "'");
    return data;
  }

  static std::size_t entries_of(const Section& section, const Elf_Data* data, std::size_t limit) {
    return section.header.sh_entsize == 0 ? 0 : std::min(limit, data->d_size / section.header.sh_entsize);
  }

  Result<void> read_dynamic(const Section& section) {
    Elf_Data* data = TRY(data_of(section));
    for (std::size_t i = 0; i < entries_of(section, data, kMaxListed); ++i) {
      GElf_Dyn entry;
      if (!::gelf_getdyn(data, static_cast<int>(i), &entry)) return broken("the dynamic section");
      if (entry.d_tag == DT_NULL) break;
      take(entry, section.header.sh_link);
    }
    return {};
  }

  void take(const GElf_Dyn& entry, std::size_t strings) {
    switch (entry.d_tag) {
      case DT_NEEDED:
        facts_.needed.push_back(text_at(strings, entry.d_un.d_val));
        break;
      case DT_RPATH:
      case DT_RUNPATH:
        facts_.run_path = text_at(strings, entry.d_un.d_val);
        break;
      case DT_TEXTREL:
        facts_.text_relocations = true;
        break;
      case DT_BIND_NOW:
        facts_.bound_at_load = true;
        break;
      case DT_FLAGS:
        if (entry.d_un.d_val & DF_TEXTREL) facts_.text_relocations = true;
        if (entry.d_un.d_val & DF_BIND_NOW) facts_.bound_at_load = true;
        break;
      case DT_FLAGS_1:
        if (entry.d_un.d_val & DF_1_NOW) facts_.bound_at_load = true;
        break;
      default:
        break;
    }
  }

  // Reads chains of offsets. libelf checks each offset; this function limits the length of a chain.
  Result<void> read_version_needs(const Section& section) {
    if (section.header.sh_type != SHT_GNU_verneed) return {};
    Elf_Data* data = TRY(data_of(section));
    std::size_t at = 0;
    for (std::size_t i = 0; i < kMaxListed; ++i) {
      GElf_Verneed need;
      if (!::gelf_getverneed(data, static_cast<int>(at), &need)) return broken("the needed versions");
      TRY(read_versions_of(text_at(section.header.sh_link, need.vn_file), data, at + need.vn_aux, need.vn_cnt,
                           section.header.sh_link));
      if (need.vn_next == 0) return {};
      at += need.vn_next;
    }
    return invalid("the list of needed versions has no end");
  }

  Result<void> read_versions_of(const std::string& library, Elf_Data* data, std::size_t at, unsigned count,
                                std::size_t strings) {
    for (unsigned i = 0; i < std::min<unsigned>(count, kMaxListed); ++i) {
      GElf_Vernaux version;
      if (at > data->d_size || !::gelf_getvernaux(data, static_cast<int>(at), &version))
        return broken("a needed version");
      facts_.versions.push_back({library, text_at(strings, version.vna_name)});
      if (facts_.versions.size() > kMaxListed) return invalid("the list of needed versions has no end");
      version_names_[version.vna_other & 0x7fff] = facts_.versions.back().version;
      if (version.vna_next == 0) break;
      at += version.vna_next;
    }
    return {};
  }

  std::string version_of(std::size_t symbol) {
    for (const Section& section : sections_) {
      if (section.header.sh_type != SHT_GNU_versym) continue;
      Elf_Data* data = ::elf_getdata(section.handle, nullptr);
      GElf_Versym index;
      if (!data || !::gelf_getversym(data, static_cast<int>(symbol), &index)) return {};
      auto name = version_names_.find(index & 0x7fff);
      return name == version_names_.end() ? "" : name->second;
    }
    return {};
  }

  Result<void> read_symbols(const Section& section) {
    Elf_Data* data = TRY(data_of(section));
    for (std::size_t i = 1; i < entries_of(section, data, kMaxSymbols); ++i) {
      GElf_Sym symbol;
      if (!::gelf_getsym(data, static_cast<int>(i), &symbol)) return broken("a symbol");
      const std::string name = text_at(section.header.sh_link, symbol.st_name);
      if (GELF_ST_BIND(symbol.st_info) == STB_GNU_UNIQUE) add_unique(name);
      if (section.header.sh_type == SHT_DYNSYM) take(symbol, name, i);
    }
    return {};
  }

  // Adds a symbol once, because it is in both symbol tables.
  void add_unique(const std::string& name) {
    if (std::find(facts_.unique.begin(), facts_.unique.end(), name) == facts_.unique.end() &&
        facts_.unique.size() < kMaxListed)
      facts_.unique.push_back(name);
  }

  void take(const GElf_Sym& symbol, const std::string& name, std::size_t index) {
    if (GELF_ST_BIND(symbol.st_info) == STB_LOCAL || name.empty()) return;
    const unsigned visibility = GELF_ST_VISIBILITY(symbol.st_other);
    if (symbol.st_shndx == SHN_UNDEF)
      facts_.wanted.push_back({name, version_of(index), GELF_ST_BIND(symbol.st_info) == STB_WEAK});
    else if (symbol.st_shndx != SHN_ABS && (visibility == STV_DEFAULT || visibility == STV_PROTECTED))
      facts_.exports.push_back(
          {name, GELF_ST_TYPE(symbol.st_info) == STT_FUNC || GELF_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC});
  }

  Result<void> read_comment(const Section& section) {
    Elf_Data* data = TRY(data_of(section));
    if (data->d_buf) facts_.comment.assign(static_cast<const char*>(data->d_buf), std::min(kMaxComment, data->d_size));
    return {};
  }

  Elf* elf_;
  std::vector<Section> sections_;
  std::map<unsigned, std::string> version_names_;
  ElfFacts facts_;
};

}  // namespace

Result<ElfFacts> read_elf_facts(std::string_view file) {
  static const unsigned version = ::elf_version(EV_CURRENT);
  if (version == EV_NONE) return invalid("expected a libelf of ELF version 1, found none");
  // libelf may change the memory that it reads, so it gets a copy.
  std::string copy(file);
  ElfHandle elf(::elf_memory(copy.data(), copy.size()));
  if (!elf) return broken("the file");
  GElf_Ehdr header;
  if (::elf_kind(elf.get()) != ELF_K_ELF || !::gelf_getehdr(elf.get(), &header))
    return invalid("expected an ELF file, found another");
  if (header.e_type != ET_DYN)
    return invalid("expected a shared object (ELF type 3), found ELF type " + std::to_string(header.e_type));
  return Reader(elf.get()).read();
}

}  // namespace koord::check
