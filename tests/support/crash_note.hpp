// A note for crashes, so that one in the middle of random work names the seed.
#pragma once

#include <string_view>

namespace heist::test {

/// Sets what a crash prints to stderr from now on. A crash is a failed assertion, an unhandled
/// exception, a bad access, or an error for which a sanitizer ends the program. The text is cut
/// after 100 characters.
///
/// Thread: one.
void note_for_crashes(std::string_view note);

}  // namespace heist::test
