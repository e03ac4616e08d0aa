/**
 * Work on a whole store while sessions use it: compaction of the log's oldest part, the thread that keeps the log below
 * a limit, scans, and the growth of the index. It stands on operations and the log; begin with
 * {@link io.farheap.store.maintain.Maintenance}.
 */
@NullMarked
package io.farheap.store.maintain;

import org.jspecify.annotations.NullMarked;
