// Crashes of the program under test are failures of the execution.
#pragma once

namespace heist::model {

/// From now on a crash (an invalid access, an assertion, an exception nobody catches) ends the
/// execution, and is reported with its trace like a broken promise. One of the engine itself
/// crashes as ever.
void report_crashes();

}  // namespace heist::model
