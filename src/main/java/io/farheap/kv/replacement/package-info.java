/**
 * The choice of the objects that a map evicts (Ditto, SOSP '23, sections 4.2 and 4.3): one policy, or several whose
 * weights are learned; the numbers of history entries; and the counting of accesses before they are sent. Nothing here
 * reads a clock, a server or memory that other threads write: a session passes in what it has read and uses the result.
 * Everything is used by one thread unless stated otherwise, and nothing allocates after construction. It uses
 * {@code policy}; begin with {@link io.farheap.kv.replacement.Replacement}.
 */
@NullMarked
package io.farheap.kv.replacement;

import org.jspecify.annotations.NullMarked;
