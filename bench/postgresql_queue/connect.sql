\if :begun
\else
SET search_path = heistd;
SET plan_cache_mode = force_generic_plan;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET jit = off;
SELECT begin_session('client ' || gen_random_uuid(), gen_random_uuid(), 1000000000, (SELECT number FROM version));
\set begun 1
\endif
