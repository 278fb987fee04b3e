export const eventGridVersions = [
  '2025-07-15-preview',
  '2025-04-01-preview',
  '2025-02-15',
  '2024-12-15-preview',
  '2024-06-01-preview',
  '2023-12-15-preview',
  '2023-06-01-preview',
  '2022-06-15',
  '2021-12-01',
  '2020-06-01',
] as const;
