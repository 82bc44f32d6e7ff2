"""What the catalogue of Postgres says of a table, mostly as the statements that make it so again on another table of
the same name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

SCHEMA = "rag_partitions"
"""The schema of partitions. Only the owner may use it: whoever lists the tables of `public` sees each table once, and
nobody reads a partition around the policy of its table.
"""

_BOUND = re.compile(r"workspace_id = '([0-9a-f-]{36})'::uuid")
_ON = re.compile(r" ON (?:ONLY )?\S+ USING ")

_OF = "t.oid = to_regclass('public.' || $1::text)"

_PARTS = "SELECT p.inhrelid FROM pg_inherits p WHERE p.inhparent = t.oid"

_ACL = """
string_agg(format('GRANT %s{column} ON {on} TO %s%s', a.privilege_type,
                  CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END,
                  CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END),
           '; ' ORDER BY a.grantee, a.privilege_type)
"""

# Made by CREATE TABLE (LIKE …) or never made anew: they are compared.
SHAPE = f"""
SELECT 'column', format('%s %s %s%s%s%s%s %s', a.attname, format_type(a.atttypid, a.atttypmod), a.attstorage,
                        a.attcompression, a.attidentity, a.attgenerated, CASE WHEN a.attnotnull THEN ' NOT NULL' END,
                        pg_get_expr(d.adbin, d.adrelid)) || ' ' || a.attcollation::regcollation
FROM pg_class t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN pg_attrdef d ON d.adrelid = t.oid AND d.adnum = a.attnum
WHERE {_OF}
UNION ALL
SELECT 'check', k.conname || ' ' || pg_get_constraintdef(k.oid) || ' ' || k.convalidated
FROM pg_class t JOIN pg_constraint k ON k.conrelid = t.oid AND k.contype IN ('c', 'n') WHERE {_OF}
UNION ALL
SELECT 'owner', pg_get_userbyid(t.relowner) FROM pg_class t WHERE {_OF}
UNION ALL
SELECT 'identity of replicas', t.relreplident::text FROM pg_class t WHERE {_OF}
UNION ALL
SELECT 'persistence', t.relpersistence::text FROM pg_class t WHERE {_OF}
UNION ALL
SELECT 'tablespace', t.reltablespace::text FROM pg_class t WHERE {_OF}
UNION ALL
SELECT 'rule', pg_get_ruledef(r.oid) FROM pg_class t JOIN pg_rewrite r ON r.ev_class = t.oid WHERE {_OF}
UNION ALL
SELECT 'publication', format('%s %s', p.pubname, pg_get_expr(r.prqual, r.prrelid))
FROM pg_class t JOIN pg_publication_rel r ON r.prrelid = t.oid JOIN pg_publication p ON p.oid = r.prpubid WHERE {_OF}
UNION ALL
SELECT 'security label', l.provider || ' ' || l.label
FROM pg_class t JOIN pg_seclabel l ON l.objoid = t.oid AND l.classoid = 'pg_class'::regclass WHERE {_OF}
UNION ALL
SELECT 'parent', i.inhparent::regclass::text FROM pg_class t JOIN pg_inherits i ON i.inhrelid = t.oid WHERE {_OF}
UNION ALL
SELECT 'clustered on', i.indexrelid::regclass::text
FROM pg_class t JOIN pg_index i ON i.indrelid = t.oid AND (i.indisclustered OR i.indisreplident) WHERE {_OF}
"""  # noqa: S608 - constants

# Reloptions are those of the parts, where there are some.
STORAGE = f"""
SELECT DISTINCT option FROM pg_class t, pg_class r, LATERAL (
    SELECT unnest(r.reloptions) UNION ALL
    SELECT 'toast.' || unnest(o.reloptions) FROM pg_class o WHERE o.oid = r.reltoastrelid
) AS given (option)
WHERE {_OF} AND (r.oid = t.oid OR r.oid IN ({_PARTS}))
ORDER BY option
"""  # noqa: S608 - constants

# In the order in which they are made.
MADE = f"""
SELECT 'statistics', format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS %s', t.relname, a.attname, a.attstattarget)
FROM pg_class t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND coalesce(a.attstattarget, -1) >= 0
WHERE {_OF}
UNION ALL
SELECT 'column options', format('ALTER TABLE %s ALTER COLUMN %I SET (%s)', t.relname, a.attname,
                                array_to_string(a.attoptions, ', '))
