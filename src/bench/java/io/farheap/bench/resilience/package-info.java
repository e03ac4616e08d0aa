/**
 * Measures coded far memory beside copies and the other baselines of Hydra (FAST '22, section 7), in turns: latency,
 * cost, and the effect of servers' faults.
 */
@NullMarked
package io.farheap.bench.resilience;

import org.jspecify.annotations.NullMarked;
