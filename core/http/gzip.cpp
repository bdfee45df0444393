// SPDX-License-Identifier: Apache-2.0
#include "core/http/gzip.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <optional>

#include "core/base/parse.hpp"

namespace koord::http {
namespace {

constexpr int kGzipWindow = 15 + 16;  // 16 selects a gzip header in zlib
constexpr int kMemoryLevel = 8;

// Returns the text as zlib's input. zlib takes a non-const pointer. It does not write to it.
Bytef* as_input(std::string_view text) { return reinterpret_cast<Bytef*>(const_cast<char*>(text.data())); }

// Runs `step` over the input and appends its output. The output grows in blocks, so a small answer takes little memory.
template <class Step>
int pump(z_stream& stream, std::string& out, std::size_t max_bytes, Step step) {
  std::array<char, 32 << 10> block;
  int status = Z_OK;
  while (status == Z_OK && out.size() <= max_bytes) {
    stream.next_out = reinterpret_cast<Bytef*>(block.data());
    stream.avail_out = block.size();
    status = step(&stream);
    out.append(block.data(), block.size() - stream.avail_out);
  }
  return status;
}

// Returns the weight of one item of Accept-Encoding, such as "gzip;q=0.5". nullopt: it names a different coding.
std::optional<double> gzip_weight(std::string_view item, std::string_view coding) {
  std::string_view name = trim(*next_field(item, ';'));
  if (name != coding) return std::nullopt;
  std::string_view parameter = trim(item);
  if (!parameter.starts_with("q=")) return 1;
  return parse_double(parameter.substr(2)).value_or(0);
}

std::optional<double> weight_of(std::string_view header, std::string_view coding) {
  while (auto item = next_field(header, ',')) {
    if (item->empty()) continue;
    if (auto weight = gzip_weight(*item, coding)) return weight;
  }
  return std::nullopt;
}

}  // namespace

bool accepts_gzip(std::string_view accept_encoding) {
  auto weight = weight_of(accept_encoding, "gzip");
  if (!weight) weight = weight_of(accept_encoding, "*");
  return weight.value_or(0) > 0;
}

Result<std::string> gzip(std::string_view text) {
  z_stream stream{};
  if (deflateInit2(&stream, 1, Z_DEFLATED, kGzipWindow, kMemoryLevel, Z_DEFAULT_STRATEGY) != Z_OK)
    return system_error(ENOMEM, "cannot compress");
  stream.next_in = as_input(text);
  stream.avail_in = static_cast<uInt>(text.size());
  std::string out;
  int status = pump(stream, out, std::string::npos, [](z_stream* s) { return deflate(s, Z_FINISH); });
  deflateEnd(&stream);
  if (status != Z_STREAM_END) return invalid("cannot compress " + std::to_string(text.size()) + " bytes");
  return out;
}

Result<std::string> gunzip(std::string_view packed, std::size_t max_bytes) {
  z_stream stream{};
  if (inflateInit2(&stream, kGzipWindow) != Z_OK) return system_error(ENOMEM, "cannot unpack");
  stream.next_in = as_input(packed);
  stream.avail_in = static_cast<uInt>(packed.size());
  std::string out;
  int status = pump(stream, out, max_bytes, [](z_stream* s) { return inflate(s, Z_NO_FLUSH); });
  inflateEnd(&stream);
  if (out.size() > max_bytes) return invalid("unpacks to more than " + std::to_string(max_bytes) + " bytes");
  if (status != Z_STREAM_END) return invalid("is not one whole gzip stream");
  return out;
}

}  // namespace koord::http
