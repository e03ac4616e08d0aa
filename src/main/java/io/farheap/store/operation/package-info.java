/**
 * Operations on records in memory (FASTER, sections 4 to 6): find, append, change in place, copy to the tail; and the
 * version that a change belongs to. It stands on the log and the index; begin with
 * {@link io.farheap.store.operation.InMemoryOperations}, then {@link io.farheap.store.operation.ReadModifyWrites}.
 */
@NullMarked
package io.farheap.store.operation;

import org.jspecify.annotations.NullMarked;
