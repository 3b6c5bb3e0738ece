// HEIST_EXPORT: what a shared library of heist shows to its users; all else is hidden.
#pragma once

#define HEIST_EXPORT __attribute__((visibility("default")))
