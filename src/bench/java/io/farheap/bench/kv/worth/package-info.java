/**
 * Maps in far memory that lack one part or another of Ditto's (SOSP '23), or keep an LRU list under a lock instead: for
 * measuring what each part is worth. They know gets, and insertions of what was missed; nobody is to use them for more.
 */
@NullMarked
package io.farheap.bench.kv.worth;

import org.jspecify.annotations.NullMarked;
