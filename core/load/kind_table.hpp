// SPDX-License-Identifier: Apache-2.0
// Returns whether a kind's table, made by a plugin of any version, has this function, and whether it is set.
// Corresponds to KOORD_HAS() for the host's tables; a kind's table has its size in the lifecycle it begins with.
#pragma once

#include <cstdint>

#include "koordetector/plugin.h"

namespace koord::load {

template <class Table, class Member>
bool has(const Table* table, Member Table::*member) {
  if (table == nullptr) return false;
  auto begin = reinterpret_cast<std::uintptr_t>(table);
  auto end = reinterpret_cast<std::uintptr_t>(&(table->*member)) + sizeof(Member);
  return end - begin <= table->life.struct_size && table->*member;
}

}  // namespace koord::load
