// The inside of a small web server, without the network: it answers a few requests it brings along, over and over.
//
//   server [ROUNDS]    (default 3)
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "checksum.h"
#include "request.h"

// What was answered last. The response carries its checksum.
unsigned char buffer[64];

namespace {

constexpr std::array<std::string_view, 3> requests = {
    "GET /search?q=flame+graph&lang=en%2Dgb&page=2 HTTP/1.1\r\n"
    "Host: example.org\r\n"
    "Accept: text/html\r\n"
    "\r\n",

    "POST /orders HTTP/1.1\r\n"
    "Host: example.org\r\n"
    "Content-Type: application/json\r\n"
    "\r\n"
    R"({"customer": 4711, "items": [{"id": 1, "price": 9.5}, {"id": 2, "price": 20}], "gift": true, "note": null})",

    "POST /login HTTP/1.1\r\n"
    "Host: example.org\r\n"
    "Content-Type: application/x-www-form-urlencoded\r\n"
    "\r\n"
    "user=ada&password=%6Cove%6Cace",
};

std::string answer(const Request& request) {
  std::string text = request.method + " " + request.path + ":";
  for (const auto& [name, value] : request.query) text += " " + name + "=" + value;
  return text + " " + std::to_string(sum(request.body));
}

void serve(std::string_view text) {
  const std::string body = answer(parse_request(text));
  std::fill(std::begin(buffer), std::end(buffer), 0);
  std::copy_n(body.begin(), std::min(body.size(), sizeof buffer), buffer);
  std::printf("%08x %s\n", checksum(buffer, sizeof buffer), body.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 3;
  try {
    for (int round = 0; round < rounds; ++round) {
      for (const std::string_view request : requests) serve(request);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "server: bad request: %s\n", error.what());
    return 1;
  }
  return 0;
}
