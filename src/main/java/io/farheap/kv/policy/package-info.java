/**
 * Who goes when a map needs room (Ditto, SOSP '23, sections 4.2 and 4.3): policies, the experts' weights, the numbers
 * of history entries, and the counting of accesses before they are sent. Nothing here reads a clock, a server or memory
 * that others write: a session fills in what it has read and takes the answer. Everything is of one thread unless it
 * says otherwise, and nothing allocates after construction.
 */
@NullMarked
package io.farheap.kv.policy;

import org.jspecify.annotations.NullMarked;
