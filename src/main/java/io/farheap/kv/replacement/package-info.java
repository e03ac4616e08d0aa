/**
 * How a map chooses an object to evict (Ditto, SOSP '23, sections 4.2 and 4.3): one policy, or several whose weights
 * are learned; the numbers of history entries; and the counting of accesses before they are sent. Nothing here reads a
 * clock, a server or memory that others write: a session fills in what it has read and takes the answer. Everything is
 * of one thread unless it says otherwise, and nothing allocates after construction. It stands on {@code policy}; begin
 * with {@link io.farheap.kv.replacement.Replacement}.
 */
@NullMarked
package io.farheap.kv.replacement;

import org.jspecify.annotations.NullMarked;
