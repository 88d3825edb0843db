/** Shape of the messages: what English has, every language must have, with the same parameters. */
import type { ErrorCode } from '../api/generated/ErrorCode';

/** Three answers to every error: what happened, whether a file changed, what to do now. */
export type ErrorWords = { title: string; changed: string; next: string };

/** A word for every code; a missing code does not compile. */
export type ErrorMessages = Record<ErrorCode, ErrorWords>;

/** The same tree with any text in the leaves. */
export type Shape<T> = T extends (...parameters: infer P) => string ? (...parameters: P) => string : T extends string ? string : { [K in keyof T]: Shape<T[K]> };
