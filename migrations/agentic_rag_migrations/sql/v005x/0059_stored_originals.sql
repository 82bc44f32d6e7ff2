-- Run as rag_owner. Whether any organisation has stored originals: an empty blob directory is then another one than they
-- lie in. No id of a tenant is told. The policies hide a tenant's originals from the owner too, so that it looks into one
-- organisation after the other.
CREATE FUNCTION rag_upkeep_originals_exist() RETURNS boolean
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    tenant uuid;
    before text := coalesce(current_setting('rag.org_id', true), '');
    is_found boolean := false;
BEGIN
    FOR tenant IN SELECT o.org_id FROM rag_organizations o LOOP
        PERFORM set_config('rag.org_id', tenant::text, true);
        is_found := EXISTS (SELECT FROM rag_originals o WHERE o.org_id = tenant);
        EXIT WHEN is_found;
    END LOOP;
    PERFORM set_config('rag.org_id', before, true);
    RETURN is_found;
END
$$;
REVOKE ALL ON FUNCTION rag_upkeep_originals_exist() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rag_upkeep_originals_exist() TO rag_dispatcher;
