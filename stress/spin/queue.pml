/* A model of many heistd that share one queue of jobs in a database, for Debian's `spin`.
 *
 * scripts/verification/queue_model runs it: the sound protocol must pass, and each of the variants
 * that the script lists, a macro here, must fail. The model decides what the statements check.
 *
 * state.pml has the variables, statements.pml what happens in the database, node.pml and faults.pml
 * what a node does and what befalls it; this file has the rest.
 *
 * ROLES (processes)
 *   clients       post the urgent job, and change the priority of the signal that job 0 follows.
 *   connection    of a node: one statement at a time on one connection; its answers.
 *   job_on_node   what a node does with one job: start, end, or the abort of the fence.
 *   machine       of a node: what befalls it (crash, SIGSTOP, lost connection), and its recovery.
 *   keeper        reclaims the jobs of nodes whose lease has ended; any other node does that.
 *   clock         lets time pass, in ticks.
 *
 * STATES
 *   of a job in the database: ABSENT -> READY -> CLAIMED -> DONE, with ways back from CLAIMED to
 *   READY (release, loss, reclaim), or to DEAD when that was the last attempt.
 *   of a job on a node: NONE -> HELD (claimed, not started) -> STARTED -> ENDED (its completion is
 *   not answered yet) -> NONE; or LOST (aborted by the fence; the database is not told yet), or
 *   GIVEN (a release is not answered yet).
 *
 * STATEMENTS: each atomic block below that touches the database is one transaction in SQL. Those
 * that look at the node's session lock its row first, so that they come before or after a reclaim
 * of the node, not beside it. Reclaim and reconnect read the jobs in a second statement, behind
 * that lock: a single one would read them as they were before it waited, and miss what was claimed
 * meanwhile.
 *   claim      session is valid and lease not over; the most urgent ready job, oldest first, of a
 *              level at which the node has fewer jobs than agents, counted in the same statement:
 *              UPDATE job SET owner, state, epoch = epoch + 1, attempt = attempt + 1.
 *   renew      UPDATE node SET alive_until = now() + lease WHERE id AND its lease is not over.
 *   complete   UPDATE job SET state = 'done' WHERE id AND epoch AND state = 'claimed'; if that was
 *              no row, a job that is done with this epoch answers "done" again, all else is late.
 *   loss       the same condition; ready again, or dead if this was the last attempt.
 *   release    the same condition; ready again, attempt = attempt - 1. Only for what never started.
 *   reclaim    DELETE FROM node WHERE alive_until < now(), and a loss of each of its jobs, in one
 *              transaction. That ends the node's session.
 *   reconnect  takes a new number for the node's session, so that a claim or renewal which is still
 *              on its way on the old connection has no effect; then releases what the database has
 *              as the node's, and the node does not know: the answer of that claim was lost.
 *              A node that has been reclaimed first ends what it still runs; then it begins anew.
 *   restart    a new row, with a session and a lease, once the lease of the process that has
 *              crashed is over; a loss of each job that it had.
 *
 * ASSUMPTIONS
 *   The database is one, and keeps what it has committed. Clocks of nodes and of the database run
 *   at the same rate, also while a process is stopped (CLOCK_BOOTTIME); their values do not matter.
 *   A node that is awake acts within a tick: it renews when that is due, and its running jobs end
 *   within CHUNK ticks after the fence. A statement is answered within the tick, unless its node
 *   is stopped or has lost its connection; these last for any time. To have fewer states a
 *   statement takes effect as it is asked, unless the connection is lost just then; with
 *   SLOW_STATEMENTS other steps come in between. A crashed process is gone before it is started
 *   again with the same name. What a chunk in progress still does after a SIGSTOP cannot be
 *   prevented: the node looks at its lease at the next chunk.
 *   One agent a node. Work never fails by itself. `faults` bounds how much befalls all nodes.
 *
 * PROPERTIES
 *   ends once        A job that is done or dead stays so; the completion that was accepted is that
 *                    of the current claim, and its node is never told that it was late.
 *   current claim    At each start and end on a node the job is claimed by this node, by
 *                    this claim. So two nodes never work on it, but for the rest of a chunk.
 *   not beside       When a job starts, no other node has it started, but for one that is stopped
 *                    or has gone on and not looked at its lease yet.
 *   attempts         A job is started no more often than its limit says, and it is dead only if
 *                    as many faults have happened.
 *   no inversion     After a claim of a node was answered, the node runs no chunk of a job that is
 *                    lower than one which that claim could have taken and left.
 *   no prefetch      A claim gives a node no job that its agents cannot start at once.
 *   no dead end      Time never stands still before all jobs have ended (invalid end states).
 *   each job ends    With weak fairness, each accepted job ends (an LTL formula, with LIVENESS).
 */

