// SPDX-License-Identifier: Apache-2.0
// Finds the part that a damaged journal has lost, as far as its bytes show it, for the message of the next start. Reads bytes only;
// no content is trusted. [any thread]
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/knob/originals.hpp"

namespace koord::knob {

// The end of SQLite's write-ahead log that belongs to no whole transaction.
struct TornTail {
  std::uint64_t bytes = 0;
  std::vector<KnobKey> knobs;  // that its bytes name, those of whole records among them
};
// `log`: the content of a file "…-wal". nullopt: it ends in a whole transaction, or in frames of an older generation.
std::optional<TornTail> torn_tail(std::string_view log);

// The keys in a page of the journal's table, of which a part may be missing.
std::vector<KnobKey> keys_in_page(std::string_view page);

// How many bytes a database file has too few for what its header says.
std::uint64_t missing_bytes(std::string_view header, std::uint64_t file_size);

// "cpu.max of 'be/pod1', vm.min_free_kbytes of the node and 3 more"; empty for none.
std::string titles_of(const std::vector<KnobKey>& keys);

}  // namespace koord::knob
