// HEIST_EXPORT marks what a shared library of heist shows to its users. Everything else is hidden.
// HEIST_HIDDEN hides a member of a class that is shown.
#pragma once

#define HEIST_EXPORT [[gnu::visibility("default")]]
#define HEIST_HIDDEN [[gnu::visibility("hidden")]]
