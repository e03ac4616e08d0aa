/**
 * libibverbs as Java objects over off-heap memory: devices, protection domains, memory regions, queue pairs, completion
 * queues, work requests. Bounds, lifetimes and alignment are checked here, before native code sees them; posting and
 * polling allocate nothing. Which library is under it, the system's or softverbs, is chosen in
 * {@link io.farheap.verbs.VerbsLibrary} and known nowhere else.
 *
 * <p>Not here: connections between processes, fences, what a completion means.
 */
@NullMarked
package io.farheap.verbs;

import org.jspecify.annotations.NullMarked;
