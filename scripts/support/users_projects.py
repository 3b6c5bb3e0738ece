"""Projects of users of heist, for the scripts of scripts/verification."""

from building import ROOT, run

PROJECTS = ROOT / "tests" / "consumer"
COMPILERS = {"gcc": "g++", "clang": "clang++-19"}


def options(compiler, **variables):
    wanted = {"CMAKE_BUILD_TYPE": "Release", "CMAKE_UNITY_BUILD": "ON", **variables}
    return [f"-DCMAKE_CXX_COMPILER={COMPILERS[compiler]}", *(f"-D{name}={value}" for name, value in wanted.items())]


def use(project, folder, wanted):
    """Builds a user's project in a fresh folder and runs its tests."""
    run(["cmake", "-E", "rm", "-rf", folder],
        ["ctest", "--build-and-test", PROJECTS / project, folder, "--build-generator", "Ninja",
         "--build-options", *wanted, "--test-command", "ctest", "--output-on-failure", "--no-tests=error"])
