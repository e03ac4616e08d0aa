/** Coded far memory beside copies, in turns: latency, what it costs, and what faults of servers do to it. */
@NullMarked
package io.farheap.bench.resilience;

import org.jspecify.annotations.NullMarked;
