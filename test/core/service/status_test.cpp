// SPDX-License-Identifier: Apache-2.0
#include "core/service/status.hpp"

#include <doctest/doctest.h>

#include <cerrno>

using namespace koord;
using namespace koord::service;

TEST_CASE("an error becomes the nearest status") {
  struct {
    int error;
    koord_status status;
  } const rows[] = {
      {EINVAL, KOORD_E_INVALID}, {ENOENT, KOORD_E_NOT_FOUND}, {ENOTDIR, KOORD_E_NOT_FOUND},
      {ENODEV, KOORD_E_GONE},    {ESRCH, KOORD_E_GONE},       {ENOTSUP, KOORD_E_UNSUPPORTED},
      {EAGAIN, KOORD_E_AGAIN},   {ENOMEM, KOORD_E_NOMEM},     {ETIMEDOUT, KOORD_E_DEADLINE},
      {EACCES, KOORD_E_IO},      {EIO, KOORD_E_IO},
  };
  for (const auto& row : rows) CHECK(status_of(system_error(row.error, "it")) == row.status);
}

TEST_CASE("a refusal keeps its status and its text") {
  const Error error = refuse(KOORD_E_DENIED, "not for you");
  CHECK(status_of(error) == KOORD_E_DENIED);
  CHECK(why(error) == "not for you");
}

TEST_CASE("every status has a name") {
  CHECK(name_of_status(KOORD_E_GONE) == "KOORD_E_GONE");
  CHECK(name_of_status(-42) == "status -42");
}
