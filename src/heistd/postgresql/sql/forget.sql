-- What is not kept any longer.

-- Drops a day of which all jobs have ended; whether it did. For a moment that takes the table of jobs from everybody
-- else. Whoever reads jobs for long would hold that up, and all others behind it, so it gives up after another moment,
-- and a later call tries again.
CREATE OR REPLACE FUNCTION drop_day(old_day date) RETURNS boolean LANGUAGE plpgsql SET lock_timeout = '50ms' AS $$
DECLARE
  its_name text := 'job_' || to_char(old_day, 'YYYYMMDD');
BEGIN
  IF EXISTS (SELECT FROM open WHERE day = old_day) THEN
    RETURN false;
  END IF;
  LOCK TABLE ONLY job;  -- in the order in which others take them
  EXECUTE format('LOCK TABLE %I', its_name);
  IF EXISTS (SELECT FROM open WHERE day = old_day) THEN  -- somebody has queued a dead job again meanwhile
    RETURN false;
  END IF;
  EXECUTE format('DROP TABLE %I', its_name);
  DELETE FROM day WHERE day = old_day;
  DELETE FROM dead WHERE day = old_day;
  RETURN true;
EXCEPTION WHEN lock_not_available OR undefined_table THEN  -- another server may have dropped it
  RETURN false;
END $$;

-- Forgets keys whose time is over, a part of them, and the oldest days with all their jobs: those that were over
-- `age` milliseconds ago, and as many more as it takes for all days to have no more than `most_bytes`. But each is kept for
-- a day after its end, as keys may name its jobs as long. A day with a job that has not ended stays, and so do later
-- ones, as to look for it reads all that has not ended.
CREATE OR REPLACE FUNCTION forget_old(age bigint, most_bytes bigint, most_keys int, clock timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  now timestamptz := coalesce(clock, clock_timestamp());
  old record;
BEGIN
  DELETE FROM idempotency WHERE (client, key) IN (
    SELECT client, key FROM idempotency WHERE until <= now ORDER BY until LIMIT most_keys FOR UPDATE SKIP LOCKED);
  FOR old IN
    SELECT day, sum(pg_total_relation_size(to_regclass('job_' || to_char(day, 'YYYYMMDD')))) OVER (ORDER BY day DESC) AS bytes
    FROM day WHERE EXISTS (SELECT FROM day d WHERE d.day < utc_day(now) - 1) ORDER BY day
  LOOP
    EXIT WHEN old.day >= utc_day(now) - 1;
    EXIT WHEN old.bytes <= most_bytes AND old.day >= utc_day(now - age * interval '1 ms');
    EXIT WHEN NOT drop_day(old.day);
  END LOOP;
END $$;
