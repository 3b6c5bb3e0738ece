-- Where heistd's tables and functions are made, as its migration does it.
SET client_min_messages = warning;
DROP SCHEMA IF EXISTS heistd CASCADE;
CREATE SCHEMA heistd;
SET search_path = heistd;
