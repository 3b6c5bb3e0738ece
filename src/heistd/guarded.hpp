// What the API throws becomes a reply.
#pragma once

#include <exception>
#include <heistd/refusal.hpp>
#include <heistd/reply.hpp>
#include <iostream>
#include <new>

namespace heistd {

inline Refusal internal_error(const std::exception& error) {
  std::cerr << "heistd: request failed: " << error.what() << std::endl;
  return {500, "internal", "the server failed to do this"};
}

/// Calls the API; what it throws becomes a reply.
template <class Call>
auto guarded(Call&& call) -> decltype(call()) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return make_reply(out_of_memory());
  } catch (const std::exception& error) {
    return make_reply(internal_error(error));
  }
}

}  // namespace heistd
