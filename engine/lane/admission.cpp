#include "lane/admission.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <array>
#include <charconv>

#include "lane/endpoint.h"

namespace engine::lane {
namespace {

using httplib::Request;

using Digest = std::array<unsigned char, SHA256_DIGEST_LENGTH>;

Digest digest(std::string_view text) {
  Digest result;
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), result.data());
  return result;
}

// In a time that does not depend on where, or in length, the two differ.
bool same_secret(std::string_view a, std::string_view b) {
  const Digest left = digest(a), right = digest(b);
  return CRYPTO_memcmp(left.data(), right.data(), left.size()) == 0;
}

// A length that is wrong at sight is refused before the body is waited for.
void check_length(const Request& request, const ServerOptions& options) {
  const auto [first, last] = request.headers.equal_range("Content-Length");
  if (first == last) return;
  for (auto field = first; field != last; ++field) {
    if (field->second != first->second) throw ApiError(400, "two lengths of the body differ");
  }
  const std::string& text = first->second;
  const bool is_number = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  if (!is_number) throw ApiError(400, "the length of the body is no number");
  std::size_t length = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
  if (error != std::errc() || length > options.body_bytes) throw too_long(options);
}

}  // namespace

std::string_view label_of_path(std::string_view path) {
  for (const EndpointNames& names : kEndpoints)
    if (path == names.path) return names.label;
  return path == "/tokenize" || path == "/detokenize" ? path.substr(1) : "other";
}

void read_rightly(Request& request) {
  // It would pack a stream whose type names a charset, and hold back its events.
  request.headers.erase("Accept-Encoding");
  // The absolute form, which clients of proxies send: http://HOST/PATH.
  const std::size_t scheme = request.path.find("://");
  if (scheme == std::string::npos || request.path.find('/') < scheme) return;
  const std::size_t path = request.path.find('/', scheme + 3);
  request.path = path == std::string::npos ? "/" : request.path.substr(path);
}

void admit(const Request& request, const ServerOptions& options) {
  const bool is_post = label_of_path(request.path) != "other";
  const bool asks_first = request.method == "OPTIONS" && !options.cors_origin.empty();
  if (request.path == "/health" || request.path == "/" || asks_first) return;
  if (!options.api_key.empty() &&
      !same_secret(request.get_header_value("Authorization"), "Bearer " + options.api_key))
    throw ApiError(401, "the API key is missing or wrong", "", "invalid_api_key");
  if (request.path == "/v1/embeddings")
    throw ApiError(404, "this server generates text; it makes no embeddings", "", "unsupported");
  if (request.path.starts_with("/v1/responses/") || request.path.starts_with("/v1/conversations"))
    throw ApiError(404, "this server stores no responses", "", "unsupported");
  const bool reads = request.method == "GET" || request.method == "HEAD";
  const bool posts = request.method == "POST";
  if (is_post ? !posts : !reads) {
    const bool known = is_post || !posts;
    throw ApiError(known ? 405 : 404,
                   fmt::format("there is no {} {} here", request.method, request.path));
  }
  if (!posts) return;
  if (request.is_multipart_form_data()) throw ApiError(415, "the body must be JSON");
  if (!request.has_header("Content-Length") && !request.has_header("Transfer-Encoding"))
    throw ApiError(411, "the length of the body is missing");
  check_length(request, options);
}

ApiError too_long(const ServerOptions& options) {
  return ApiError(413, fmt::format("the body is longer than {} bytes", options.body_bytes));
}

ApiError error_of_status(int status, const Request& request) {
  switch (status) {
    case 400:
      return ApiError(400, "the request is not valid HTTP");
    case 404:
      return ApiError(404, fmt::format("there is no {} {} here", request.method, request.path));
    case 414:
      return ApiError(414, "the address is too long");
    default:
      return ApiError(status, "the request cannot be answered");
  }
}

}  // namespace engine::lane
