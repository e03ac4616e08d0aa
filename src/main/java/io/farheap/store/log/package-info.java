/**
 * The hybrid log (FASTER, section 5): its tail in memory, the frames of its pages, the marks between its parts, the
 * epochs that make moving a mark safe, the thread that writes pages to the device, and the read cache. It stands on the
 * index and the form of records; begin with {@link io.farheap.store.log.HybridLog}, then
 * {@link io.farheap.store.log.LogThread}.
 */
@NullMarked
package io.farheap.store.log;

import org.jspecify.annotations.NullMarked;
