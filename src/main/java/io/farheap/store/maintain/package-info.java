/**
 * Work on a whole store beside its load: compaction of the log's oldest part, the thread that keeps the log below a
 * bound, scans, and the growth of the index. It stands on operations and the log; begin with
 * {@link io.farheap.store.maintain.Maintenance}.
 */
@NullMarked
package io.farheap.store.maintain;

import org.jspecify.annotations.NullMarked;
