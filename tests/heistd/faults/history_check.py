"""Finds in a history what a job server with a journal must not do."""

import collections
import dataclasses

from facts import GRAIN, TOLERANCE, Facts, Problem
from history import ENDS

def accepted_jobs_stay(facts):
    """What was accepted is in the journal, and is found, until somebody deletes it."""
    for id, acceptance in facts.accepted.items():
        told = acceptance.end
        for number, view in enumerate(facts.history.views):
            if view.time < told or facts.row_at(id, number) or facts.was_asked_to_delete(id, view.time):
                continue
            yield facts.problem("lost", id, f"was accepted, and the journal of server {view.server} does not have it")
            break
        for request in facts.gone[id]:
            if request.begin > told and not facts.was_asked_to_delete(id, request.end):
                yield facts.problem("lost", id, "was accepted, and then the server did not know it")
                break


def one_job_for_a_request(facts):
    """A request that is repeated with its key gives one job, unless that one is aborted or dead."""
    for name, ids in facts.ids.items():
        job = facts.history.jobs[name]
        live = {id for id in ids if not (job.key and frees_key(facts, id))}
        if len(live) > 1:
            yield facts.problem("twice", min(live), f"was asked for once, and {len(live)} jobs came of it: {sorted(live)}")


def frees_key(facts, id):
    row = next((row for _, row in reversed(facts.history.rows.get(id, [])) if row), None)
    if row:
        return row.state in ("aborted", "dead")
    told = facts.ended(id)
    return told is not None and told.state in ("aborted", "failed", "dead")


def ends_stay(facts):
    """A job ends once: what was said of its end stays true."""
    for id in list(facts.seen):
        first = facts.ended(id)
        if first is None:
            continue
        for later in facts.seen[id]:
            if later.begin > first.end and not same_end(first.state, later.state):
                yield facts.problem("changed", id, f"was {first.state}, and then {later.state} ({later.source})")
                break


def same_end(one, other):
    """Clients see dead jobs as failed ones."""
    return one == other or {one, other} == {"failed", "dead"}


def forgotten_jobs_stay_so(facts):
    """A job that had ended when it was deleted, or that the server did not know, does not come back."""
    for id in {**facts.deletions, **facts.gone}:
        ended = facts.ended(id)
        forgot = [each.end for each in facts.deletions[id] if each.status == 200 and ended and ended.end < each.begin]
        forgot += [each.end for each in facts.gone[id]]
        if not forgot:
            continue
        later = [seen for seen in facts.seen[id] if seen.begin > min(forgot)]
        views = [view for number, view in enumerate(facts.history.views)
                 if view.time > min(forgot) and facts.row_at(id, number)]
        if later or views:
            yield facts.problem("came back", id, "had been forgotten, and is there again")


def results_are_right(facts):
    """Each result is that of the job's upload, and there when the job is done, and at no other time."""
    for id, all_seen in list(facts.seen.items()):
        job = facts.job(id)
        for seen in all_seen:
            if job and seen.value is not None and seen.value.split()[:1] != [job.result]:
                yield facts.problem("wrong result", id, f"gave {seen.value}, and not {job.result}")
                break
        if len({seen.value for seen in all_seen if seen.value and seen.state == "done"}) > 1:
            yield facts.problem("two results", id, "gave one result, and then another")
    for id, rows in facts.history.rows.items():
        for _, row in rows:
            if row and row.has_result and row.state != "done":
                yield facts.problem("result without its state", id, f"is {row.state}, and has a result")
                break
            if row and row.needs_result and not row.has_result:
                yield facts.problem("no result", id, "is done, and its result is not there")
                break
    for view in facts.history.views:
        if view.orphans:
            yield Problem("result without its state", "none", f"{view.orphans} results belong to no job", [])


def uploads_stay(facts):
    """The upload is there as long as the job may need it."""
    for id, rows in facts.history.rows.items():
        if any(row and row.needs_payload and not row.has_payload for _, row in rows):
            yield facts.problem("no upload", id, "may be started again, and its upload is not there")


def attempts_are_counted(facts):
    """No start has another one's number, and there are no more of them than the job may have."""
    for id, rows in facts.history.rows.items():
        numbered = [(number, row) for number, row in rows if row]
        for (_, before), (_, after) in zip(numbered, numbered[1:]):
            if after.attempt < before.attempt:
                yield facts.problem("attempts", id, f"had {before.attempt} attempts, and then {after.attempt}")
        for number, row in numbered:
            text = wrong_count(facts, id, number, row)
            if text:
                yield facts.problem("attempts", id, text)
                break


