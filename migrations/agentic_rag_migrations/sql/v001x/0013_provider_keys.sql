-- Keys that organisations bring for providers of models. Run as rag_owner; run_sql puts new tables behind row level security.

-- Envelopes: the key is encrypted with a data key, which a master key outside the database wraps (AES-256-GCM, bound to
-- organisation and provider). `hint` is its last four characters.
CREATE TABLE rag_provider_keys (
    org_id       uuid NOT NULL REFERENCES rag_organizations,
    provider     text COLLATE "C" NOT NULL CHECK (provider IN ('openai', 'gemini', 'anthropic', 'compatible')),
    master_id    text COLLATE "C" NOT NULL,
    wrap_nonce   bytea NOT NULL CHECK (length(wrap_nonce) = 12),
    wrapped_key  bytea NOT NULL,
    nonce        bytea NOT NULL CHECK (length(nonce) = 12),
    ciphertext   bytea NOT NULL,
    hint         text NOT NULL CHECK (length(hint) <= 4),
    base_url     text,
    set_by       text NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (org_id, provider)
);

-- The rotation of master keys has to find its work without knowing any tenant; it learns ids and nothing else.
CREATE POLICY owner_reads ON rag_provider_keys FOR SELECT TO rag_owner USING (true);
CREATE FUNCTION rag_provider_key_homes(active text) RETURNS SETOF uuid
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT DISTINCT org_id FROM rag_provider_keys WHERE master_id <> active
$$;
REVOKE ALL ON FUNCTION rag_provider_key_homes(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rag_provider_key_homes(text) TO rag_app;
