#include "scenarios/replay/values.hpp"

#include <heist/error.hpp>

namespace heist::test {

nlohmann::json shown(const Reason& reason) {
  if (!reason) return "undefined";
  if (const auto* plain = reason.value<PlainReason>()) return plain->value;
  try {
    reason.rethrow();
  } catch (const AbortError&) {
    return "AbortError";
  } catch (const TimeoutError&) {
    return "TimeoutError";
  } catch (const NotAllowedError&) {
    return "NotAllowedError";
  } catch (const std::exception& error) {
    return error.what();  // a body error, or the interpreter's own: then no trace has it
  }
}

}  // namespace heist::test
