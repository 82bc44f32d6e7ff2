-- Run as rag_owner. The oldest program that this schema serves, by the newest revision that it knows: those go on while
-- servers and workers are replaced. A revision that takes away or changes what they use replaces this function.
CREATE FUNCTION rag_serves_since() RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT '0041' $$;