FROM pg_class t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attoptions IS NOT NULL WHERE {_OF}
UNION ALL
(SELECT 'key', format('ALTER TABLE %s ADD CONSTRAINT %I %s', t.relname, k.conname, pg_get_constraintdef(k.oid))
FROM pg_class t JOIN pg_constraint k ON k.conrelid = t.oid AND k.contype IN ('p', 'u', 'x')
WHERE {_OF} ORDER BY k.contype, k.conname)
UNION ALL
(SELECT 'index', pg_get_indexdef(i.indexrelid)
FROM pg_class t JOIN pg_index i ON i.indrelid = t.oid AND i.indisvalid
WHERE {_OF} AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = i.indexrelid AND k.contype <> 'f')
ORDER BY i.indexrelid::regclass::text)
UNION ALL
-- One workspace's, on its part.
(SELECT 'index', pg_get_indexdef(i.indexrelid)
FROM pg_class t JOIN pg_index i ON i.indrelid IN ({_PARTS}) AND i.indisvalid
WHERE {_OF} AND NOT EXISTS (SELECT FROM pg_inherits h WHERE h.inhrelid = i.indexrelid)
ORDER BY i.indexrelid::regclass::text)
UNION ALL
SELECT 'statistics object', pg_get_statisticsobjdef(s.oid)
FROM pg_class t JOIN pg_statistic_ext s ON s.stxrelid = t.oid WHERE {_OF}
UNION ALL
(SELECT 'reference', format('ALTER TABLE %s ADD CONSTRAINT %I %s', k.conrelid::regclass, k.conname,
                            pg_get_constraintdef(k.oid))
FROM pg_class t JOIN pg_constraint k ON t.oid IN (k.conrelid, k.confrelid)
WHERE {_OF} AND k.contype = 'f' AND k.conparentid = 0 ORDER BY k.conname)
UNION ALL
SELECT 'trigger', pg_get_triggerdef(g.oid)
FROM pg_class t JOIN pg_trigger g ON g.tgrelid = t.oid WHERE {_OF} AND NOT g.tgisinternal
UNION ALL
SELECT 'trigger', format('ALTER TABLE %s %s TRIGGER %I', t.relname,
                         CASE g.tgenabled WHEN 'D' THEN 'DISABLE' WHEN 'R' THEN 'ENABLE REPLICA'
                         ELSE 'ENABLE ALWAYS' END, g.tgname)
FROM pg_class t JOIN pg_trigger g ON g.tgrelid = t.oid WHERE {_OF} AND NOT g.tgisinternal AND g.tgenabled <> 'O'
UNION ALL
SELECT 'policy', format('CREATE POLICY %I ON %s AS %s FOR %s TO %s', p.policyname, t.relname, p.permissive, p.cmd,
                        (SELECT string_agg(CASE WHEN r = 'public' THEN 'PUBLIC' ELSE quote_ident(r) END, ', ')
                         FROM unnest(p.roles) r)) || coalesce(' USING (' || p.qual || ')', '')
                 || coalesce(' WITH CHECK (' || p.with_check || ')', '')
FROM pg_class t JOIN pg_policies p ON p.schemaname = 'public' AND p.tablename = t.relname WHERE {_OF}
UNION ALL
SELECT 'policies hold', format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', t.relname)
FROM pg_class t WHERE {_OF} AND t.relrowsecurity
UNION ALL
SELECT 'policies hold', format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', t.relname)
FROM pg_class t WHERE {_OF} AND t.relforcerowsecurity
UNION ALL
SELECT 'grants', {_ACL.format(column="", on="' || $1 || '")}
FROM pg_class t, LATERAL aclexplode(t.relacl) a WHERE {_OF} HAVING count(*) > 0
UNION ALL
SELECT 'grants', {_ACL.format(column=" (' || quote_ident(c.attname) || ')", on="' || $1 || '")}
FROM pg_class t JOIN pg_attribute c ON c.attrelid = t.oid, LATERAL aclexplode(c.attacl) a
WHERE {_OF} GROUP BY c.attname
UNION ALL
SELECT 'comment', format('COMMENT ON %s IS %L', said.what, said.text)
FROM pg_class t, LATERAL (
    SELECT 'TABLE ' || t.relname, obj_description(t.oid, 'pg_class')
    UNION ALL SELECT format('INDEX %s', i.indexrelid::regclass), obj_description(i.indexrelid, 'pg_class')
    FROM pg_index i WHERE i.indrelid = t.oid
    UNION ALL SELECT format('COLUMN %s.%I', t.relname, a.attname), col_description(t.oid, a.attnum)
    FROM pg_attribute a WHERE a.attrelid = t.oid AND a.attnum > 0
    UNION ALL SELECT format('CONSTRAINT %I ON %s', k.conname, k.conrelid::regclass),
                     obj_description(k.oid, 'pg_constraint')
    FROM pg_constraint k WHERE t.oid IN (k.conrelid, k.confrelid) AND k.conparentid = 0
    UNION ALL SELECT format('POLICY %I ON %s', p.polname, t.relname), obj_description(p.oid, 'pg_policy')
    FROM pg_policy p WHERE p.polrelid = t.oid
    UNION ALL SELECT format('TRIGGER %I ON %s', g.tgname, t.relname), obj_description(g.oid, 'pg_trigger')
    FROM pg_trigger g WHERE g.tgrelid = t.oid AND NOT g.tgisinternal
) AS said (what, text)
WHERE {_OF} AND said.text IS NOT NULL
"""  # noqa: S608 - constants

# Views of the table, and views of these, in the order in which they can be made.
VIEWS = f"""
WITH RECURSIVE above (oid, depth) AS (
    SELECT t.oid, 0 FROM pg_class t WHERE {_OF}
    UNION ALL
    SELECT r.ev_class, a.depth + 1
    FROM above a
    JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = a.oid
      AND d.classid = 'pg_rewrite'::regclass
    JOIN pg_rewrite r ON r.oid = d.objid AND r.ev_class <> a.oid
)
SELECT v.oid::regclass::text AS name,
       format('CREATE VIEW %s%s AS %s', v.oid::regclass,
              coalesce(' WITH (' || array_to_string(v.reloptions, ', ') || ')', ''), pg_get_viewdef(v.oid)) AS made,
       pg_get_userbyid(v.relowner)::text AS owner,
       (SELECT {_ACL.format(column="", on="' || v.oid::regclass || '")} FROM aclexplode(v.relacl) a) AS grants,
       format('COMMENT ON VIEW %s IS %L', v.oid::regclass, obj_description(v.oid, 'pg_class')) AS comment,
       concat(
           (SELECT string_agg(format('%s %s %s', a.attname, a.attacl, col_description(v.oid, a.attnum)), ', ')
            FROM pg_attribute a
            WHERE a.attrelid = v.oid AND (a.attacl IS NOT NULL OR col_description(v.oid, a.attnum) IS NOT NULL)),
           (SELECT string_agg(pg_get_triggerdef(g.oid), ', ') FROM pg_trigger g WHERE g.tgrelid = v.oid),
           (SELECT string_agg(pg_get_ruledef(r.oid), ', ') FROM pg_rewrite r
            WHERE r.ev_class = v.oid AND r.rulename <> '_RETURN')
       ) AS others