def wrong_count(facts, id, number, row):
    used = row.attempt - row.forgiven
    if used > row.max_attempts:
        return f"was started {used} times, and may be so {row.max_attempts} times"
    if row.state == "dead" and used < row.max_attempts:
        return f"is dead after {used} of {row.max_attempts} attempts"
    view = facts.history.views[number]
    told_to_end = servers_told_to_end(facts, id, view)
    if row.forgiven > told_to_end and not may_be_released(facts, id, view):
        return f"had {row.forgiven} attempts forgiven, and {told_to_end} servers were told to end"
    started = [start for start in facts.starts_of(id)
               if start.server <= view.server and start.time + GRAIN < view.time]
    # A loss of power may take a count that was not synced.
    lost = {each.number for each in facts.history.servers if each.how == "lost power"}
    uncounted = sum(start.server in lost for start in started)
    # A start may be counted while the abort of its job is being stored, which has the count of before.
    uncounted += row.state == "aborted" and any(facts.came_as_it_was_aborted(id, start) for start in started)
    if len(started) > row.attempt + uncounted:
        return f"was started {len(started)} times, and {row.attempt} attempts were counted"
    return None


def servers_told_to_end(facts, id, view):
    """How many were so while there was the job."""
    acceptance = facts.accepted.get(id)
    begin = acceptance.begin if acceptance else 0
    return sum(each.how == "told to" and begin <= each.end <= view.time for each in facts.history.servers)


def may_be_released(facts, id, view):
    """Whether it may have been aborted as it was started, so that the start was given back."""
    acceptance = facts.accepted.get(id)
    return acceptance is None or facts.was_asked_to_abort(id, acceptance, view.time)


def latest_attempt_counts(facts):
    """The result is that of the latest attempt, and after the end there is none."""
    for id in list(facts.seen):
        starts = facts.starts_of(id)
        latest = max((start.server for start in starts), default=0)
        for seen in facts.seen[id]:
            words = (seen.value or "").split()
            if seen.state == "done" and len(words) == 2 and int(words[1]) < latest:
                text = f"has the result of server {words[1]}, and server {latest} has started it again"
                yield facts.problem("late end", id, text)
                break
        ended = facts.ended(id)
        if ended and any(start.server > ended.server for start in starts):
            yield facts.problem("started after its end", id, f"was {ended.state}, and was started again")


def ends_have_reasons(facts):
    """A job is aborted when somebody asks for that, or the one before it is not done; it fails when its program does."""
    for id, acceptance in facts.accepted.items():
        job = facts.job(id)
        for seen in facts.seen[id]:
            has_reason = facts.was_asked_to_abort(id, acceptance, seen.end) or facts.may_have_ended_badly(job.after)
            if seen.state == "aborted" and not has_reason:
                yield facts.problem("no reason", id, "was aborted, and nobody had asked for that")
                break
            # Who posts a job and waits is told of a dead one as of one that has failed.
            if seen.state == "failed" and seen.source != "submit" and job.does != "fail":
                yield facts.problem("no reason", id, "has failed, and had no reason to")
                break


def followers_wait(facts):
    """A job that comes after another one starts when that is done, and never if that ends in any other way."""
    for id in list(facts.names):
        job = facts.job(id)
        ran = facts.ran_by(id) if job and job.after else None
        if ran is None:
            continue
        for seen in facts.seen[job.after]:
            if seen.state != "done" and (seen.state in ENDS or seen.begin > ran + GRAIN):
                text = f"was started, and {job.after}, before it, was {seen.state} ({seen.source})"
                yield facts.problem("too early", id, text)
                break
        first = min(((start.server, start.time) for start in facts.starts_of(id)), default=None)
        if first and any((start.server, start.time) > first for start in facts.starts_of(job.after)):
            yield facts.problem("too early", id, f"was started, and then {job.after}, before it, was started")


def journals_release_followers(facts):
    """In the journal a job waits for the one before it as long as both have not ended."""
    for id, rows in facts.history.rows.items():
        after = next((row.after for _, row in rows if row), None)
        if after is None:
            continue
        for number, _ in sorted(rows + facts.history.rows.get(after, []), key=lambda each: each[0]):
            row, other = facts.row_at(id, number), facts.row_at(after, number)
            if row and row.follows != (is_unfinished(row) and is_unfinished(other)):
                text = f"is {row.state}, waits: {row.follows}, and {after}, before it, is {other.state if other else 'gone'}"
                yield facts.problem("follower", id, text)
                break


def is_unfinished(row):
    return row is not None and row.state not in ENDS


