// HEIST_EXPORT: what a shared library of heist shows to its users. All else is hidden; HEIST_HIDDEN
// says so within a class that is shown.
#pragma once

#define HEIST_EXPORT [[gnu::visibility("default")]]
#define HEIST_HIDDEN [[gnu::visibility("hidden")]]