FROM (SELECT oid, max(depth) AS depth FROM above WHERE depth > 0 GROUP BY oid) one
JOIN pg_class v ON v.oid = one.oid AND v.relkind = 'v'
ORDER BY one.depth, name
"""  # noqa: S608 - constants

PARTNERS = f"""
SELECT DISTINCT o.oid::regclass::text AS name, o.relforcerowsecurity AS is_forced
FROM pg_class t
JOIN pg_constraint k ON k.contype = 'f' AND k.conparentid = 0 AND t.oid IN (k.conrelid, k.confrelid)
JOIN pg_class o ON o.oid IN (k.conrelid, k.confrelid)
WHERE {_OF} AND o.oid <> t.oid
ORDER BY name
"""  # noqa: S608 - constants
"""Tables that the table refers to, or that refer to it."""


@dataclass(frozen=True, slots=True)
class View:
    """A view that stands on the table."""

    name: str
    owner: str
    statements: tuple[str, ...]
    others: str
    """What is not made anew: rights and comments of columns, triggers, rules."""


@dataclass(frozen=True, slots=True)
class TableFacts:
    """All of a table but its rows and how they lie. Equal facts: nothing else changed."""

    shape: tuple[tuple[str, str], ...]
    storage: tuple[str, ...]
    made: tuple[tuple[str, str], ...]
    """What kind of thing, and the statement that makes it on a table of the same name."""
    views: tuple[View, ...]

    def statements(self, *kinds: str) -> list[str]:
        """How things of these kinds are made."""
        return [statement for kind, statement in self.made if kind in kinds]

    def differences(self, other: TableFacts) -> list[str]:
        """What one of the two has and the other has not."""
        here, there = _lines(self), _lines(other)
        return sorted(here ^ there)


async def read_facts(connection: Any, table: str) -> TableFacts:
    """The facts of a table of `public`."""
    made = [(kind, _on_the_whole(kind, text, table)) for kind, text in await connection.fetch(MADE, table)]
    return TableFacts(
        tuple(sorted((kind, text) for kind, text in await connection.fetch(SHAPE, table))),
        tuple(row["option"] for row in await connection.fetch(STORAGE, table)),
        tuple(made),
        tuple(_view(row) for row in await connection.fetch(VIEWS, table)),
    )


def workspace_of(statement: str) -> str | None:
    """The workspace that an index is of alone; None for an index of all."""
    found = _BOUND.search(statement)
    return found[1] if found else None


def on_part(statement: str, part: str) -> str:
    """The statement of an index, for a part."""
    return _ON.sub(f" ON {part} USING ", statement, count=1)


def _on_the_whole(kind: str, statement: str, table: str) -> str:
    return on_part(statement, f"public.{table}") if kind == "index" else statement


def _view(row: Mapping[str, Any]) -> View:
    comment = () if row["comment"].endswith(" IS NULL") else (row["comment"],)
    grants = () if row["grants"] is None else (row["grants"],)
    return View(row["name"], row["owner"], (row["made"], *grants, *comment), row["others"])


def _lines(facts: TableFacts) -> set[str]:
    views = [f"view {one.name} of {one.owner}: {text}" for one in facts.views for text in (*one.statements, one.others)]
    pairs: Sequence[tuple[str, str]] = [*facts.shape, *facts.made, *(("storage", one) for one in facts.storage)]
    return {f"{kind}: {text}" for kind, text in pairs} | set(views)