def refused_followers_have_reasons(facts):
    """A job is refused because of the one before it only if that was not done, or may be gone."""
    for request in facts.history.requests:
        if request.what != "submit" or not request.refused:
            continue
        after = facts.history.jobs[request.about].after
        has_failed = request.code == "predecessor_failed" and not facts.may_have_ended_badly(after)
        is_gone = request.code == "no_predecessor" and not facts.was_asked_to_delete(after, request.end)
        if has_failed or is_gone:
            yield facts.problem("refused follower", after, f"{request.about} was refused after it: {request.code}")


def deleted_signals_end_their_jobs(facts):
    """A job whose signal was deleted after it had been accepted does not go on."""
    for id, acceptance in facts.accepted.items():
        job = facts.job(id)
        for request in facts.signal_deletions[job.client, job.signal]:
            if request.status != 200:
                continue
            goes_on = [seen for seen in facts.seen[id] if seen.begin > request.end and seen.state not in ENDS]
            if acceptance.end < request.begin and goes_on:
                yield facts.problem("signal", id, f"is {goes_on[0].state}, and its signal {job.signal} was deleted before")
                break


def refused_requests_have_no_effect(facts):
    """No job comes of a request that was refused, but for one that is aborted and was never started."""
    asked = collections.defaultdict(list)
    for request in facts.history.requests:
        if request.what == "submit":
            asked[request.about].append(request)
    for id, name in facts.names.items():
        requests = asked[name]
        rows = [row for _, row in facts.history.rows.get(id, []) if row]
        has_effect = any(row.state != "aborted" or row.attempt > 0 for row in rows)
        if requests and has_effect and all(request.refused for request in requests):
            yield facts.problem("refused", id, f"was refused with {requests[0].status} {requests[0].code}, and is there")


def urgent_jobs_go_first(facts):
    """A job does not start before a more urgent one that had been accepted before it was asked for."""
    started = [each for each in Prompt.all_of(facts) if each.job.priority in ("user-blocking", "background")]
    for urgent in started:
        if urgent.job.priority != "user-blocking" or urgent.start < urgent.accepted + TOLERANCE:
            continue
        for other in started:
            if other.job.priority == "background" and other.overtook(urgent) and not facts.was_trouble(urgent):
                events = [f"{each.job.name} was asked for at {each.asked:.3f}, accepted at {each.accepted:.3f} and started "
                          f"at {each.start:.3f}" for each in (urgent, other)]
                yield Problem("order", urgent.job.name, f"is urgent, and {other.job.name} went first", events)
                break


@dataclasses.dataclass
class Prompt:
    """A job that waits for nothing, and that the server that accepted it has started."""

    job: object
    server: int
    asked: float
    accepted: float
    start: float

    @staticmethod
    def all_of(facts):
        for id, acceptance in facts.accepted.items():
            job, starts = facts.job(id), facts.starts_of(id)
            if job.priority and not (job.delay or job.after) and starts and starts[0].server == acceptance.server:
                yield Prompt(job, acceptance.server, acceptance.begin, acceptance.end, starts[0].time)

    def overtook(self, urgent):
        return (self.server == urgent.server and self.asked > urgent.accepted
                and self.start + TOLERANCE < urgent.start)


def all_jobs_end(facts):
    """At the end, when nothing failed any more, each job has ended."""
    for id in facts.history.rows:
        row = facts.last_row(id)
        if row and row.state not in ENDS:
            yield facts.problem("never ends", id, f"is {row.state} when all should have ended")


EXPECTED = {200, 201, 202, 404, 408, 409, 422, 503, None}
CODES = {"journal_failed", "shutting_down", "aborted", "not_found", "not_finished", "no_result", "result_gone",
         "command_failed", "attempt_lost", "timeout", "truncated_request", "too_many_connections", "predecessor_failed",
         "no_predecessor", "finished", "follows_signal", None}


def answers_are_expected(facts):
    """No request is refused for a reason that it does not give."""
    for request in facts.history.requests:
        if request.status not in EXPECTED or request.code not in CODES:
            yield Problem("answer", request.about, f"{request.what}: {request.status} {request.code}", [])


RULES = (
    accepted_jobs_stay,
    one_job_for_a_request,
    ends_stay,
    forgotten_jobs_stay_so,
    results_are_right,
    uploads_stay,
    attempts_are_counted,
    latest_attempt_counts,
    ends_have_reasons,
    followers_wait,
    journals_release_followers,
    refused_followers_have_reasons,
    deleted_signals_end_their_jobs,
    refused_requests_have_no_effect,
    urgent_jobs_go_first,
    all_jobs_end,
    answers_are_expected,
)


def problems(history):
    facts = Facts(history)
    return [problem for rule in RULES for problem in rule(facts)]
