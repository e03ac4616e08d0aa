/**
 * Maps in far memory that lack some parts of Ditto's design (SOSP '23), or that keep an LRU list under a lock instead:
 * for measuring what each part is worth. They support only gets, and insertions of missing keys.
 */
@NullMarked
package io.farheap.bench.kv.worth;

import org.jspecify.annotations.NullMarked;
