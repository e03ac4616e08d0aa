/**
 * How one session reads and writes pages (Hydra, section 4.1): which splits it asks, how long it waits for them, when
 * it takes a stripe word, and how it treats a late or failed split. One thread, no garbage; it stands on the table.
 * Begin with {@link io.farheap.resilience.session.PageOps}, then {@link io.farheap.resilience.session.PageReads},
 * {@link io.farheap.resilience.session.PageWrites} and {@link io.farheap.resilience.session.SplitGatherer}.
 */
@NullMarked
package io.farheap.resilience.session;

import org.jspecify.annotations.NullMarked;
