"""The entity graph in Neo4j 5: a projection of the newest version in Postgres, which stays the source of truth."""
