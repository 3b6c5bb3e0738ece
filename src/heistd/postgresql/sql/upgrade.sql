-- What an earlier version has made goes, but for the tables, and is made anew: its functions may have other arguments.
DO $$
DECLARE
  its_name text;
BEGIN
  FOR its_name IN SELECT oid::regprocedure FROM pg_proc WHERE pronamespace = 'heistd'::regnamespace LOOP
    EXECUTE 'DROP ROUTINE ' || its_name;
  END LOOP;
END $$;
DROP VIEW stored;

ALTER TABLE day ADD COLUMN IF NOT EXISTS last_end timestamptz, ADD COLUMN IF NOT EXISTS tried_at timestamptz;

-- Servers of that version that still run lose their sessions, and `begin_session` gives them no others.
UPDATE node SET session = session + 1;
