/**
 * libibverbs as Java objects over off-heap memory: devices, protection domains, memory regions, queue pairs, completion
 * queues, work requests. Bounds, lifetimes and alignment are checked here, before native code uses them; posting and
 * polling allocate nothing. {@link io.farheap.verbs.VerbsLibrary} chooses the underlying library, the system's or
 * softverbs, and no other class knows which one it is.
 *
 * <p>Not here: connections between processes, fences, the meaning of a completion.
 */
@NullMarked
package io.farheap.verbs;

import org.jspecify.annotations.NullMarked;
