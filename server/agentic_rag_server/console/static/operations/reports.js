// What a workspace's texts say of brands, and of the state of its code.

export const MARKETING_REPORT = /* GraphQL */ `
  query MarketingReport($workspaceId: ID!, $brands: [String!]!, $since: DateTime) {
    marketingReport(workspaceId: $workspaceId, brands: $brands, since: $since) {
      documents diversity promotional undisclosed isComplete
      channels { name documents }
      brands {
        brand mentions documents share positive negative neutral otherLanguage
        sentences { compound words place { ...Place } }
      }
      disclosures { promotion { ...Place } label { ...Place } }
    }
  }
  fragment Place on TextPlace {
    documentId sourcePath line text
  }
`;

export const CODE_REPORT = /* GraphQL */ `
  query CodeReport($workspaceId: ID!) {
    codeReport(workspaceId: $workspaceId) {
      files lines marks density packages drifts testCases failures unread isComplete
      leftOver { symbol place { ...Place } }
      drift { kind package used stated usedAt { ...Place } statedAt { ...Place } }
      failed { name place { ...Place } }
    }
  }
  fragment Place on TextPlace {
    documentId sourcePath line text
  }
`;
