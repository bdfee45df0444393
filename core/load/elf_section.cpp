// SPDX-License-Identifier: Apache-2.0
// Layouts and numbers are from the System V ABI, chapters 4 and 5, as in <elf.h>.
#include "core/load/elf_section.hpp"

#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <vector>

namespace koord::load {
namespace {

static_assert(std::endian::native == std::endian::little, "the reader takes the file's integers as they are");

#if defined(__x86_64__)
constexpr Elf64_Half kOurMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr Elf64_Half kOurMachine = EM_AARCH64;
#elif defined(__riscv) && __riscv_xlen == 64
constexpr Elf64_Half kOurMachine = EM_RISCV;
#else
#error "name the ELF machine of this architecture"
#endif

// A linker makes about forty sections. A file with many more is made to use up time.
constexpr std::uint64_t kMaxSections = 4096;
constexpr std::uint64_t kMaxNameTable = 1u << 20;

std::string machine_name(Elf64_Half machine) {
  switch (machine) {
    case EM_386:
      return "i386";
    case EM_ARM:
      return "arm";
    case EM_X86_64:
      return "x86-64";
    case EM_AARCH64:
      return "aarch64";
    case EM_PPC64:
      return "ppc64";
    case EM_S390:
      return "s390";
    case EM_RISCV:
      return "riscv64";
    default:
      return "ELF machine " + std::to_string(machine);
  }
}

Result<void> read_bytes(const ByteSource& source, std::uint64_t offset, std::span<std::byte> into,
                        std::string_view what) {
  if (offset > source.size || into.size() > source.size - offset) {
    return invalid("truncated: expected " + std::string(what) + " up to byte " +
                   (into.size() > UINT64_MAX - offset ? "2^64" : std::to_string(offset + into.size())) +
                   ", found a file of " + std::to_string(source.size) + " bytes");
  }
  return source.read(offset, into);
}

template <class T>
Result<T> read_object(const ByteSource& source, std::uint64_t offset, std::string_view what) {
  T object;
  TRY(read_bytes(source, offset, std::as_writable_bytes(std::span(&object, 1)), what));
  return object;
}

Result<void> check_ident(const Elf64_Ehdr& header) {
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return invalid("expected an ELF file, found another");
  if (header.e_ident[EI_CLASS] != ELFCLASS64) return invalid("expected a 64-bit ELF file, found another class");
  if (header.e_ident[EI_DATA] != ELFDATA2LSB) return invalid("expected a little-endian ELF file, found another");
  return {};
}

Result<Elf64_Ehdr> read_header(const ByteSource& source) {
  Elf64_Ehdr header = TRY(read_object<Elf64_Ehdr>(source, 0, "the ELF header"));
  TRY(check_ident(header));
  if (header.e_machine != kOurMachine) {
    return invalid("expected machine " + machine_name(kOurMachine) + ", found " + machine_name(header.e_machine));
  }
  if (header.e_type != ET_DYN) {
    return invalid("expected a shared object (ELF type 3), found ELF type " + std::to_string(header.e_type));
  }
  return header;
}

Result<std::vector<Elf64_Shdr>> read_section_table(const ByteSource& source, const Elf64_Ehdr& header) {
  if (header.e_shnum == 0) return not_found("expected a section table, found none");
  if (header.e_shnum > kMaxSections) {
    return invalid("expected at most " + std::to_string(kMaxSections) + " sections, found " +
                   std::to_string(header.e_shnum));
  }
  if (header.e_shentsize != sizeof(Elf64_Shdr)) {
    return invalid("expected section headers of " + std::to_string(sizeof(Elf64_Shdr)) + " bytes, found " +
                   std::to_string(header.e_shentsize));
  }
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  TRY(read_bytes(source, header.e_shoff, std::as_writable_bytes(std::span(sections)), "the section table"));
  return sections;
}

Result<std::string> read_content(const ByteSource& source, const Elf64_Shdr& section, std::uint64_t max_bytes,
                                 std::string_view what) {
  if (section.sh_type == SHT_NOBITS || (section.sh_flags & SHF_COMPRESSED) != 0) {
    return invalid("expected " + std::string(what) + " as plain bytes, found it empty or compressed");
  }
  if (section.sh_size > max_bytes) {
    return invalid("expected " + std::string(what) + " of at most " + std::to_string(max_bytes) + " bytes, found " +
                   std::to_string(section.sh_size));
  }
  std::string content(section.sh_size, '\0');
  TRY(read_bytes(source, section.sh_offset, std::as_writable_bytes(std::span(content)), what));
  return content;
}

// Returns the name at this offset of the name table; "" if the offset or the end of the name is outside.
std::string_view name_at(std::string_view names, std::uint64_t offset) {
  if (offset >= names.size()) return {};
  std::string_view rest = names.substr(offset);
  std::size_t end = rest.find('\0');
  return end == std::string_view::npos ? std::string_view{} : rest.substr(0, end);
}

}  // namespace

ByteSource bytes_of_memory(std::span<const std::byte> memory) {
  return {memory.size(), [memory](std::uint64_t offset, std::span<std::byte> into) -> Result<void> {
            std::memcpy(into.data(), memory.data() + offset, into.size());
            return {};
          }};
}

Result<ByteSource> bytes_of_file(int fd) {
  struct stat about;
  if (::fstat(fd, &about) != 0) return system_error(errno, "cannot stat");
  auto read = [fd](std::uint64_t offset, std::span<std::byte> into) -> Result<void> {
    while (!into.empty()) {
      ssize_t n = ::pread(fd, into.data(), into.size(), static_cast<off_t>(offset));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return system_error(errno, "cannot read");
      if (n == 0) return invalid("truncated while it was read");
      into = into.subspan(static_cast<std::size_t>(n));
      offset += static_cast<std::uint64_t>(n);
    }
    return {};
  };
  return ByteSource{static_cast<std::uint64_t>(about.st_size), read};
}

Result<std::string> read_elf_section(const ByteSource& source, std::string_view wanted, std::size_t max_bytes) {
  Elf64_Ehdr header = TRY(read_header(source));
  std::vector<Elf64_Shdr> sections = TRY(read_section_table(source, header));
  if (header.e_shstrndx >= sections.size()) {
    return invalid("expected section names in one of " + std::to_string(sections.size()) + " sections, found index " +
                   std::to_string(header.e_shstrndx));
  }
  std::string names = TRY(read_content(source, sections[header.e_shstrndx], kMaxNameTable, "the section names"));
  std::optional<std::string> found;
  for (const Elf64_Shdr& section : sections) {
    if (name_at(names, section.sh_name) != wanted) continue;
    if (found) return invalid("expected one section '" + std::string(wanted) + "', found two");
    found = TRY(read_content(source, section, max_bytes, "section '" + std::string(wanted) + "'"));
  }
  if (!found) return not_found("expected a section '" + std::string(wanted) + "', found none");
  return *std::move(found);
}

}  // namespace koord::load
