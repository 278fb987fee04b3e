// What feed.test.ts and its writer agree on. Each partition is a book: a cover that says how many chapters there are, and
// the pages of each chapter, all of them written in one batch together with the cover.
import type { ContainerSpec } from '../../src/store/store.ts';
import type { Address } from './address.ts';

export interface Leaf {
  /** 0 is the cover. */
  readonly page: number;
  /** The chapter that wrote this page last; on the cover, the last chapter. */
  readonly chapter: number;
}

export const books = 4;
/** Pages of a chapter; every chapter rewrites the pages of the one before. */
export const pages = 24;

export const chapters: ContainerSpec<Leaf> = { name: 'chapters' };

export const bookName = (book: number) => `book-${book}`;
export const leafId = (page: number) => (page === 0 ? 'cover' : `page-${page}`);

export interface Task {
  readonly address: Address;
}
