-- What heistd's servers share in PostgreSQL. docs/adr/0081 says why it is like this.
--
-- Names, parameters and texts are bytes, as requests give them; an id is a uuid. Priorities are numbers: 0 is
-- `background`, 1 `user-visible`, 2 `user-blocking`. States are 0 for an unfinished job, and else 2 `done`, 3 `failed`,
-- 4 `aborted`, 5 `dead`; whether an unfinished one runs, its row in `open` says.

CREATE TABLE version(number int NOT NULL);
INSERT INTO version VALUES (0);  -- until all is made

-- Both the order of acceptance and the order of turns. Who draws a number has a transaction's number before that, so
-- that claims can tell which numbers can still come; see `next_mark`.
CREATE SEQUENCE places;

-- All jobs, by the day of their acceptance. A row is changed once, at the job's end, and no index names what is
-- changed then. A day is dropped as a whole when it is old and all its jobs have ended.
CREATE TABLE job(
  day date NOT NULL,
  place bigint NOT NULL,
  id uuid NOT NULL,
  client bytea NOT NULL,
  kind bytea NOT NULL,
  parameters bytea NOT NULL,
  signal bytea,
  priority smallint,  -- null: its signal's
  max_attempts int NOT NULL,
  timeout bigint,     -- in milliseconds
  predecessor uuid,
  request_id bytea,
  idempotency_key bytea,
  digest bytea,
  payload_bytes bigint NOT NULL,
  payload bytea,
  -- From here on: what the job's end brings; an error, or a new priority, may come earlier.
  state smallint NOT NULL DEFAULT 0,
  attempt int NOT NULL DEFAULT 0,
  forgiven int NOT NULL DEFAULT 0,
  result_description bytea,
  result_bytes bigint NOT NULL DEFAULT 0,
  result bytea,
  error_code bytea,
  error_message bytea,
  ended_at timestamptz,
  PRIMARY KEY (place, day)  -- in this order, so that finished jobs are found in the order of places
) PARTITION BY LIST (day);
-- So that a part of it is read without the rest.
ALTER TABLE job ALTER payload SET STORAGE EXTERNAL, ALTER result SET STORAGE EXTERNAL;
CREATE UNIQUE INDEX job_id ON job(id, day);
CREATE INDEX job_of_client ON job(client, place);
CREATE INDEX job_follower ON job(predecessor) WHERE predecessor IS NOT NULL;

-- Those that `job` has a part for. `last_end` is null while a job has not ended, and until it is looked for; `tried_at`
-- is when that was.
CREATE TABLE day(day date PRIMARY KEY, last_end timestamptz, tried_at timestamptz);

-- Dead jobs once more, so that they are found among all the others.
CREATE TABLE dead(client bytea NOT NULL, place bigint NOT NULL, day date NOT NULL, PRIMARY KEY (client, place));

-- Jobs that have not ended. These rows are narrow, and no index names what a claim changes, so that it writes one place.
CREATE TABLE open(
  place bigint PRIMARY KEY,
  day date NOT NULL,
  lane int NOT NULL,
  turn bigint,               -- its place in its lane; null while it waits for a time or for another job
  returned boolean NOT NULL DEFAULT false,  -- it may be claimed, and cursors may have passed its turn
  may_start timestamptz NOT NULL,
  due timestamptz,           -- `may_start` while it waits for nothing else
  expires_at timestamptz,    -- until when it must have been started; null when it has been, or without a bound; a claim
                             -- leaves it, as the job may come back before its start
  follows bigint,            -- the place of the job that it waits for
  max_attempts int NOT NULL,
  attempt int NOT NULL DEFAULT 0,
  forgiven int NOT NULL DEFAULT 0,
  node int                   -- who has claimed it; null: nobody
) WITH (fillfactor = 50);
CREATE INDEX open_turn ON open(lane, turn) WHERE turn IS NOT NULL AND NOT returned;
CREATE INDEX open_returned ON open(lane, turn) WHERE returned;
CREATE INDEX open_waiting ON open(lane) WHERE turn IS NULL;
CREATE INDEX open_due ON open(due) WHERE due IS NOT NULL;
CREATE INDEX open_expiry ON open(expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX open_follower ON open(follows, place) WHERE follows IS NOT NULL;

CREATE TABLE signal(
  signal int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  client bytea NOT NULL,
  name bytea NOT NULL,
  priority smallint NOT NULL,
  was_put boolean NOT NULL,  -- asked for by name, so it stays while it has no jobs
  UNIQUE (client, name));

-- Where jobs of one client, kind and signal wait that have the same priority, now and later: one of their own, or else
-- their signal's. So a signal's priority is one row, whatever the number of its jobs.
CREATE TABLE lane(
  lane int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  client bytea NOT NULL,
  kind bytea NOT NULL,
  priority smallint,  -- null: its signal's
  signal int,
  CHECK (priority IS NOT NULL OR signal IS NOT NULL));
CREATE UNIQUE INDEX lane_of_priority ON lane(client, kind, priority) WHERE signal IS NULL;
CREATE UNIQUE INDEX lane_of_signal ON lane(signal, kind, priority) NULLS NOT DISTINCT WHERE signal IS NOT NULL;

CREATE TABLE pause(client bytea NOT NULL, what smallint NOT NULL, name bytea NOT NULL, PRIMARY KEY (client, what, name));

CREATE TABLE idempotency(
  client bytea NOT NULL, key bytea NOT NULL, digest bytea NOT NULL, id uuid NOT NULL, until timestamptz NOT NULL,
  PRIMARY KEY (client, key));
CREATE INDEX idempotency_until ON idempotency(until);

-- The servers. A process that has a name keeps it until its lease is over; then it has another row, and another number.
-- `session` rises with each connection, so that a word of an earlier one changes nothing.
CREATE TABLE node(
  node int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text UNIQUE,  -- null: its lease is over, and another process has taken the name
  process uuid NOT NULL,
  session int NOT NULL,
  lease_until timestamptz NOT NULL) WITH (fillfactor = 20);
