"""Finds in the history of a cluster what servers with one queue must not do."""

import history_check
from cluster_facts import LEASE, ClusterFacts
from facts import Problem
from history import ENDS

GRAIN = 0.02  # seconds: the times of runs are cut off at hundredths
LATE = 1.5  # seconds: a program that was started before may note so later
HEARTBEAT = 2  # seconds until a server hears of an abort
BOUND = 5  # seconds in which an urgent job starts: servers look each two seconds, and the machine is busy


def ends_stay(facts):
    """A job ends once: what was said of its end stays true. The server that runs a job may not have heard of its abort
    yet."""
    for id in list(facts.seen):
        first = facts.ended(id)
        for later in facts.seen[id] if first else ():
            if later.begin <= first.end or history_check.same_end(first.state, later.state):
                continue
            if not (first.state == "aborted" and later.state == "running" and may_not_have_heard(facts, first, later)):
                yield facts.problem("changed", id, f"was {first.state}, and then {later.state} ({later.source})")
                break


def may_not_have_heard(facts, told, later):
    return later.source == "get" and (
        later.begin < told.end + HEARTBEAT + LATE or not facts.was_well(later.server, told.end, later.begin))


def attempts_rise(facts):
    """Each attempt has a number that no other one has, and a later one a higher number."""
    for id, runs in list(facts.runs.items()):
        for before, after in zip(runs, runs[1:]):
            if after.attempt == before.attempt:
                yield facts.problem("attempt twice", id, f"attempt {after.attempt} began twice")
                break
            if after.attempt < before.attempt and after.begin > before.begin + LATE:
                yield facts.problem("attempt back", id, f"attempt {after.attempt} began after {before.attempt}")
                break


def latest_attempt_ends_it(facts):
    """What is stored as a job's end is that of its latest attempt."""
    for id, row in facts.history.last.items():
        latest = max((run.attempt for run in facts.runs[id]), default=0)
        if row.state in ENDS and latest > row.attempt:
            text = f"is {row.state} by attempt {row.attempt}, and attempt {latest} had begun"
            yield facts.problem("old end", id, text)
        words = (row.value or "").split()
        if len(words) == 2 and int(words[1]) != row.attempt:
            text = f"is done by attempt {row.attempt}, and its result is that of attempt {words[1]}"
            yield facts.problem("old end", id, text)


def nothing_runs_after_the_end(facts):
    """No program begins after its job has ended, but for one that was on its way: a server hears late of an abort, and
    one that stood still may just have been about to start it."""
    for id, row in facts.history.last.items():
        for run in facts.runs[id] if row.ended else ():
            may_not_know = row.state == "aborted" or run.attempt < row.attempt
            end = row.ended + LATE + (HEARTBEAT if may_not_know else 0)
            if run.begin <= end or (may_not_know and not facts.was_well(run.process, row.ended, run.begin)):
                continue
            text = f"was {row.state}, and {run.begin - row.ended:.3f} s later attempt {run.attempt} began"
            yield facts.problem("after its end", id, text)
            break


def attempts_do_not_overlap(facts):
    """A job has one program at a time: an earlier one ends, or is killed, before another server has the job."""
    for id, runs in list(facts.runs.items()):
        for before, after in zip(runs, runs[1:]):
            if before.end and before.end > after.begin + GRAIN:
                text = f"attempt {before.attempt} ran until {before.end:.3f}, and {after.attempt} from {after.begin:.3f}"
                yield facts.problem("at the same time", id, text)
                break


def repeated_runs_have_faults(facts):
    """A program runs again only if the one before said so, or its process was killed or could not keep its lease."""
    for id, runs in list(facts.runs.items()):
        for before, after in zip(runs, runs[1:]):
            if before.will_retry or facts.may_have_lost(before.process, before.begin, after.begin):
                continue
            text = f"attempt {after.attempt} ran, and nothing had befallen process {before.process} with {before.attempt}"
            yield facts.problem("repeated", id, text)
            break


def lost_attempts_have_faults(facts):
    """A job loses no more attempts than there are faults that may have cost it one, programs or not."""
    for id, row in facts.history.last.items():
        acceptance = facts.accepted.get(id)
        lost = row.attempt - row.forgiven - 1 - sum(run.will_retry for run in facts.runs[id])
        if row.state not in ENDS or lost <= 0 or not acceptance:
            continue
        faults = sum(facts.losses(process, acceptance.begin, row.ended) for process in facts.processes)
        if lost > faults:
            yield facts.problem("repeated", id, f"has lost {lost} attempts, and {faults} faults may have cost it one")


def attempts_are_counted(facts):
    """No job is started more often than it may be, and what was started was counted."""
    for id, row in facts.history.last.items():
        used = row.attempt - row.forgiven
        if used > row.max_attempts:
            yield facts.problem("attempts", id, f"was started {used} times, and may be so {row.max_attempts} times")
        elif row.state == "dead" and used < row.max_attempts:
            yield facts.problem("attempts", id, f"is dead after {used} of {row.max_attempts} attempts")
        elif len(facts.runs[id]) > row.attempt:
            text = f"was started {len(facts.runs[id])} times, and {row.attempt} attempts were counted"
            yield facts.problem("attempts", id, text)


def urgent_jobs_start_soon(facts):
    """An urgent job is not left waiting by a server that nothing befell, and that starts it in the end."""
    for id, acceptance in facts.accepted.items():
        runs = facts.runs[id]
        if facts.names[id] not in facts.history.urgent or not runs or runs[0].attempt != 1:
            continue
        waited = facts.longest_rest(runs[0].process, acceptance.end, runs[0].begin)
        if waited > BOUND:
            text = f"was urgent, and process {runs[0].process} left it waiting for {waited:.1f} s, though nothing befell it"
            yield facts.problem("urgent", id, text)


def followers_start_after_it(facts):
    """A job that comes after another one starts when that is done, and never if it ends in another way."""
    for id, row in facts.history.last.items():
        before = facts.history.last.get(row.after)
        if not before or not facts.runs[id]:
            continue
        if before.state != "done" or facts.runs[id][0].begin + GRAIN < before.ended:
            text = f"began at {facts.runs[id][0].begin:.3f}, and {row.after}, before it, was {before.state} at {before.ended}"
            yield facts.problem("too early", id, text)


OF_ONE_SERVER = (
    history_check.accepted_jobs_stay,
    history_check.one_job_for_a_request,
    history_check.forgotten_jobs_stay_so,
    history_check.results_are_right,
    history_check.ends_have_reasons,
    history_check.journals_release_followers,
    history_check.refused_followers_have_reasons,
    history_check.all_jobs_end,
    history_check.answers_are_expected,
)
RULES = OF_ONE_SERVER + (
    ends_stay,
    attempts_rise,
    latest_attempt_ends_it,
    nothing_runs_after_the_end,
    attempts_do_not_overlap,
    repeated_runs_have_faults,
    lost_attempts_have_faults,
    attempts_are_counted,
    urgent_jobs_start_soon,
    followers_start_after_it,
)


def problems(history):
    facts = ClusterFacts(history)
    return [problem for rule in RULES for problem in rule(facts)]
