-- What most queues on PostgreSQL are: the state in the row, and an index of what is ready. `place` is the order of
-- acceptance, `lane` a level (0 is the most urgent). A job that is claimed has a state of 1; one that is done, 2.
DROP TABLE IF EXISTS plain;

CREATE TABLE plain(
  place bigserial PRIMARY KEY, id uuid NOT NULL DEFAULT gen_random_uuid() UNIQUE, lane smallint NOT NULL,
  state smallint NOT NULL DEFAULT 0, attempt int NOT NULL DEFAULT 0, payload bytea NOT NULL, ended_at timestamptz);
CREATE INDEX plain_ready ON plain(lane, place) WHERE state = 0;

INSERT INTO plain(lane, payload) SELECT 2, repeat('x', 500)::bytea FROM generate_series(1, 10000);
VACUUM ANALYZE plain;
