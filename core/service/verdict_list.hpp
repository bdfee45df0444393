// SPDX-License-Identifier: Apache-2.0
// VerdictList: standing verdicts in the records of the plugin ABI. Text is borrowed from the verdicts, which the list
// keeps alive. Immutable: [any thread].
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "core/base/result.hpp"
#include "core/service/held_views.hpp"
#include "core/verdict/store.hpp"
#include "koordetector/plugin.h"

namespace koord::service {

// The members that a plugin writes. Borrows from `record`; `suspects` and `others` get what the result points to.
koord_verdict posted_record(const verdict::Record& record, std::vector<koord_suspect>& suspects,
                            std::vector<koord_label>& others);

class VerdictList {
 public:
  explicit VerdictList(std::shared_ptr<const verdict::CurrentVerdicts> standing);
  VerdictList(const VerdictList&) = delete;
  VerdictList& operator=(const VerdictList&) = delete;

  const std::shared_ptr<const verdict::CurrentVerdicts>& standing() const { return standing_; }
  std::span<const koord_verdict> verdicts() const { return verdicts_; }

 private:
  std::shared_ptr<const verdict::CurrentVerdicts> standing_;
  // Elements of these do not move once a record points to them.
  std::vector<std::vector<koord_suspect>> suspects_;
  std::vector<std::vector<koord_label>> others_;
  std::vector<koord_verdict> verdicts_;
};

using VerdictListPtr = std::shared_ptr<const VerdictList>;

// Keeps the newest list, so that it is built once, by the first caller.
class VerdictLists {
 public:
  VerdictListPtr of(std::shared_ptr<const verdict::CurrentVerdicts> standing);

 private:
  std::mutex mutex_;
  VerdictListPtr newest_;
};

using PluginVerdictLists = HeldViews<koord_verdict_list, VerdictList>;
inline constexpr std::size_t kMostVerdictLists = 64;  // that a plugin may hold

// KOORD_E_AGAIN when the plugin may hold no more.
Result<void> check_held_lists(const PluginVerdictLists& lists);

// The functions of a list, which are the same on both sides of a channel.
const koord_verdict* verdicts_of_list(const koord_verdict_list* list, std::uint32_t* n, std::uint32_t* stride);
std::uint64_t generation_of_list(const koord_verdict_list* list);

}  // namespace koord::service
