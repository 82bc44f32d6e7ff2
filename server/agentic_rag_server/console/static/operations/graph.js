// Entities and what is around them.

export const FIND_ENTITIES = /* GraphQL */ `
  query FindEntities($workspaceId: ID!, $text: String!) {
    entities(workspaceId: $workspaceId, text: $text) { name passages }
  }
`;

export const ENTITY = /* GraphQL */ `
  query Entity($workspaceId: ID!, $name: String!) {
    entity(workspaceId: $workspaceId, name: $name) {
      name passages
      neighbours { name sentences }
      chunks { id sourceId title sourcePath page lineStart lineEnd headingPath text corpusVersion span { start end } }
    }
  }
`;

export const CHUNK_DOCUMENT = /* GraphQL */ `
  query ChunkDocument($id: ID!) {
    document(id: $id) { id mediaType fileName downloadPath }
  }
`;
