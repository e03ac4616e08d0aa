/**
 * Maps a key's hash to the address of its newest record: buckets, entries, tentative inserts, division. It does not
 * know the log, and follows records through {@link io.farheap.store.index.RecordChains} and
 * {@link io.farheap.store.index.RecordCopies}. Begin with {@link io.farheap.store.index.HashIndex}.
 */
@NullMarked
package io.farheap.store.index;

import org.jspecify.annotations.NullMarked;
