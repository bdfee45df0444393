// SPDX-License-Identifier: Apache-2.0
#include "test/hostile/attacks.hpp"

#include <elf.h>
#include <sys/stat.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "core/base/file.hpp"

namespace koord::hostile {
namespace {

constexpr Batch QUIET = Batch::quiet, ALONE = Batch::alone, FLOOD = Batch::flood, LIE = Batch::lie, END = Batch::end;

constexpr Attack kAttacks[] = {
#define ATTACK(name, kind, defect, batch, expectation) {#name, kind, defect, batch, expectation, false},
#define OPEN(name, kind, defect, batch, expectation) {#name, kind, defect, batch, expectation, true},
#include "test/hostile/attacks.inc"
#undef ATTACK
#undef OPEN
};

constexpr std::size_t kManifestRoom = 1024;  // the size of the manifest in hostile.c
constexpr std::string_view kTemplateStart = "koord-manifest/1\nid=com.hostile.template\n";

std::string manifest_of(const Attack& attack) {
  std::string id = attack.id(), gate = attack.gate(), more;
  if (attack.name == "steal_id") id = "advisor-node-resource";
  if (attack.name == "steal_gate") gate = "NodeResourceCollector";
  if (attack.name == "manifest_control") more = "description=\x1b[2J2026 ERROR forged\r\n";
  if (attack.name == "manifest_default") more = "default=true\n";
  if (attack.name == "manifest_grant") more = "requires=koord.knobs/1\n";
  return "koord-manifest/1\nid=" + id + "\nversion=1.0.0\nabi=1.0\nkinds=" + std::string(attack.plugin_kind()) +
         "\ngate=" + gate + "\nlicense=" + std::string(attack.name) + "\n" + more;
}

void write(const std::string& path, const std::string& content, mode_t mode = 0644) {
  std::ofstream(path, std::ios::binary) << content;
  ::chmod(path.c_str(), mode);
}

Elf64_Ehdr& header_of(std::string& file) { return *reinterpret_cast<Elf64_Ehdr*>(file.data()); }

// Returns false if the attack does not need a special file.
bool write_odd_file(const Attack& attack, std::string file, const std::string& path) {
  if (attack.name == "file_truncated") {
    write(path, file.substr(0, file.size() / 3));
  } else if (attack.name == "file_fifo") {
    ::mkfifo(path.c_str(), 0644);
  } else if (attack.name == "file_device") {
    std::filesystem::create_symlink("/dev/zero", path);
  } else if (attack.name == "file_sparse") {
    write(path, file);
    std::filesystem::resize_file(path, std::uintmax_t{20} << 30);
  } else if (attack.name == "file_writable") {
    write(path, file, 0666);
  } else if (attack.name == "file_machine") {
    header_of(file).e_machine = header_of(file).e_machine == EM_S390 ? EM_PPC64 : EM_S390;
    write(path, file);
  } else if (attack.name == "file_sections") {
    header_of(file).e_shnum = 0xfffe;
    write(path, file);
  } else {
    return false;
  }
  return true;
}

std::string with_manifest(const std::string& plugin_template, const std::string& manifest) {
  std::string file = read_file(plugin_template).value_or("");
  const std::size_t at = file.find(kTemplateStart);
  if (at == std::string::npos || file.find(kTemplateStart, at + 1) != std::string::npos ||
      manifest.size() >= kManifestRoom)
    throw std::runtime_error("'" + plugin_template + "' is no template");
  return file.replace(at, kManifestRoom, manifest + std::string(kManifestRoom - manifest.size(), '\0'));
}

}  // namespace

std::string Attack::id() const {
  std::string id = "com.hostile." + std::string(name);
  for (char& c : id)
    if (c == '_') c = '-';
  return id;
}

std::string Attack::gate() const {
  std::string gate = "Hostile";
  bool upper = true;
  for (char c : name) {
    if (c != '_') gate += upper ? static_cast<char>(c - 'a' + 'A') : c;
    upper = c == '_';
  }
  return gate;
}

std::string_view Attack::plugin_kind() const {
  if (is_strategy()) return "koord.qos-strategy/1";
  if (is_hook()) return "koord.runtime-hook/1";
  return is_external() ? "koord.external-advisor/1" : "koord.advisor/1";
}

bool Attack::is_external() const { return name == "foreign_endpoint" || is_scraped(); }

bool Attack::is_scraped() const { return name.ends_with("scrapes"); }

bool Attack::is_hook() const { return kind == "hooks"; }
bool Attack::is_about_verdicts() const { return name.starts_with("verdict_"); }

bool Attack::is_strategy() const { return name == "foreign_knobs" || name == "evictions" || name == "plans"; }

std::span<const Attack> attacks() { return kAttacks; }

std::string table() {
  std::string text = "| attack | class | defect | expectation |\n|---|---|---|---|\n";
  for (const Attack& attack : attacks())
    text += "| `" + std::string(attack.name) + "` | " + std::string(attack.kind) + " | " + std::string(attack.defect) +
            " | " + std::string(attack.expectation) + (attack.open ? " (open) |\n" : " |\n");
  return text;
}

void write_plugin(const Attack& attack, const std::string& plugin_template, const std::string& folder) {
  const std::string file = with_manifest(plugin_template, manifest_of(attack));
  const std::string path = folder + "/" + std::string(attack.name) + ".so";
  if (!write_odd_file(attack, file, path)) write(path, file);
}

void write_crowd(int n, const std::string& plugin_template, const std::string& folder) {
  const std::string number = std::to_string(n);
  write(folder + "/crowd-" + number + ".so",
        with_manifest(plugin_template, "koord-manifest/1\nid=com.hostile.crowd-" + number +
                                           "\nversion=1.0.0\nabi=1.0\nkinds=koord.advisor/1\ngate=HostileCrowd" +
                                           number + "\nlicense=crowd\n"));
}

}  // namespace koord::hostile
