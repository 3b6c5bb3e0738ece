-- What is not kept any longer.

-- Drops a day with all its jobs; whether it did. That takes the table of jobs from everybody else until the transaction
-- ends. Whoever reads jobs for long (a backup) would hold it up, and all others behind it, so it gives up soon.
CREATE OR REPLACE FUNCTION drop_day(old_day date) RETURNS boolean LANGUAGE plpgsql SET lock_timeout = '50ms' AS $$
BEGIN
  DELETE FROM dead WHERE day = old_day;
  EXECUTE format('DROP TABLE IF EXISTS %I', 'job_' || to_char(old_day, 'YYYYMMDD'));
  DELETE FROM day WHERE day = old_day;
  RETURN true;
EXCEPTION WHEN lock_not_available THEN
  RETURN false;
END $$;

-- When the last job of a day has ended; null while one has not. Who has the day's row asks for it: to queue a dead job
-- again waits for that.
CREATE OR REPLACE FUNCTION last_end_of(old day) RETURNS timestamptz LANGUAGE plpgsql AS $$
DECLARE
  its_name text := 'job_' || to_char(old.day, 'YYYYMMDD');
  found timestamptz := old.last_end;
BEGIN
  IF EXISTS (SELECT FROM open WHERE day = old.day) THEN
    RETURN NULL;
  END IF;
  IF found IS NULL AND to_regclass(its_name) IS NOT NULL THEN
    EXECUTE format('SELECT max(ended_at) FROM %I', its_name) INTO found;
  END IF;
  found := coalesce(found, '-infinity');  -- all its jobs have been deleted
  UPDATE day SET last_end = found WHERE day = old.day;
  RETURN found;
END $$;

-- Forgets keys whose time is over, a part of them, and one day whose last job has ended more than `age` milliseconds
-- ago, and more than a day, as keys name jobs for that long. Each day is looked at every ten minutes at the most, and by
-- one server: that reads all unfinished jobs, and once all jobs of the day. It is to be alone in its transaction.
CREATE OR REPLACE FUNCTION forget_old(age bigint, most_keys int, clock timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  now timestamptz := coalesce(clock, clock_timestamp());
  border timestamptz := now - greatest(age * interval '1 ms', interval '1 day');
  old day;
BEGIN
  DELETE FROM idempotency WHERE (client, key) IN (
    SELECT client, key FROM idempotency WHERE until <= now ORDER BY until LIMIT most_keys FOR UPDATE SKIP LOCKED);
  SELECT * INTO old FROM day WHERE day < utc_day(border) AND (tried_at IS NULL OR tried_at <= now - interval '10 minutes')
  ORDER BY day LIMIT 1 FOR UPDATE SKIP LOCKED;
  IF FOUND THEN
    UPDATE day SET tried_at = now WHERE day = old.day;
    IF last_end_of(old) <= border THEN
      PERFORM drop_day(old.day);
    END IF;
  END IF;
END $$;
