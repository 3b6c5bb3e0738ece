"""What scripts/test --quick runs: for each changed file, the programs that it can break first."""

import subprocess
import sys

from steps import JOBS, ROOT

# (where the change is, {preset: (targets, ctest's names)}). The first row that fits a file counts.
# Threads are judged under ThreadSanitizer; what needs none of it, in release.
CLUSTER = {
    "release": ("heist_cluster_tests heist_conformance", r"cluster|conformance\.agents_\d+"),
    "tsan-clang": ("heist_cluster_order_stress heist_cluster_stress", r"stress\.cluster(_order)?"),
}
LOOP = {
    "release": ("heist_loop_tests heist_conformance heist_signals_tests heist_promise_tests",
                r"loop|signals|promise|conformance\.(posttask|extra)"),
    "tsan-clang": ("heist_post_storm_stress heist_abort_start_stress", r"stress\.(post_storm|abort_start)"),
}
DEBUGGER = {"dev": ("heist_debugged", "debugger")}
ROWS = (
    ("src/heist/cluster/", CLUSTER),
    ("src/heist/cooperative/", {
        "release": ("heist_cooperative_tests heist_conformance", r"cooperative|conformance\.cooperative"),
        "tsan-clang": ("heist_cooperative_stress", r"stress\.cooperative")}),
    ("src/heist/concurrent/", {
        "release": ("heist_concurrent_tests", "concurrent"),
        "tsan-clang": ("heist_concurrent_tests heist_registry_stress", r"concurrent|stress\.registry")}),
    ("src/heist/memory/", {
        "release": ("heist_concurrent_tests", "concurrent"),
        "tsan-clang": ("heist_node_pool_stress", r"stress\.node_pool")}),
    ("src/heist/os/", {"release": ("heist_os_tests", "os")}),
    ("src/heist/api/agent", CLUSTER),
    ("src/heist/api/", {
        "release": ("heist_api_tests heist_conformance", r"api|conformance\.posttask")}),
    ("src/heist/", LOOP),
    ("include/heist/", LOOP),
    ("src/parallel/", {"release": ("heist_parallel_tests", "parallel")}),
    ("src/gdb/", DEBUGGER),
    ("tests/debugger/", DEBUGGER),
    ("docs/debugging.md", DEBUGGER),
    ("src/heistd/journal/", {
        "release": ("heistd heistd_bad_disk heist_heistd_tests", r"heistd|heistd\.faults")}),
    ("src/heistd/postgresql/", {"release": ("heist_postgresql_tests", r"postgresql|postgresql\.check_history")}),
    ("src/heistd/", {"release": ("heistd heist_heistd_tests", r"heistd|heistd\.e2e\.jobs_test")}),
    ("src/heistctl/", {"release": ("heistd heistctl heist_heistctl_tests", r"heistctl|heistctl\.e2e\..*")}),
    ("stress/model/", {"release": ("heist_models heist_model_engine_tests", r"model\..*")}),
    ("tests/scenarios/", {"release": ("heist_conformance heist_corpus_tests", r"corpus|conformance\..*")}),
)


def lines_of(*command):
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()


def changed_files():
    files = lines_of("git", "diff", "--name-only", "HEAD") + lines_of(
        "git", "ls-files", "--others", "--exclude-standard")
    return files or lines_of("git", "diff", "--name-only", "HEAD~1", "HEAD")


def row_for(file):
    """What to run for one file; {} for what only the checks read."""
    for prefix, runs in ROWS:
        if file.startswith(prefix):
            return runs
    folder, _, rest = file.partition("/")
    name = rest.partition("/")[0]
    if folder == "tests" and rest.count("/") and file.endswith((".cpp", ".hpp")):
        return LOOP if name == "support" else {"release": (f"heist_{name}_tests", name)}
    if folder == "stress" and file.endswith("_stress.cpp"):
        name = rest.removesuffix("_stress.cpp")
        return {"tsan-clang": (f"heist_{name}_stress", rf"stress\.{name}")}
    return {}


def plan(files):
    """{preset: (targets, names)} of all files together."""
    planned = {}
    for file in files:
        for preset, (targets, names) in row_for(file).items():
            of_preset = planned.setdefault(preset, (set(), set()))
            of_preset[0].update(targets.split())
            of_preset[1].add(names)
    return planned


def run(steps):
    files = changed_files()
    steps.say(f"{len(files)} changed: {', '.join(files[:5])}{' ...' if len(files) > 5 else ''}")
    checks = ROOT / "scripts" / "check"
    for check in ("layers", "edges", "format"):
        steps.run(f"check {check}", [checks / check])
    for preset, (targets, names) in sorted(plan(files).items()):
        if not (ROOT / "build" / preset / "build.ninja").is_file():
            if not steps.run(f"{preset}: configure", ["cmake", "--preset", preset]):
                continue
        if steps.run(f"{preset}: build", ["cmake", "--build", "--preset", preset, "-j", JOBS, "--target",
                                          *sorted(targets)]):
            steps.ctest(f"{preset}: tests", preset, "-R", f"^({'|'.join(sorted(names))})$")


if __name__ == "__main__":
    sys.exit("quick: run scripts/test --quick")
