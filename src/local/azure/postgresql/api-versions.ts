export const postgresVersions = [
  '2025-08-01',
  '2025-06-01-preview',
  '2025-01-01-preview',
  '2024-11-01-preview',
  '2024-08-01',
  '2024-03-01-preview',
  '2023-12-01-preview',
  '2023-06-01-preview',
  '2023-03-01-preview',
  '2022-12-01',
  '2022-03-08-preview',
  '2021-06-01',
] as const;
