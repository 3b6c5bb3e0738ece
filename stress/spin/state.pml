/* The variables of the model in queue.pml, and what its conditions are made of. */

#define LOW 0
#define URGENT 1

/* The database. Job 0 follows the signal, job 1 is urgent, job 2 is low. */
#define ABSENT 0
#define READY 1
#define CLAIMED 2
#define DONE 3
#define DEAD 4
#define NOBODY NODES
byte state[JOBS];
byte owner[JOBS];
byte epoch[JOBS];
byte attempt[JOBS];
byte signal_level = LOW;
byte lease[NODES];   /* what is left of it */
bool valid[NODES];   /* the session that the node has is the one in its row */

/* The nodes. */
#define UP 0
#define STOPPED 1
#define DOWN 2
#define NONE 0
#define HELD 1
#define STARTED 2
#define ENDED 3
#define LOST 4
#define GIVEN 5
byte machine_state[NODES];
bool connected[NODES];
byte since[NODES];         /* ticks since the last renewal that was answered was asked for */
byte heard_level[NODES];   /* the signal's, as the node knows it */
bool polled[NODES];        /* in this tick, and there was nothing to claim */
byte on_node[NODES * JOBS];
byte known_epoch[NODES * JOBS];

/* The statement that a node has asked, and one of an earlier connection that is on its way. */
#define NOTHING 0
#define NO_ANSWER 0
mtype = { CLAIM, RENEW, COMPLETE, LOSS, RELEASE, STORED, LATE, EMPTY, NO_SESSION };
mtype asked[NODES];
byte asked_job[NODES];
byte asked_epoch[NODES];
byte asked_age[NODES];
mtype answer[NODES];
byte answer_level[NODES];
mtype old_asked[NODES];
byte old_job[NODES];
byte old_epoch[NODES];

/* What only the properties look at. */
byte faults;
byte changes;
byte starts[JOBS];
bool unchecked[NODES];            /* has gone on after SIGSTOP, and not looked at its lease yet */
bool fresh[NODES];                /* no job of the node has ended since its claim was asked */
bool left_ready[NODES * JOBS];    /* a claim of the node could have taken the job */

/* Each claim's number. It is the epoch, unless claims do not raise that. */
#ifdef CLAIM_KEEPS_EPOCH
byte claims[JOBS];
byte known_claim[NODES * JOBS];
byte asked_claim[NODES];
byte old_claim[NODES];
#else
#define claims epoch
#define known_claim known_epoch
#define asked_claim asked_epoch
#define old_claim old_epoch
#endif

/* Of no meaning outside one atomic block. */
hidden byte i;
hidden byte found;
hidden mtype result;

#define AT(n, j) ((n) * JOBS + (j))
#define LEVEL_OF(j, signal) ((j) == 0 -> (signal) : ((j) == 1 -> URGENT : LOW))
#define LEVEL(j) LEVEL_OF(j, signal_level)
#define HAS_STARTED(n, j) (on_node[AT(n, j)] == STARTED)
#define ACTIVE(n, j) (on_node[AT(n, j)] == HELD || HAS_STARTED(n, j))
#define HAS_ENDED(j) (state[j] == DONE || state[j] == DEAD)
#define OUTRANKED_BY(n, k, j) \
  (ACTIVE(n, k) && LEVEL_OF(k, heard_level[n]) > LEVEL_OF(j, heard_level[n]))
#define OWNED_AT(n, k, level) (state[k] == CLAIMED && owner[k] == n && LEVEL(k) >= level)
#define ACTIVE_AT(n, k, level) ((ACTIVE(n, k) || ((k) == found)) && LEVEL(k) >= level)
#if JOBS == 2
#define ANY(what, n) (on_node[AT(n, 0)] == what || on_node[AT(n, 1)] == what)
#define OUTRANKED(n, j) (OUTRANKED_BY(n, 0, j) || OUTRANKED_BY(n, 1, j))
#define OWNED(n, level) (OWNED_AT(n, 0, level) + OWNED_AT(n, 1, level))
#define ACTIVE_JOBS(n, level) (ACTIVE_AT(n, 0, level) + ACTIVE_AT(n, 1, level))
#define ALL_ENDED (HAS_ENDED(0) && HAS_ENDED(1))
#else
#define ANY(what, n) \
  (on_node[AT(n, 0)] == what || on_node[AT(n, 1)] == what || on_node[AT(n, 2)] == what)
#define OUTRANKED(n, j) (OUTRANKED_BY(n, 0, j) || OUTRANKED_BY(n, 1, j) || OUTRANKED_BY(n, 2, j))
#define OWNED(n, level) (OWNED_AT(n, 0, level) + OWNED_AT(n, 1, level) + OWNED_AT(n, 2, level))
#define ACTIVE_JOBS(n, level) \
  (ACTIVE_AT(n, 0, level) + ACTIVE_AT(n, 1, level) + ACTIVE_AT(n, 2, level))
#define ALL_ENDED (HAS_ENDED(0) && HAS_ENDED(1) && HAS_ENDED(2))
#endif
#ifdef NO_CREDITS_PER_LEVEL
#define ROOM(n, level) (OWNED(n, LOW) < AGENTS)
#else
#ifdef PREFETCH
#define ROOM(n, level) (OWNED(n, level) < AGENTS + 1)
#else
#define ROOM(n, level) (OWNED(n, level) < AGENTS)
#endif
#endif
