// openssl_memory: OpenSSL without memory.
#pragma once

namespace heistd {

/// Has OpenSSL, too, get the reserve of the network's thread when there is no memory. Without it
/// nobody could ask a server with TLS for its health then.
///
/// Thread: any, before OpenSSL is used; afterwards this does nothing.
void give_openssl_the_reserve() noexcept;

}  // namespace heistd
