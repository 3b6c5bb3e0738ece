-- What `heistd migrate` made as version 1, as far as it matters for a later one: all tables, the view, and some of the
-- functions, whose bodies do not matter. A job waits. Not to be changed.
CREATE SCHEMA heistd;
SET search_path = heistd;
CREATE TABLE version(number int NOT NULL);
INSERT INTO version VALUES (1);
CREATE SEQUENCE places;
CREATE TABLE job(
  day date NOT NULL,
  place bigint NOT NULL,
  id uuid NOT NULL,
  client bytea NOT NULL,
  kind bytea NOT NULL,
  parameters bytea NOT NULL,
  signal bytea,
  priority smallint,
  max_attempts int NOT NULL,
  timeout bigint,
  predecessor uuid,
  request_id bytea,
  idempotency_key bytea,
  digest bytea,
  payload_bytes bigint NOT NULL,
  payload bytea,
  state smallint NOT NULL DEFAULT 0,
  attempt int NOT NULL DEFAULT 0,
  forgiven int NOT NULL DEFAULT 0,
  result_description bytea,
  result_bytes bigint NOT NULL DEFAULT 0,
  result bytea,
  error_code bytea,
  error_message bytea,
  ended_at timestamptz,
  PRIMARY KEY (place, day)
) PARTITION BY LIST (day);
ALTER TABLE job ALTER payload SET STORAGE EXTERNAL, ALTER result SET STORAGE EXTERNAL;
CREATE UNIQUE INDEX job_id ON job(id, day);
CREATE INDEX job_of_client ON job(client, place);
CREATE INDEX job_follower ON job(predecessor) WHERE predecessor IS NOT NULL;
CREATE TABLE day(day date PRIMARY KEY);
CREATE TABLE dead(client bytea NOT NULL, place bigint NOT NULL, day date NOT NULL, PRIMARY KEY (client, place));
CREATE TABLE open(
  place bigint PRIMARY KEY,
  day date NOT NULL,
  lane int NOT NULL,
  turn bigint,
  returned boolean NOT NULL DEFAULT false,
  may_start timestamptz NOT NULL,
  due timestamptz,
  expires_at timestamptz,
  follows bigint,
  max_attempts int NOT NULL,
  attempt int NOT NULL DEFAULT 0,
  forgiven int NOT NULL DEFAULT 0,
  node int
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
  was_put boolean NOT NULL,
  UNIQUE (client, name));
CREATE TABLE lane(
  lane int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  client bytea NOT NULL,
  kind bytea NOT NULL,
  priority smallint,
  signal int,
  CHECK (priority IS NOT NULL OR signal IS NOT NULL));
CREATE UNIQUE INDEX lane_of_priority ON lane(client, kind, priority) WHERE signal IS NULL;
CREATE UNIQUE INDEX lane_of_signal ON lane(signal, kind, priority) NULLS NOT DISTINCT WHERE signal IS NOT NULL;
CREATE TABLE pause(client bytea NOT NULL, what smallint NOT NULL, name bytea NOT NULL, PRIMARY KEY (client, what, name));
CREATE TABLE idempotency(
  client bytea NOT NULL, key bytea NOT NULL, digest bytea NOT NULL, id uuid NOT NULL, until timestamptz NOT NULL,
  PRIMARY KEY (client, key));
CREATE INDEX idempotency_until ON idempotency(until);
CREATE TABLE node(
  node int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text UNIQUE,
  process uuid NOT NULL,
  session int NOT NULL,
  lease_until timestamptz NOT NULL) WITH (fillfactor = 20);
CREATE OR REPLACE VIEW stored AS
SELECT j.place, j.id, j.client, j.kind, j.parameters, j.signal, j.priority,
       o.may_start, o.expires_at, j.timeout, j.predecessor, o.follows IS NOT NULL AS is_follower,
       coalesce(o.attempt, j.attempt) AS attempt, coalesce(o.forgiven, j.forgiven) AS forgiven, j.max_attempts,
       (CASE WHEN o.place IS NULL THEN j.state WHEN o.node IS NULL THEN 0 ELSE 1 END)::smallint AS state,
       j.request_id, j.idempotency_key, j.digest, j.payload_bytes, j.result_description, j.result_bytes,
       j.error_code, j.error_message, j.ended_at, j.day
FROM job j LEFT JOIN open o ON j.state = 0 AND o.place = j.place;
CREATE FUNCTION hold_session() RETURNS void LANGUAGE sql AS '';
CREATE FUNCTION begin_session(its_name text, its_process uuid, lease bigint, OUT its_node int, OUT its_session int)
LANGUAGE sql AS 'SELECT 1, 1';
CREATE FUNCTION release(its_id uuid, its_attempt int, again boolean) RETURNS boolean LANGUAGE sql AS 'SELECT true';
CREATE FUNCTION load_unfinished(after bigint, most int) RETURNS SETOF stored LANGUAGE sql AS 'SELECT * FROM stored';
CREATE FUNCTION priority_of(its_lane int) RETURNS smallint LANGUAGE sql AS 'SELECT 0::smallint';

INSERT INTO day VALUES ('2026-11-01');
CREATE TABLE job_20261101 PARTITION OF job FOR VALUES IN ('2026-11-01');
INSERT INTO lane(client, kind, priority) VALUES ('anonymous', 'digest', 1);
INSERT INTO job(day, place, id, client, kind, parameters, priority, max_attempts, payload_bytes, payload)
VALUES ('2026-11-01', nextval('places'), '0123456789abcdef0123456789abcdef', 'anonymous', 'digest', '', 1, 1, 3, 'abc');
INSERT INTO open(place, day, lane, turn, may_start, max_attempts)
SELECT place, day, 1, place, clock_timestamp(), 1 FROM job;
