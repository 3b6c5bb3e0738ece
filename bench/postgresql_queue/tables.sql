-- A usual queue of jobs, and claims from it behind a cursor. `place` is the order of acceptance, `lane` a level (0 is
-- the most urgent). A job that is claimed has a state of 1; one that is done has a state of 2.
DROP TABLE IF EXISTS plain;

-- What most queues on PostgreSQL are: the state in the row, and an index of what is ready.
CREATE TABLE plain(
  place bigserial PRIMARY KEY, id uuid NOT NULL DEFAULT gen_random_uuid() UNIQUE, lane smallint NOT NULL,
  state smallint NOT NULL DEFAULT 0, attempt int NOT NULL DEFAULT 0, payload bytea NOT NULL, ended_at timestamptz);
CREATE INDEX plain_ready ON plain(lane, place) WHERE state = 0;

-- A claim behind a cursor: it looks for `most` jobs from cursors[lane + 1] on. Rows that are dead, though a snapshot
-- still sees them, lie before the cursor, so that their number does not matter.
--
-- The cursor of a lane may go to the oldest unclaimed row, as far as no row can still come before that: places are
-- drawn in transactions, each of which has its number by then, and which end in any order. `mark` is a place and
-- `until` a transaction's number, noted together; once all transactions below `until` have ended, no place up to
-- `mark` can come any more. A snapshot that is only held has no number, so it holds up no cursor.
CREATE OR REPLACE FUNCTION next_mark(
  mark bigint, until bigint, places regclass, OUT safe bigint, OUT new_mark bigint, OUT new_until bigint)
LANGUAGE plpgsql AS $$
DECLARE
  now pg_snapshot := pg_current_snapshot();
BEGIN
  new_mark := mark;
  new_until := until;
  IF pg_snapshot_xmin(now)::text::bigint >= until THEN
    safe := mark;
    new_until := pg_snapshot_xmax(now)::text::bigint;
    new_mark := pg_sequence_last_value(places);
  END IF;
END $$;

CREATE OR REPLACE FUNCTION claim_from_plain(
  most int, INOUT cursors bigint[], INOUT mark bigint, INOUT until bigint, OUT claimed bigint[])
LANGUAGE plpgsql AS $$
DECLARE
  safe bigint;
  oldest bigint;
  got bigint[];
BEGIN
  SELECT m.safe, m.new_mark, m.new_until INTO safe, mark, until FROM next_mark(mark, until, 'plain_place_seq') m;
  claimed := '{}';
  FOR l IN 0..2 LOOP
    EXIT WHEN cardinality(claimed) = most;
    IF safe IS NOT NULL THEN
      oldest := (SELECT place FROM plain WHERE lane = l AND place >= cursors[l + 1] AND state = 0
                ORDER BY place LIMIT 1);
      cursors[l + 1] := greatest(cursors[l + 1], least(oldest, safe + 1));
    END IF;
    WITH free AS MATERIALIZED (
      SELECT ctid FROM plain WHERE lane = l AND place >= cursors[l + 1] AND state = 0
      ORDER BY place LIMIT most - cardinality(claimed) FOR UPDATE SKIP LOCKED),
    taken AS (
      UPDATE plain SET state = 1, attempt = attempt + 1 FROM free WHERE plain.ctid = free.ctid RETURNING place)
    SELECT array_agg(place) INTO got FROM taken;
    claimed := claimed || coalesce(got, '{}');
  END LOOP;
END $$;

INSERT INTO plain(lane, payload) SELECT 2, repeat('x', 500)::bytea FROM generate_series(1, 10000);
VACUUM ANALYZE plain;
