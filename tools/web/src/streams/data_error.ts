/** What is wrong with a file and what to do about it, in words for the user. */
export class DataError extends Error {}
