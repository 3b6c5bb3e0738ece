// The version of the library, and the namespace that its names live in.
#pragma once

#define HEIST_VERSION_MAJOR 0  ///< the first part of the version
#define HEIST_VERSION_MINOR 1  ///< the second part of the version
#define HEIST_VERSION_PATCH 0  ///< the third part of the version
/// For comparisons: `#if HEIST_VERSION >= 100` is "0.1.0 or later".
#define HEIST_VERSION \
  (HEIST_VERSION_MAJOR * 10000 + HEIST_VERSION_MINOR * 100 + HEIST_VERSION_PATCH)

/// All names stand in an inline namespace of the version, so that what was compiled with the
/// headers of one version does not link with the library of another. Users write heist::, and need
/// not know.
#define HEIST_NAMESPACE heist::inline v0_1

namespace HEIST_NAMESPACE {

/// The machinery: what the headers need and users do not. No name in it is promised to stay.
namespace detail {}

}  // namespace HEIST_NAMESPACE