/* SIZES: a configuration may set others. */
#ifndef JOBS
#define JOBS 2
#endif
#ifndef FAULTS
#define FAULTS 2
#endif
#ifndef CHANGES
#define CHANGES 1
#endif
#define NODES 2
#define AGENTS 1
#define MAX_ATTEMPTS 2
#define LEASE 4
#define RENEW_DUE 1
#ifdef LONG_CHUNK
#define CHUNK 2
#else
#define CHUNK 1
#endif
#ifdef FENCE_AFTER_LEASE
#define FENCE LEASE
#else
#define FENCE 2
#endif

#include "state.pml"
#include "statements.pml"
#include "node.pml"
#include "faults.pml"

#define OWNS_SOMETHING(n) (OWNED(n, LOW) > 0)
#define CAN_RECLAIM(n) (lease[n] == 0 && valid[n] && OWNS_SOMETHING(n) && \
                        machine_state[1 - n] == UP && connected[1 - n])

inline reclaim(n) {
  printf("the jobs of node %d are reclaimed\n", n);
#ifndef RECLAIM_LEAVES_SESSION
  valid[n] = false;
#endif
  lose_all_of(n)
}

proctype keeper() {
end:
  do
  :: d_step { CAN_RECLAIM(0) -> reclaim(0); skip }
  :: d_step { CAN_RECLAIM(1) -> reclaim(1); skip }
  od
}

proctype clients() {
end:
  do
  :: d_step { state[1] == ABSENT -> printf("the urgent job arrives\n"); make_ready(1) }
  :: d_step {
      changes < CHANGES ->
      changes++;
      printf("the signal changes\n");
      signal_level = 1 - signal_level;
      room_has_changed(0);
      room_has_changed(1);
      skip
    }
  od
}

#define IN_TIME(n) \
  (machine_state[n] != UP || \
   (!(ANY(STARTED, n) && since[n] >= FENCE + CHUNK) && \
    (!connected[n] || (asked[n] == NOTHING && ASKS_NOTHING(n)))))

inline age(n) {
  lease[n] = (lease[n] > 0 -> lease[n] - 1 : 0);
  since[n] = (machine_state[n] == DOWN -> 0 : (since[n] < LEASE -> since[n] + 1 : since[n]));
  asked_age[n] = (asked[n] != NOTHING && asked_age[n] < LEASE -> asked_age[n] + 1 : asked_age[n]);
  polled[n] = false
}

proctype clock() {
  do
  :: d_step { !ALL_ENDED && IN_TIME(0) && IN_TIME(1) -> printf("a tick\n"); age(0); age(1) }
  :: ALL_ENDED -> break
  od
}

init {
  d_step {
    i = 0;
    do
    :: i < JOBS -> owner[i] = NOBODY; state[i] = (i == 1 -> ABSENT : READY); i++
    :: else -> break
    od;
    begin_session(0);
    begin_session(1);
    connected[0] = true;
    connected[1] = true;
    i = 0
  }
  atomic {
    run clock();
    run clients();
    run keeper();
    run machine(0);
    run machine(1);
    run connection(0);
    run connection(1);
    run job_on_node(0, 0);
    run job_on_node(0, 1);
    run job_on_node(1, 0);
    run job_on_node(1, 1)
#if JOBS == 3
    ;
    run job_on_node(0, 2);
    run job_on_node(1, 2)
#endif
  }
}

#ifdef LIVENESS
ltl each_job_ends { <> ALL_ENDED }
#endif
