// SPDX-License-Identifier: Apache-2.0
// DecisionFile: records of decisions in one SQLite file, which never exceeds its size limit, its log included: the
// oldest records go. Written records survive SIGKILL, and the newest ones not a power cut. [one thread at a time]
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "core/base/result.hpp"
#include "core/decision/decision.hpp"

namespace koord::sqlite {
class Connection;
}

namespace koord::decision {

class DecisionFile {
 public:
  // Opens the file, or begins one and makes its folder; one that is damaged, of another program or of another version
  // is set aside, which `set_aside_note` says. Errors are the disk's: full, read-only, unreadable.
  static Result<std::unique_ptr<DecisionFile>> open(const std::string& path, std::uint64_t max_bytes,
                                                    std::int64_t wall_ns, std::string& set_aside_note);
  ~DecisionFile();

  // All of them or none.
  Result<void> write(std::span<const Decision> decisions);
  Result<DecisionPage> find(const DecisionQuery& query);

  Result<std::uint64_t> last_number();
  // The size of the file without its log.
  Result<std::uint64_t> bytes();

 private:
  DecisionFile(std::unique_ptr<sqlite::Connection> connection, std::uint64_t max_bytes);
  Result<void> insert(std::span<const Decision> decisions);
  Result<void> make_room();
  Result<std::uint64_t> used_bytes();

  const std::unique_ptr<sqlite::Connection> connection_;
  const std::uint64_t max_bytes_;
};

}  // namespace koord::decision
