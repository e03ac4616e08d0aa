/**
 * {@code bench reclaim}: how a load is affected by servers that leave, with a manager and servers as processes. Begin
 * with {@link io.farheap.bench.reclaim.BenchReclaimCommand}; the rig is {@link io.farheap.bench.reclaim.ReclaimRig}.
 */
@NullMarked
package io.farheap.bench.reclaim;

import org.jspecify.annotations.NullMarked;
