/** The names of a container's tables. The slash keeps them apart from each other and from every other container's. */
export function tablesOf(container: string) {
  return {
    documents: `${container}/documents`,
    changes: `${container}/changes`,
    labels: `${container}/labels`,
    queue: `${container}/queue`,
    turns: `${container}/turns`,
    indexPrefix: `${container}/index/`,
    uniquePrefix: `${container}/unique/`,
  } as const;
}
